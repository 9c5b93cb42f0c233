import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  type AjvCustomizer,
  type Context,
  type Document,
  OpenAPIBackend,
  SetMatchType,
} from 'openapi-backend';
import { parseQuery } from '../../src/mock/exchange.ts';
import { createOpenApi } from '../generated/openapi.ts';

// openapi-backend routes requests, parses parameters, supports alternatives of `security`, and checks requests, responses
// and headers without a web framework, in 42 packages. express-openapi-validator does the same but needs Express
// (105 packages), prism is a complete server (185), and openapi-request-validator and openapi-response-validator do not check
// routes and credentials. Version 5.21 needs a library that does not support Node 20.
// This file corrects three things. It replaces JSON Schema draft 7 by draft 2020-12, which OpenAPI 3.1 uses. It creates
// a backend for each media type of a request body, since openapi-backend supports only the first. And it reports bodies of
// an undeclared media type.

/** A request or a response. */
interface Message {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

interface HttpResponse extends Message {
  status: number;
}

export interface Validator {
  /** The URL to use instead of the target's. */
  url: string;
  /** The violations of the document, in order. The validator forwards the messages unchanged. */
  violations: string[];
  /** The number of calls of each operation. */
  seen: Map<string, number>;
  /** The texts of the responses, in order. */
  responses: string[];
  close(): Promise<void>;
}

const json = 'application/json';
const form = 'multipart/form-data';

type Media = Record<string, unknown>;
type Operation = NonNullable<Context['operation']>;

interface Exchange {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  request: Message;
  response: HttpResponse;
  operation: Operation | undefined;
}

const mediaType = (message: Message) =>
  (message.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function ajvs(): AjvCustomizer {
  const made = new Map<boolean, Ajv2020>();
  return (_draft7, options) => {
    const coerces = options?.coerceTypes === true;
    const ajv = made.get(coerces) ?? new Ajv2020({ strict: false, coerceTypes: coerces, allErrors: true });
    if (!made.has(coerces)) addFormats.default(ajv);
    made.set(coerces, ajv);
    return ajv as unknown as ReturnType<AjvCustomizer>;
  };
}

/** Returns the document with only one media type of each request body. */
function narrowed(document: Record<string, unknown>, type: string): Document {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === 'requestBody' && value.content[type] !== undefined
      ? { ...value, content: { [type]: value.content[type] } }
      : value,
  ) as Document;
}

const hasHeader = (name: string, pattern: RegExp) => (context: Context) =>
  pattern.test(String(context.request.headers[name] ?? ''));

async function createBackend(document: Record<string, unknown>, type: string): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    definition: narrowed(document, type),
    quick: true,
    strict: true,
    ignoreTrailingSlashes: false,
    customizeAjv: ajvs(),
    handlers: {
      notFound: () => ['the document has no such path'],
      methodNotAllowed: () => ['the document has no such method for this path'],
      unauthorizedHandler: (context) => [`no credential of ${JSON.stringify(context.operation.security)}`],
      validationFail: (context) => context.validation.errors?.map(problem),
      notImplemented: () => [],
    },
    securityHandlers: {
      apiKey: hasHeader('x-api-key', /^\S+$/),
      bearer: hasHeader('authorization', /^Bearer \S+$/),
      session: hasHeader('authorization', /^Bearer \S+$/),
    },
  });
  return backend.init();
}

function problem(error: { instancePath: string; message?: string; params?: unknown }): string {
  return `${error.instancePath} ${error.message ?? 'is wrong'} ${JSON.stringify(error.params ?? {})}`.trim();
}

