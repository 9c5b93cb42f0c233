const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;

/** Returns the index after the string that begins at `start`; the end of the text if the string has no end. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    // An even number of backslashes escape one another, not the quote.
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

const punctuation = new Set([...'{}[],:"'].map((char) => char.charCodeAt(0)));

function tokenEnd(json: string, start: number): number {
  const code = json.charCodeAt(start);
  if (code === quote) return stringEnd(json, start);
  if (punctuation.has(code)) return start + 1;
  const isSpace = code <= space;
  let end = start + 1;
  for (; end < json.length; end += 1) {
    const next = json.charCodeAt(end);
    if (next <= space !== isSpace || punctuation.has(next)) break;
  }
  return end;
}

/**
 * Splits a text into the tokens of JSON and the whitespace between them; joined, they are the text. It need not be JSON: it
 * may be cut off, broken, or several texts.
 */
export function tokensOf(json: string): string[] {
  const tokens: string[] = [];
  for (let start = 0; start < json.length; ) {
    const end = tokenEnd(json, start);
    tokens.push(json.slice(start, end));
    start = end;
  }
  return tokens;
}

export const isSpace = (token: string) => token.charCodeAt(0) <= space;
export const isString = (token: string) => token.charCodeAt(0) === quote;
export const opens = (token: string | undefined) => token === '{' || token === '[';
export const closes = (token: string | undefined) => token === '}' || token === ']';

/** Returns JSON in one line: without the whitespace between tokens, and otherwise unchanged. */
export function compact(json: string): string {
  if (!/[ \t\r\n]/.test(json)) return json;
  let [shown, copied] = ['', 0];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) index = stringEnd(json, index) - 1;
    if (code > space) continue;
    shown += json.slice(copied, index);
    copied = index + 1;
  }
  return shown + json.slice(copied);
}

/** How JSON is laid out; without an indent, in one line. */
export interface Layout {
  readonly comma: string;
  readonly colon: string;
  readonly indent: string;
}

/** Returns JSON in a layout. Only the whitespace changes. */
export function layOut(tokens: readonly string[], { comma, colon, indent }: Layout): string {
  const shown = tokens.filter((token) => !isSpace(token));
  let depth = 0;
  const line = () => (indent === '' ? '' : `\n${indent.repeat(depth)}`);
  const written = shown.map((token, index) => {
    if (token === ',') return comma + line();
    if (token === ':') return colon;
    if (opens(token)) {
      depth += 1;
      return closes(shown[index + 1]) ? token : token + line();
    }
    if (!closes(token)) return token;
    depth -= 1;
    return opens(shown[index - 1]) ? token : line() + token;
  });
  return written.join('');
}

/**
 * The limits of a response. Depth: more than any service sends, and shallow enough for recursion. Values: each takes up to
 * 200 bytes of memory, but may take only 2 characters of JSON.
 */
export const jsonLimits = { depth: 500, values: 500_000 } as const;

/** Returns the nesting depth of JSON text, and its number of values, which is within a factor of 2. */
export function jsonSize(json: string): { depth: number; values: number } {
  let [level, depth, values] = [0, 0, 0];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = stringEnd(json, index) - 1;
    } else if (code === 0x2c) {
      values += 1;
    } else if (code === 0x5b || code === 0x7b) {
      values += 1;
      level += 1;
      if (level > depth) depth = level;
    } else if (code === 0x5d || code === 0x7d) {
      level -= 1;
    }
  }
  return { depth, values };
}

export function isTooLarge(json: string): boolean {
  const { depth, values } = jsonSize(json);
  return depth > jsonLimits.depth || values > jsonLimits.values;
}
