/** JSON as the text of its parts: numbers and strings stay as they were written, and keys that come twice too. */
export type Node =
  | { kind: 'scalar'; text: string }
  | { kind: 'array'; items: readonly Node[] }
  | { kind: 'object'; entries: readonly (readonly [string, Node])[] };

/** Deeper than any event; what is deeper is left alone. */
const deepest = 500;

class Broken extends Error {}

/** A walk over the tokens, one value at a time. */
class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  #take(): string {
    const next = this.#tokens[this.#at];
    if (next === undefined) throw new Broken();
    this.#at += 1;
    return next;
  }

  #skip(text: string): boolean {
    if (this.#tokens[this.#at] !== text) return false;
    this.#at += 1;
    return true;
  }

  /** Members up to the closing bracket. */
  #list<Item>(close: string, item: () => Item): Item[] {
    const items: Item[] = [];
    if (this.#skip(close)) return items;
    do items.push(item());
    while (this.#skip(','));
    if (!this.#skip(close)) throw new Broken();
    return items;
  }

  value(depth: number): Node {
    if (depth > deepest) throw new Broken();
    const text = this.#take();
    if (text === '[') return { kind: 'array', items: this.#list(']', () => this.value(depth + 1)) };
    if (text === '{') {
      const entry = (): [string, Node] => {
        const key = this.#take();
        if (!key.startsWith('"') || !this.#skip(':')) throw new Broken();
        return [key, this.value(depth + 1)];
      };
      return { kind: 'object', entries: this.#list('}', entry) };
    }
    if (/^[\]},:]$/.test(text)) throw new Broken();
    return { kind: 'scalar', text };
  }

  get done(): boolean {
    return this.#at === this.#tokens.length;
  }
}

const punctuation = '{}[],:';
const isSpace = (char: string) => char === ' ' || char === '\n' || char === '\r' || char === '\t';

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

/** Where the number or word that begins here ends. */
function endOfWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !isSpace(text.charAt(at)) && !punctuation.includes(text.charAt(at))) at += 1;
  return at;
}

/** By hand: a pattern for strings runs out of stack on a long one. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    let end = at + 1;
    if (char === '"') end = endOfString(text, at);
    else if (!punctuation.includes(char) && !isSpace(char)) end = endOfWord(text, at);
    if (!isSpace(char)) tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

/** The value of a JSON text, or null when it is none. */
export function parseNode(text: string): Node | null {
  try {
    // The tokens alone would let through what is no JSON.
    JSON.parse(text);
    const parser = new Parser(tokensOf(text));
    const node = parser.value(0);
    return parser.done ? node : null;
  } catch {
    return null;
  }
}

export interface Layout {
  comma: string;
  colon: string;
  /** Null: all in one line. */
  indent: string | null;
}

/** The value laid out anew. */
export function writeNode(node: Node, layout: Layout, depth = 0): string {
  if (node.kind === 'scalar') return node.text;
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}'];
  const members =
    node.kind === 'array'
      ? node.items.map((item) => writeNode(item, layout, depth + 1))
      : node.entries.map(([key, value]) => `${key}${layout.colon}${writeNode(value, layout, depth + 1)}`);
  if (members.length === 0) return `${open}${close}`;
  if (layout.indent === null) return `${open}${members.join(layout.comma)}${close}`;
  const line = `\n${layout.indent.repeat(depth + 1)}`;
  return `${open}${line}${members.join(`,${line}`)}\n${layout.indent.repeat(depth)}${close}`;
}

/** Keys in the order of their characters, at every depth. */
export function sortKeys(node: Node): Node {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'array') return { kind: 'array', items: node.items.map(sortKeys) };
  const name = (key: string): string => JSON.parse(key);
  const entries = node.entries
    .map(([key, value]) => [key, sortKeys(value)] as const)
    .toSorted(([a], [b]) => (name(a) < name(b) ? -1 : Number(name(a) > name(b))));
  return { kind: 'object', entries };
}

/** What strings alone hold in a JSON text: escapes, and the characters that some serialisers escape. */
const marks = /\\(?:u[0-9A-Fa-f]{4}|.)|[\u007f-\uffff/<>&]/gs;

const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0');

/** The code that an escape stands for, or -1 where it is none. */
function codeOf(mark: string): number {
  return mark.length === 6 ? Number.parseInt(mark.slice(2), 16) : -1;
}

type Style = (json: string) => string;

const style =
  (change: (mark: string) => string): Style =>
  (json) =>
    json.replace(marks, change);

const isBeyondAscii = (mark: string) => mark.length === 1 && mark >= '\u007f';
const isHtml = (char: string) => char === '<' || char === '>' || char === '&';

/** Other ways to write the same strings. */
export const stringStyles = {
  ascii: style((mark) => (isBeyondAscii(mark) ? `\\u${hexOf(mark)}` : mark)),
  asciiUpper: style((mark) => (isBeyondAscii(mark) ? `\\u${hexOf(mark).toUpperCase()}` : mark)),
  unicode: style((mark) => (codeOf(mark) >= 0x7f ? String.fromCharCode(codeOf(mark)) : mark)),
  slashes: style((mark) => (mark === '/' ? '\\/' : mark)),
  plainSlashes: style((mark) => (mark === '\\/' ? '/' : mark)),
  html: style((mark) => (isHtml(mark) ? `\\u${hexOf(mark)}` : mark)),
  plainHtml: style((mark) => {
    const char = codeOf(mark) < 0 ? '' : String.fromCharCode(codeOf(mark));
    return isHtml(char) ? char : mark;
  }),
} as const;
