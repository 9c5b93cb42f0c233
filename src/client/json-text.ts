const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const space = 0x20;
export const isOpening = (code: number) => code === 0x5b || code === 0x7b;
export const isClosing = (code: number) => code === 0x5d || code === 0x7d;

/** Returns the index after the string that begins at `start`. */
export function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    // An even number of backslashes escape one another, not the quote.
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

/**
 * The limits of a response. Depth: more than any service sends, and shallow enough for recursion. Values: each takes up to
 * 80 bytes of memory, but may take only 2 characters of JSON.
 */
export const jsonLimits = { depth: 500, values: 500_000 } as const;

/** Returns the nesting depth of JSON text, and its number of values, which is within a factor of 2. */
export function jsonSize(json: string): { depth: number; values: number } {
  let [level, depth, values] = [0, 0, 0];
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(json, at) - 1;
    } else if (code === comma) {
      values += 1;
    } else if (isOpening(code)) {
      values += 1;
      level += 1;
      if (level > depth) depth = level;
    } else if (isClosing(code)) {
      level -= 1;
    }
  }
  return { depth, values };
}

/**
 * Splits an array or object into the texts of its elements or members, each in one line. No digit passes through a float,
 * and only whitespace between tokens is removed.
 * @param json JSON that JSON.parse has accepted
 */
function partsOf(json: string): string[] {
  const parts: string[] = [];
  let level = 0;
  let part = '';
  let copied = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(json, at) - 1;
      continue;
    }
    if (isOpening(code)) level += 1;
    else if (isClosing(code)) level -= 1;
    const begins = level === 1 && isOpening(code);
    const ends = (level === 1 && code === comma) || (level === 0 && isClosing(code));
    if (!begins && !ends && code > space) continue;
    part += json.slice(copied, at);
    copied = at + 1;
    if (ends && part !== '') parts.push(part);
    if (begins || ends) part = '';
  }
  return parts;
}

/** Returns an object's members in order, each with its original text in one line; none for any other value. */
export function membersOf(json: string): [name: string, text: string][] {
  if (!json.trimStart().startsWith('{')) return [];
  return partsOf(json).map((part) => {
    const end = stringEnd(part, 0);
    return [JSON.parse(part.slice(0, end)) as string, part.slice(end + 1)];
  });
}

/** Returns an array's elements in order, each as its original text in one line; none for any other value. */
export const elementsOf = (json: string): string[] => (json.trimStart().startsWith('[') ? partsOf(json) : []);

/** Returns a name that occurs more than once, or undefined. */
export function repeatedName(
  members: readonly (readonly [name: string, text: string])[],
): string | undefined {
  const names = new Set<string>();
  return members.find(([name]) => names.size === names.add(name).size)?.[0];
}

/** Returns the text of an object with these members. */
export function objectText(members: Iterable<readonly [name: string, text: string]>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** Returns the text at a path within JSON, in one line; undefined if nothing is at that path. */
export function textAt(json: string, path: readonly string[]): string | undefined {
  let here: string | undefined = json.trim();
  for (const key of path) {
    if (here === undefined) return undefined;
    // JSON.parse keeps the last of repeated names.
    const found: string | undefined = here.startsWith('[')
      ? partsOf(here)[/^(?:0|[1-9]\d{0,9})$/.test(key) ? Number(key) : -1]
      : membersOf(here).findLast(([name]) => name === key)?.[1];
    here = found;
  }
  return here;
}

/**
 * Returns the items of a list response, each as its original text in one line.
 * @param text JSON that JSON.parse has accepted
 * @param list the result of `readPage`: the items, and the name of their field
 */
export function itemTexts(text: string, list: { items: readonly unknown[]; field?: string }): string[] {
  const { items, field } = list;
  if (items.length === 0) return [];
  // JSON.parse keeps the last of repeated names.
  const texts = partsOf(
    field === undefined ? text : (membersOf(text).findLast(([name]) => name === field)?.[1] ?? ''),
  );
  if (texts.length === items.length) return texts;
  throw new Error(`read ${items.length} items, but found ${texts.length} in the text`);
}

/**
 * Returns an id as text: a string, or a whole number with all its digits, which JSON.parse would round; null for anything
 * else.
 * @param json the value as JSON text; undefined without one
 */
export function idText(json: string | undefined): string | null {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value !== 'number') return null;
  if (Number.isSafeInteger(value)) return String(value);
  return /^-?\d+$/.exec(json ?? '')?.[0] ?? null;
}
