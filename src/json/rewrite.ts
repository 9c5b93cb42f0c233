import type { Redact } from '../redact.ts';
import { closes, isSpace, isString, isTooLarge, opens, tokensOf } from './tokens.ts';

/** Redacts a string or number; a number that contains a secret becomes a string. */
export function redactToken(token: string, redact: Redact): string {
  if (!/^["\d-]/.test(token)) return token;
  const text: string = isString(token) ? JSON.parse(token) : token;
  const redacted = redact(text);
  return redacted === text ? token : JSON.stringify(redacted);
}

/**
 * Redacts each string and number of JSON text separately, so that the result is valid JSON. Everything else is unchanged.
 * @param json one or several texts that JSON.parse accepts
 */
export function redactJson(json: string, redact: Redact): string {
  // A string without its escapes may have a secret in another encoding: `\u0026amp;`.
  if (!json.includes('\\') && redact(json) === json) return json;
  return tokensOf(json)
    .map((token) => redactToken(token, redact))
    .join('');
}

/** Returns the index of the token after this one and after whitespace. */
export const nextIndex = (tokens: readonly string[], index: number) =>
  index + (isSpace(tokens[index + 1] ?? '') ? 2 : 1);

/** Renames a key in JSON text, except in objects that already have the new name, so that no field is lost. */
export function renameKey(json: string, from: string, to: string): string {
  if (isTooLarge(json)) return json;
  const [old, free] = [JSON.stringify(from), JSON.stringify(to)];
  const tokens = tokensOf(json);
  const open: { keys: number[]; hasNewName: boolean }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (opens(token)) open.push({ keys: [], hasNewName: false });
    else if (closes(token)) {
      const object = open.pop();
      if (object?.hasNewName === false) for (const key of object.keys) tokens[key] = free;
    } else if ((token === old || token === free) && tokens[nextIndex(tokens, index)] === ':') {
      const object = open.at(-1);
      if (token === old) object?.keys.push(index);
      else if (object !== undefined) object.hasNewName = true;
    }
  }
  return tokens.join('');
}
