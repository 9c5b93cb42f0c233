import type { Endpoint } from '../contract/endpoint.ts';
import { secretName } from '../contract/issues.ts';
import { type JsonMember, type JsonNode, parseJson } from '../json/parse.ts';
import { unquoted } from '../json/text.ts';
import type { RequestInput } from './request.ts';

/** A field that, if true, marks the `value` next to it as a secret. */
const secretMark = /secret|sensitive|masked|encrypted|protected|hidden/i;

const isTrue = (json: string) => json === 'true' || json === '"true"';

/** Returns whether an object describes a secret: `{"name": "DB_PASSWORD", "value": …}` or `{"value": …, "secret": true}`. */
function holdsSecret(members: readonly JsonMember[]): boolean {
  return members.some(
    ({ name, value }) =>
      (secretMark.test(name) && isTrue(value.text)) ||
      (/^(?:name|key)$/.test(name) && secretName.test(value.text)),
  );
}

/** Returns the secrets in the body of a call; none for a file, or for a value that has no JSON form. */
export function bodySecrets(
  { secretFields }: Pick<Endpoint, 'secretFields'>,
  { body, json }: Pick<RequestInput, 'body' | 'json'>,
): string[] {
  if (json === undefined && (typeof body !== 'object' || body === null || body instanceof Uint8Array))
    return [];
  try {
    return secretsIn(json ?? JSON.stringify(body), secretFields);
  } catch {
    return [];
  }
}

/**
 * Returns the secrets in a request body, as texts: the service may repeat them in an error.
 * @param json JSON that JSON.parse has accepted
 * @param secretFields names of additional fields with secrets
 */
export function secretsIn(json: string, secretFields: readonly string[] = []): string[] {
  const secrets: string[] = [];
  // A list instead of recursion, because a body may nest to any depth.
  const left: [node: JsonNode, isSecret: boolean][] = [[parseJson(json), false]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [node, isSecret] = next;
    const valueIsSecret = holdsSecret(node.members);
    for (const { name, value } of node.members) {
      const named = secretName.test(name) || secretFields.includes(name);
      left.push([value, isSecret || named || (valueIsSecret && name === 'value')]);
    }
    for (const element of node.elements) left.push([element, isSecret]);
    if (isSecret && node.kind === 'scalar' && !/^"?(?:true|false|null)"?$/.test(node.text))
      secrets.push(unquoted(node.text));
  }
  return secrets;
}
