import { redactSecrets } from '../../redact.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { State } from '../state.ts';

const hidden = '********';

/** Names whose values nobody needs to see, in headers, queries and bodies. */
const secretName = /secret|token|password|passwd|authorization|cookie|credential|signature|api[-_]?key/i;

const secretParameter = /secret|token|password|key|signature/i;

/** What a URL may carry beside its place: user and password, and a key in its query. */
function withoutCredentials(text: string): string {
  return text.replace(/(\w:\/\/)[^/\s?#]*@/g, `$1${hidden}@`).replace(/[?&][^&#\s"]*/g, (part) => {
    for (const { 0: name, index } of part.matchAll(/[?&][\w.-]+=/g)) {
      if (secretParameter.test(name)) return part.slice(0, index + name.length) + hidden;
    }
    return part;
  });
}

/** Everything that lets somebody in, or signs something, as far as the mock knows it. */
export function secretsOf(state: State, tenantSecret: string | undefined): string[] {
  const tenants = new Set([...state.credentials.values()].map(({ tenant }) => tenant));
  const webhooks = [...tenants].flatMap((tenant) => [...state.account(tenant).webhooks.values()]);
  const keys = [...state.keys.values()].map(({ apiKey }) => apiKey);
  const signing = tenantSecret === undefined ? [] : [tenantSecret];
  return [...state.credentials.keys(), ...keys, ...webhooks.map(({ secret }) => secret), ...signing];
}

function masked(text: string, secrets: readonly string[]): string {
  return withoutCredentials(redactSecrets(text, secrets));
}

/** Text from outside in one harmless line, without any of the secrets. */
export function shownLine(text: string, secrets: readonly string[], limit = 200): string {
  return excerpt(masked(text, secrets), limit);
}

/** Where a webhook leads, without what makes its address worth something. */
export function shownUrl(url: string, secrets: readonly string[]): string {
  const cut = url.indexOf('?');
  return shownLine(cut < 0 ? url : `${url.slice(0, cut)}?…`, secrets);
}

/** Path and query, as they came. */
export function shownTarget({ path, query }: RecordedRequest, secrets: readonly string[]): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${secretName.test(name) ? hidden : value}`),
  );
  return shownLine(pairs.length === 0 ? path : `${path}?${pairs.join('&')}`, secrets, 300);
}

function maskValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValues);
  if (typeof value !== 'object' || value === null) return value;
  // A variable of an environment says itself whether its value is one.
  const isSecret = 'secret' in value && value.secret === true;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) =>
      (secretName.test(name) && typeof field !== 'boolean') || (isSecret && name === 'value')
        ? [name, hidden]
        : [name, maskValues(field)],
    ),
  );
}

const longestBody = 4000;

/** A body, if it is JSON: of anything else it cannot be told where a secret begins and ends. */
function shownBody(body: string, secrets: readonly string[]): string {
  if (body === '') return '';
  try {
    const text = JSON.stringify(maskValues(JSON.parse(body)), null, 2);
    // Cut last: half of a secret would not be known for one.
    return masked(text, secrets).slice(0, longestBody);
  } catch {
    return `(${Buffer.byteLength(body)} bytes that are no JSON)`;
  }
}

/** A request as text, a line for each header, and the body. */
export function shownRequest(request: RecordedRequest, secrets: readonly string[]): string {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `${name}: ${secretName.test(name) ? hidden : masked(value, secrets)}`,
  );
  const body = shownBody(request.body, secrets);
  const lines = [
    `${request.method} ${shownTarget(request, secrets)}`,
    ...headers,
    ...(body === '' ? [] : ['', ...body.split('\n')]),
  ];
  return lines.map(sanitize).join('\n');
}
