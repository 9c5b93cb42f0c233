import { elementsOf, membersOf } from './json-text.ts';
import { secretName } from './schema-mismatch.ts';

/** A field that, if true, marks the `value` next to it as a secret. */
const secretMark = /secret|sensitive|masked|encrypted|protected|hidden/i;

const isTrue = (json: string) => json === 'true' || json === '"true"';

/** Returns whether an object describes a secret: `{"name": "DB_PASSWORD", "value": …}` or `{"value": …, "secret": true}`. */
function holdsSecret(members: readonly (readonly [name: string, text: string])[]): boolean {
  return members.some(
    ([name, text]) =>
      (secretMark.test(name) && isTrue(text)) || (/^(?:name|key)$/.test(name) && secretName.test(text)),
  );
}

/**
 * Returns the secrets in a request body, as texts: the service may repeat them in an error.
 * @param json JSON that JSON.parse has accepted
 * @param secretFields names of additional fields with secrets
 */
export function secretsIn(json: string, secretFields: readonly string[] = []): string[] {
  const secrets: string[] = [];
  // A list instead of recursion, because a body may nest to any depth.
  const left: [text: string, isSecret: boolean][] = [[json.trim(), false]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [text, isSecret] = next;
    if (text.startsWith('{')) {
      const members = membersOf(text);
      const valueIsSecret = holdsSecret(members);
      for (const [name, value] of members) {
        const named = secretName.test(name) || secretFields.includes(name);
        left.push([value, isSecret || named || (valueIsSecret && name === 'value')]);
      }
    } else if (text.startsWith('[')) {
      for (const element of elementsOf(text)) left.push([element, isSecret]);
    } else if (isSecret && !/^"?(?:true|false|null)"?$/.test(text)) {
      secrets.push(text.startsWith('"') ? (JSON.parse(text) as string) : text);
    }
  }
  return secrets;
}
