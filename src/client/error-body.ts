import { secretName } from '../contract/issues.ts';
import { redactResponse } from '../errors.ts';
import { nextIndex } from '../json/rewrite.ts';
import { parsedJson } from '../json/text.ts';
import { closes, isSpace, isString, opens, tokensOf } from '../json/tokens.ts';
import type { Redact } from '../redact.ts';

/** The most bytes of a response body that an error keeps. */
const mostBytes = 64 * 1024;

const mask = '"***"';

/** Returns the index after the JSON value that begins with a token; the value may be cut off. */
function valueEnd(tokens: readonly string[], start: number): number {
  let level = 0;
  for (let index = start; index < tokens.length; index += 1) {
    const token = tokens[index] ?? '';
    if (opens(token)) level += 1;
    else if (closes(token)) level -= 1;
    if (level <= 0 && !isSpace(token)) return index + 1;
  }
  return tokens.length;
}

/**
 * Hides the values of fields with secret names in JSON, which may be cut off or broken: rungate cannot know new secrets.
 * @param all hide every text, whatever the name of its field
 */
function maskSecrets(json: string, all: boolean): string {
  const tokens = tokensOf(json);
  const shown: string[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] ?? '';
    const colon = nextIndex(tokens, index);
    if (!isString(token) || tokens[colon] !== ':') {
      shown.push(all && isString(token) ? mask : token);
      continue;
    }
    const value = nextIndex(tokens, colon);
    shown.push(...tokens.slice(index, value));
    index = value - 1;
    if (!secretName.test(token) || !/^["{[\d-]/.test(tokens[value] ?? '')) continue;
    shown.push(mask);
    index = valueEnd(tokens, value) - 1;
  }
  return shown.join('');
}

/** Returns whole characters, with an ellipsis if anything was left out. */
function cut(text: string, more: boolean): string {
  const bytes = Buffer.from(text);
  if (!more && bytes.length <= mostBytes) return text;
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytes - 3), { stream: true })}…`;
}

/**
 * Returns the body of a refused response as an error keeps it: redacted, then cut to 64 KiB; without new secrets.
 * @param hasNewSecret the response has an unknown secret: keep none of its texts
 */
export function errorBody(text: string, redact: Redact, hasNewSecret = false): string | undefined {
  const isJson = /^\s*[[{]/.test(text);
  // In broken JSON, a string may lack its quotes.
  if (hasNewSecret && !(isJson && parsedJson(text) !== undefined)) return undefined;
  const redacted = redactResponse(text, redact);
  const head = redacted.slice(0, 2 * mostBytes);
  const masked = isJson ? maskSecrets(head, hasNewSecret) : head;
  return cut(masked, head.length < redacted.length);
}
