const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/** Walks over JSON that JSON.parse has accepted, and takes values out of it as the text that they are. */
class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  /** The code of the next character that is no space; NaN at the end. */
  #peek(): number {
    let code = this.text.charCodeAt(this.#at);
    while (code <= space) {
      this.#at += 1;
      code = this.text.charCodeAt(this.#at);
    }
    return code;
  }

  /** The place after the string that begins there. */
  #stringEnd(start: number): number {
    const { text } = this;
    let end = start;
    let before: number;
    do {
      end = text.indexOf('"', end + 1);
      before = end - 1;
      while (text.charCodeAt(before) === backslash) before -= 1;
      // An even number of backslashes escape one another, not the quote.
    } while ((end - before) % 2 === 0);
    return end + 1;
  }

  /** Takes the value that begins here, in one line; nothing else about its text is changed. */
  #value(): string {
    const { text } = this;
    const start = this.#at;
    let at = start;
    let depth = 0;
    let value = '';
    let copied = start;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        at = this.#stringEnd(at);
        continue;
      }
      if (code === openBrace || code === openBracket) {
        depth += 1;
      } else if (code === closeBrace || code === closeBracket) {
        if (depth === 0) break;
        depth -= 1;
      } else if (code === comma) {
        if (depth === 0) break;
      } else if (code <= space) {
        value += text.slice(copied, at);
        copied = at + 1;
      }
      at += 1;
    }
    this.#at = at;
    return value + text.slice(copied, at);
  }

  /** Goes on to the next part of what was begun; false, and past it, at its end. */
  #next(close: number): boolean {
    const code = this.#peek();
    if (code === close) {
      this.#at += 1;
      return false;
    }
    if (code === comma) {
      this.#at += 1;
      this.#peek();
    }
    return true;
  }

  /** True, and past its bracket, where such a value begins here. */
  #begins(open: number): boolean {
    if (this.#peek() !== open) return false;
    this.#at += 1;
    return true;
  }

  /** The elements of the array that begins here; undefined where none does. */
  elements(): string[] | undefined {
    if (!this.#begins(openBracket)) return undefined;
    const found: string[] = [];
    while (this.#next(closeBracket)) found.push(this.#value());
    return found;
  }

  /** Calls back with the key of each member of the object that begins here, before its value. */
  members(member: (key: string, value: () => string) => void): void {
    if (!this.#begins(openBrace)) return;
    const value = () => this.#value();
    while (this.#next(closeBrace)) {
      const start = this.#at;
      this.#at = this.#stringEnd(start);
      const key = JSON.parse(this.text.slice(start, this.#at)) as string;
      this.#peek();
      this.#at += 1;
      this.#peek();
      member(key, value);
    }
  }
}

function scanned(text: string): string[] {
  const scanner = new Scanner(text);
  let items = scanner.elements();
  scanner.members((key, value) => {
    // Of a name that comes twice JSON.parse keeps the last.
    if (key === 'items') items = scanner.elements() ?? [value()];
    else value();
  });
  return items ?? [];
}

function count(text: string, char: string): number {
  let found = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) found += 1;
  return found;
}

function isObject(item: unknown): boolean {
  return typeof item === 'object' && item !== null && !Array.isArray(item);
}

/**
 * The items where each is an object, and there are no more braces than they and the page around them need: then none
 * stands within a text or an item, and each item ends at its first. Undefined where it is not so simple, or an item
 * would not be in one line without spaces. Most lists are so simple, and this takes a quarter of the time.
 */
function simple(text: string, items: readonly unknown[]): string[] | undefined {
  if (['\n', '\r', '\t'].some((char) => text.includes(char)) || !items.every(isObject)) return undefined;
  const around = text.trimStart().startsWith('{') ? 1 : 0;
  const braces = items.length + around;
  if (count(text, '{') !== braces || count(text, '}') !== braces) return undefined;
  const found: string[] = [];
  let at = around === 0 ? 0 : text.indexOf('{') + 1;
  while (found.length < items.length) {
    const start = text.indexOf('{', at);
    at = text.indexOf('}', start) + 1;
    found.push(text.slice(start, at));
  }
  // One serialiser wrote them all: the first tells whether it leaves spaces.
  return scanned(`[${found[0] ?? ''}]`)[0] === found[0] ? found : undefined;
}

/**
 * The items of a list's reply, each as the text that it came as, in one line: no digit passes through a float.
 * @param text JSON that JSON.parse has accepted, in a shape that `readPage` reads
 * @param items what came of it
 */
export function itemTexts(text: string, items: readonly unknown[]): string[] {
  const texts = simple(text, items) ?? scanned(text);
  if (texts.length === items.length) return texts;
  throw new Error(`${items.length} items were read, and ${texts.length} found in their text`);
}

/** An object's members in order, each with the text that it came as, in one line; none if it is not an object. */
export function membersOf(text: string): [name: string, text: string][] {
  const found: [string, string][] = [];
  new Scanner(text).members((key, value) => found.push([key, value()]));
  return found;
}

/** The same by name: the last of each. */
export function memberTexts(text: string): Map<string, string> {
  return new Map(membersOf(text));
}