async function parseBody(message: Message): Promise<unknown> {
  if (message.bytes.length === 0) return undefined;
  const type = message.headers['content-type'] ?? '';
  if (mediaType(message) !== form) return JSON.parse(message.bytes.toString());
  const parts = await new Response(message.bytes, { headers: { 'content-type': type } }).formData();
  const texts = [...parts].map(async ([name, part]) => [
    name,
    typeof part === 'string' ? part : await part.text(),
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Reports a body of an undeclared media type, which openapi-backend ignores. */
function undeclaredBody(message: Message, content: Media | undefined): string[] {
  const type = mediaType(message);
  if (message.bytes.length === 0 || content?.[type] !== undefined) return [];
  return [`a body of the undeclared type "${type}"`];
}

async function checkRequest(backend: OpenAPIBackend, exchange: Exchange): Promise<string[]> {
  const { method, path, query, request, operation } = exchange;
  const declared = operation?.requestBody as { content: Media } | undefined;
  const headers = request.headers as Record<string, string>;
  const body = (await parseBody(request)) as string;
  const found: string[] = await backend.handleRequest({ method, path, query, headers, body });
  return [...(operation === undefined ? [] : undeclaredBody(request, declared?.content)), ...found];
}

async function checkResponse(backend: OpenAPIBackend, { response, operation }: Exchange): Promise<string[]> {
  if (operation === undefined) return [];
  const responses = operation.responses as Record<string, { content?: Media }>;
  const declared = responses[response.status] ?? responses.default;
  const headers = response.headers as Record<string, string>;
  const rule = { statusCode: response.status, setMatchType: SetMatchType.Any };
  const body = await parseBody(response);
  const results = [
    backend.validator.validateResponse(
      response.status === 204 ? (body ?? null) : body,
      operation,
      response.status,
    ),
    backend.validator.validateResponseHeaders(headers, operation, rule),
  ];
  const found = results.flatMap((result) => result.errors ?? []).map(problem);
  return [...undeclaredBody(response, declared?.content), ...found];
}

const messageOf = (error: unknown) => [error instanceof Error ? error.message : String(error)];

type Check = (method: string, url: string, request: Message, response: HttpResponse) => Promise<Checked>;

interface Checked {
  operationId: string | undefined;
  problems: string[];
}

async function createCheck(): Promise<Check> {
  const document = createOpenApi();
  const backends = { json: await createBackend(document, json), form: await createBackend(document, form) };

  return async (method, url, request, response) => {
    const backend = mediaType(request) === form ? backends.form : backends.json;
    const [path = '', search = ''] = url.split('?');
    const operation = backend.router.matchOperation({ method, path, headers: {} });
    const exchange = { method, path, query: { ...parseQuery(search) }, request, response, operation };
    const inRequest = await checkRequest(backend, exchange).catch(messageOf);
    const inResponse = await checkResponse(backend, exchange).catch(messageOf);
    const problems = [
      ...inRequest.map((found) => `${method} ${url}: request: ${found}`),
      ...inResponse.map((found) => `${method} ${url}: response ${response.status}: ${found}`),
    ];
    return { operationId: operation?.operationId, problems };
  };
}

let checking: Promise<Check> | undefined;

/** Forwards a request unchanged and reads the complete response. */
function forward(
  target: string,
  incoming: IncomingMessage,
  bytes: Buffer,
): Promise<HttpResponse & { raw: string[] }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers: incoming.headers, agent: false },
      (received) => {
        buffer(received).then((body) => {
          const { statusCode: status = 0, headers, rawHeaders: raw } = received;
          resolve({ status, headers, raw, bytes: body });
        }, reject);
      },
    );
    outgoing.on('error', reject).end(bytes);
  });
}

/** Listens in front of a server and checks every request and response against the OpenAPI document. */
export async function startValidator(target: string): Promise<Validator> {
  checking ??= createCheck();
  const check = await checking;
  const violations: string[] = [];
  const seen = new Map<string, number>();
  const responses: string[] = [];

  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    try {
      const bytes = await buffer(incoming);
      const { raw, ...response } = await forward(target, incoming, bytes);
      const { operationId, problems } = await check(method, url, { headers, bytes }, response);
      violations.push(...problems);
      responses.push(response.bytes.toString());
      if (operationId !== undefined) seen.set(operationId, (seen.get(operationId) ?? 0) + 1);
      outgoing.writeHead(response.status, raw).end(response.bytes);
    } catch (error) {
      violations.push(`${method} ${url}: not forwarded: ${messageOf(error)}`);
      outgoing.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    violations,
    seen,
    responses,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
