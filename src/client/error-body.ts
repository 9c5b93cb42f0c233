import type { Redact } from '../redact.ts';
import { redactJson } from '../redact-json.ts';
import { isClosing, isOpening, stringEnd } from './json-text.ts';
import { secretName } from './schema-mismatch.ts';

/** The most bytes of a response body that an error keeps. */
const mostBytes = 64 * 1024;

const mask = '"***"';

/** Returns the index after the JSON value that begins at `start`, which may be cut off. */
function valueEnd(json: string, start: number): number {
  let level = 0;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22) at = stringEnd(json, at) - 1;
    else if (isOpening(code)) level += 1;
    else if (isClosing(code)) level -= 1;
    const ends = code === 0x22 || isClosing(code) || /^(?:$|[\s,\]}])/.test(json.charAt(at + 1));
    if (level <= 0 && ends) return at + 1;
  }
  return json.length;
}

/**
 * Redacts the values of fields with secret names in JSON, which may be cut off or broken. Redactors do not know new
 * secrets.
 * @param all redact every text, whatever the name of its field
 */
function maskSecrets(json: string, all: boolean): string {
  let shown = '';
  let copied = 0;
  const replace = (from: number, to: number) => {
    shown += json.slice(copied, from) + mask;
    copied = to;
    return to;
  };
  for (let at = json.indexOf('"'); at >= 0 && at < json.length; at = json.indexOf('"', at)) {
    const end = stringEnd(json, at);
    const colon = /^\s{0,100}:\s{0,100}/.exec(json.slice(end, end + 300))?.[0].length ?? 0;
    const value = end + colon;
    if (colon === 0) at = all ? replace(at, end) : end;
    else if (secretName.test(json.slice(at, end)) && /^["{[\d-]/.test(json.charAt(value)))
      at = replace(value, valueEnd(json, value));
    else at = value;
  }
  return shown + json.slice(copied);
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** Returns whole characters, with an ellipsis if anything was left out. */
function cut(text: string, more: boolean): string {
  const bytes = Buffer.from(text);
  if (!more && bytes.length <= mostBytes) return text;
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytes - 3), { stream: true })}…`;
}

/**
 * Returns the body of a refused response as an error keeps it: redacted, 64 KiB at most.
 * @param hasNewSecret the response has an unknown secret: keep none of its texts
 */
export function errorBody(text: string, redact: Redact, hasNewSecret = false): string | undefined {
  const isJson = /^\s*[[{]/.test(text);
  // In broken JSON, a string may lack its quotes.
  if (hasNewSecret && !(isJson && isWhole(text))) return undefined;
  const head = text.slice(0, 2 * mostBytes);
  const masked = isJson ? maskSecrets(head, hasNewSecret) : head;
  const shown = isJson && isWhole(masked) ? redactJson(masked, redact) : redact(masked);
  return cut(shown, head.length < text.length);
}
