import { type JsonNode, parseJson } from '../../json/parse.ts';
import { objectText } from '../../json/text.ts';
import { isTooLarge, layOut, tokensOf } from '../../json/tokens.ts';
import { redactSecrets } from '../../redact.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { State } from '../state.ts';

const replacement = '********';

/** Names of headers, query parameters and fields whose values are secrets. */
const secretName = /secret|token|password|passwd|authorization|cookie|credential|signature|api[-_]?key/i;

const secretParameter = /secret|token|password|key|signature/i;

/** Redacts the credentials in URLs: user and password, and secrets in the query. */
function withoutCredentials(text: string): string {
  return text.replace(/(\w:\/\/)[^/\s?#]*@/g, `$1${replacement}@`).replace(/[?&][^&#\s"]*/g, (part) => {
    for (const { 0: name, index } of part.matchAll(/[?&][\w.-]+=/g)) {
      if (secretParameter.test(name)) return part.slice(0, index + name.length) + replacement;
    }
    return part;
  });
}

export function knownSecrets(state: State, tenantSecret: string | undefined): string[] {
  const webhooks = [...state.account.webhooks.values()];
  const keys = [...state.keys.values()].map(({ apiKey }) => apiKey);
  const signing = tenantSecret === undefined ? [] : [tenantSecret];
  return [...state.credentials.keys(), ...keys, ...webhooks.map(({ secret }) => secret), ...signing];
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return withoutCredentials(redactSecrets(text, secrets));
}

/** Returns untrusted text as one harmless line with the secrets redacted. */
export function redactedLine(text: string, secrets: readonly string[], limit = 200): string {
  return excerpt(withoutSecrets(text, secrets), limit);
}

/** Returns a webhook's URL without its query, which may authenticate the sender. */
export function redactedUrl(url: string, secrets: readonly string[]): string {
  const cut = url.indexOf('?');
  return redactedLine(cut < 0 ? url : `${url.slice(0, cut)}?…`, secrets);
}

export function redactedTarget({ path, query }: RecordedRequest, secrets: readonly string[]): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${secretName.test(name) ? replacement : value}`),
  );
  return redactedLine(pairs.length === 0 ? path : `${path}?${pairs.join('&')}`, secrets, 300);
}

/** Returns a value as JSON text without its secrets; numbers keep their digits. */
function redactedValue(node: JsonNode): string {
  if (node.kind === 'scalar') return /^[-\d]/.test(node.text) ? node.text : JSON.stringify(node.value);
  if (node.kind === 'array') return `[${node.elements.map(redactedValue).join(',')}]`;
  // A variable of an environment states whether its value is a secret.
  const isSecret = node.at(['secret'])?.value === true;
  const members = node.members.map(({ name, value }) => {
    const shown = redactedValue(value);
    const isHidden =
      (secretName.test(name) && !/^(?:true|false)$/.test(shown)) || (isSecret && name === 'value');
    return [name, isHidden ? JSON.stringify(replacement) : shown] as const;
  });
  return objectText(members);
}

const layout = { comma: ',', colon: ': ', indent: '  ' };

const maxBodyLength = 4000;

/** Returns a redacted JSON body; in any other body, it is unknown where a secret begins and ends. */
function redactedBody(body: string, secrets: readonly string[]): string {
  if (body === '') return '';
  try {
    if (isTooLarge(body)) throw new RangeError('too large for recursion');
    const text = layOut(tokensOf(redactedValue(parseJson(body))), layout);
    // Cut last: half of a secret would not be recognised.
    return withoutSecrets(text, secrets).slice(0, maxBodyLength);
  } catch {
    return `(${Buffer.byteLength(body)} bytes that are not JSON)`;
  }
}

/** Returns a request as text: a line for each header, and the body. */
export function redactedRequest(request: RecordedRequest, secrets: readonly string[]): string {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `${name}: ${secretName.test(name) ? replacement : withoutSecrets(value, secrets)}`,
  );
  const body = redactedBody(request.body, secrets);
  const lines = [
    `${request.method} ${redactedTarget(request, secrets)}`,
    ...headers,
    ...(body === '' ? [] : ['', ...body.split('\n')]),
  ];
  return lines.map(sanitize).join('\n');
}
