/** Deeper than any reply of a service, and shallow enough for whoever walks it with a function that calls itself. */
export const deepestReply = 500;

const quote = 0x22;
const backslash = 0x5c;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The place after the text that begins before `at`. */
function afterString(json: string, at: number): number {
  let end = json.indexOf('"', at);
  while (end >= 0) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/** More values than any response of a service has: each takes up to 80 bytes, and as JSON 2 characters. */
export const mostValues = 500_000;

/** Whether a text has more than so many of the characters. */
function hasMore(text: string, characters: readonly string[], limit: number): boolean {
  let found = 0;
  for (const char of characters) {
    for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) {
      found += 1;
      if (found > limit) return true;
    }
  }
  return false;
}

/** Whether JSON text, valid or not, has more than `limit` values. */
export function isFuller(json: string, limit: number = mostValues): boolean {
  if (json.length <= limit || !hasMore(json, [',', '{', '['], limit)) return false;
  let found = 0;
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at);
    at += 1;
    if (code === quote) at = afterString(json, at);
    else if (code === 0x2c || code === 0x5b || code === 0x7b) found += 1;
    if (found > limit) return true;
  }
  return false;
}

/** Whether JSON text nests arrays and objects deeper than `limit`. */
export function isDeeper(json: string, limit: number = deepestReply): boolean {
  if (json.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at);
    at += 1;
    if (code === quote) {
      at = afterString(json, at);
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

function openers(json: string): number {
  let found = 0;
  for (const char of ['{', '[']) {
    for (let at = json.indexOf(char); at >= 0; at = json.indexOf(char, at + 1)) found += 1;
  }
  return found;
}

/** How deep a value is, and how many arrays and objects it has. Level by level: it may be as deep as its text is long. */
function measure(value: unknown): { depth: number; containers: number } {
  let [depth, containers] = [0, 0];
  for (let level = [value].filter(isContainer); level.length > 0; depth += 1) {
    containers += level.length;
    const below: object[] = [];
    for (const container of level) {
      if (Array.isArray(container)) {
        for (const member of container) if (isContainer(member)) below.push(member);
      } else {
        // A list of the members, as Object.values makes one of each, would take twice as long as all the rest.
        for (const name in container) {
          const member = (container as Record<string, unknown>)[name];
          if (isContainer(member)) below.push(member);
        }
      }
    }
    level = below;
  }
  return { depth, containers };
}

/** Whether other code has put a property into every object, which `for … in` would show in each. */
function isPolluted(): boolean {
  for (const _ in {}) return true;
  return false;
}

/**
 * What `isDeeper` says of the text, in a quarter of the time for a long list, where the value that JSON.parse made of
 * it is at hand. A bracket that opens nothing in the value stands in a string, or opens what the parser has dropped
 * (of a name that comes twice it keeps the last); even if all of those were nested in one another, below the deepest
 * place that is left, they would make it no deeper than their number.
 */
export function isDeeperParsed(value: unknown, json: string, limit: number = deepestReply): boolean {
  const opened = openers(json);
  if (opened <= limit) return false;
  if (isPolluted()) return isDeeper(json, limit);
  const { depth, containers } = measure(value);
  return depth + (opened - containers) > limit && isDeeper(json, limit);
}
