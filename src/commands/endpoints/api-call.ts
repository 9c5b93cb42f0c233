import { type Endpoint, type Method, pathPattern } from '../../contract/endpoint.ts';
import { anyResponse, openBody } from '../../contract/fields.ts';
import { api as endpoints } from '../../contract/index.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { wantsJson } from '../../output/json.ts';
import { parseUrl } from '../../parse-url.ts';
import { sanitizeLines } from '../../sanitize.ts';
import { filled, oneOf } from '../options.ts';
import { command } from '../spec.ts';
import { openOptions, requestBody } from './body-input.ts';
import { warnOfHtml } from './response-table.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Parses a path with its query. Accepts only a plain path of the service. */
function servicePath(given: string): { path: `/api/${string}`; query: Record<string, string[]> } {
  const hint = 'write the path below the base URL, such as /api/environments?page=2';
  const text = given.startsWith('api/') ? `/${given}` : given;
  const [path = ''] = text.split('?');
  const url = parseUrl(text, 'http://service.invalid');
  // Refuse what the URL parser rewrites: dot segments, another host, a fragment.
  const isPlain = text.startsWith('/') && url?.pathname === path && url.hash === '';
  if (!isPlain || /[{}]/.test(path))
    throw new UsageError(`"${given}" is not a path of the service`, { hint });
  const query: Record<string, string[]> = {};
  for (const [name, value] of url.searchParams) query[name] = [...(query[name] ?? []), value];
  return { path: path as `/api/${string}`, query };
}

/** Returns the credential and the secrets of a known path; for an unknown path, either credential. */
function knownOf(path: string, method: string): Pick<Endpoint, 'auth' | 'secretFields' | 'newSecret'> {
  const known: Endpoint[] = Object.values(endpoints).filter((endpoint) =>
    pathPattern(endpoint.path).test(path),
  );
  const { secretFields, newSecret } = known.find((endpoint) => endpoint.method === method) ?? {};
  return {
    auth: known[0]?.auth ?? 'either',
    ...(secretFields && { secretFields }),
    ...(newSecret && { newSecret }),
  };
}

export const api = command({
  name: 'api',
  summary: 'send a request to any path of the service',
  heading: 'Service:',
  args: {
    '<method>': { help: 'GET, POST, PUT, PATCH or DELETE', completes: methods },
    '<path>': 'the path below the base URL, with its query: /api/environments?page=2',
  },
  options: {
    ...openOptions,
    '--idempotency-key <key>': 'key that makes a POST repeatable, if the endpoint accepts one',
  },
  examples: ['rungate api GET "/api/environments?page=2"'],
  async run(context, args, flags) {
    const method = oneOf('<method>', methods, args.method.toUpperCase());
    const { path, query } = servicePath(args.path);
    const key = filled('--idempotency-key', flags.idempotencyKey);
    const json = await requestBody(context.io, { ...flags });
    if (method === 'GET' && json !== undefined)
      throw new UsageError('a GET request has no body', {
        hint: 'put parameters into the path: ?name=value',
      });
    const endpoint: Endpoint = {
      method: method as Method,
      path,
      ...knownOf(path, method),
      summary: 'any request',
      query: openBody,
      ...(json === undefined ? {} : { body: openBody }),
      ...(key === undefined ? {} : { keyed: true }),
      response: anyResponse,
    };
    const caller = await context.connect();
    const options = key === undefined ? {} : { idempotencyKey: key };
    const response = await caller.exchange('api', endpoint, { params: {}, query, json }, options);
    // JSON stays JSON, because its shape is unknown.
    const { format } = context.output;
    await warnOfHtml(context, response);
    const lines = !response.isJson && (format === 'table' || format === 'plain');
    if (lines) await context.output.result(sanitizeLines(String(response.value)));
    else if (response.text !== '' || wantsJson(context.output))
      await context.output.json(response.text || 'null');
    return exitCodes.ok;
  },
});
