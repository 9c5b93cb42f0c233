import { compact } from './tokens.ts';

/** Text that is not JSON. The message does not quote the text, which may contain a secret. */
export class JsonSyntaxError extends Error {
  /** The index of the first character that is not JSON; the length of the text if it ends too early. */
  readonly index: number;
  constructor(index: number) {
    super('the text is not JSON');
    this.index = index;
  }
}

export interface JsonMember {
  readonly name: string;
  /** The index of the name in the text. */
  readonly start: number;
  readonly value: JsonNode;
}

type Kind = 'object' | 'array' | 'scalar';

const none: readonly never[] = [];
const closing = { object: '}', array: ']', scalar: '' } as const;

/** A value in JSON text, with its position. */
export class JsonNode {
  readonly kind: Kind;
  readonly start: number;
  /** The index after the value; -1 while the parser is inside it. */
  end: number;
  readonly members: readonly JsonMember[];
  readonly elements: readonly JsonNode[];
  readonly #json: string;

  constructor(json: string, kind: Kind, start: number, end: number) {
    this.#json = json;
    this.kind = kind;
    this.start = start;
    this.end = end;
    this.members = kind === 'object' ? [] : none;
    this.elements = kind === 'array' ? [] : none;
  }

  /** The text in one line, with every digit and escape. */
  get text(): string {
    return compact(this.#json.slice(this.start, this.end));
  }

  /** The value as JSON.parse returns it. */
  get value(): unknown {
    return JSON.parse(this.#json.slice(this.start, this.end));
  }

  /** Returns the member with this name; the last of several, which is the one that JSON.parse keeps. */
  member(name: string): JsonMember | undefined {
    return this.members.findLast((member) => member.name === name);
  }

  /** Returns the value at a path of names and indices, or undefined. */
  at(path: readonly string[]): JsonNode | undefined {
    let node: JsonNode | undefined = this;
    for (const step of path) {
      const index = /^(?:0|[1-9]\d{0,9})$/.test(step) ? Number(step) : -1;
      node = node?.kind === 'array' ? node.elements[index] : node?.member(step)?.value;
    }
    return node;
  }

  /** Returns the first name that occurs more than once in one object, in any spelling, at any depth. */
  get repeated(): JsonMember | undefined {
    const nodes: JsonNode[] = [this];
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      const member = repeatedMember(node.members);
      if (member !== undefined) return member;
      for (const element of node.elements) nodes.push(element);
      for (const { value } of node.members) nodes.push(value);
    }
    return undefined;
  }
}

/** Returns the first member whose name an earlier one has. */
export function repeatedMember<Member extends { readonly name: string }>(
  members: readonly Member[],
): Member | undefined {
  const names = new Set<string>();
  return members.find(({ name }) => names.size === names.add(name).size);
}

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

/** Returns the index after what the pattern matches at `start`. @throws JsonSyntaxError */
function matchEnd(pattern: RegExp, json: string, start: number): number {
  pattern.lastIndex = start;
  if (!pattern.test(json)) throw new JsonSyntaxError(start);
  return pattern.lastIndex;
}

/** Returns the index after the string that begins at `start`. @throws JsonSyntaxError */
function validStringEnd(json: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const code = json.charCodeAt(index);
    if (code === 0x22) return index + 1;
    if (code === 0x5c) index = matchEnd(escapeSequence, json, index);
    else if (code >= 0x20) index += 1;
    else throw new JsonSyntaxError(index);
  }
}

/** Returns the value of a string token; most have no escapes. */
const stringOf = (token: string): string => (token.includes('\\') ? JSON.parse(token) : token.slice(1, -1));

/**
 * Parses exactly what JSON.parse accepts, and keeps positions, digits and repeated names. It does not recurse, so text may
 * nest to any depth. For large text, check `isTooLarge` first: a node takes up to 200 bytes of memory.
 * @throws JsonSyntaxError
 */
export function parseJson(json: string): JsonNode {
  let index = 0;
  /** Returns the next character that is not whitespace. */
  function next(): string | undefined {
    while (json[index] === ' ' || json[index] === '\n' || json[index] === '\r' || json[index] === '\t')
      index += 1;
    return json[index];
  }
  function readValue(): JsonNode {
    const char = next();
    const start = index;
    const kind = char === '{' ? 'object' : char === '[' ? 'array' : 'scalar';
    if (kind !== 'scalar') index += 1;
    else index = char === '"' ? validStringEnd(json, start) : matchEnd(scalar, json, start);
    return new JsonNode(json, kind, start, kind === 'scalar' ? index : -1);
  }
  function readMember(): JsonMember {
    if (next() !== '"') throw new JsonSyntaxError(index);
    const start = index;
    index = validStringEnd(json, start);
    const name = stringOf(json.slice(start, index));
    if (next() !== ':') throw new JsonSyntaxError(index);
    index += 1;
    return { name, start, value: readValue() };
  }
  function readItem({ kind, members, elements }: JsonNode): JsonNode {
    if (kind === 'array') return push(elements, readValue());
    return push(members, readMember()).value;
  }

  const root = readValue();
  const open: JsonNode[] = [];
  for (let node = root; ; ) {
    const isFirst = node.end < 0;
    if (isFirst) open.push(node);
    const parent = open.at(-1);
    const char = next();
    if (parent === undefined && char === undefined) return root;
    if (parent === undefined) throw new JsonSyntaxError(index);
    if (char === closing[parent.kind]) {
      index += 1;
      parent.end = index;
      open.pop();
      node = parent;
    } else if (isFirst) {
      node = readItem(parent);
    } else if (char === ',') {
      index += 1;
      node = readItem(parent);
    } else throw new JsonSyntaxError(index);
  }
}

function push<Item>(items: readonly Item[], item: Item): Item {
  (items as Item[]).push(item);
  return item;
}

/** Returns the line and the column of an index, from 1. */
export function lineAndColumn(json: string, index: number): { line: number; column: number } {
  const before = json.slice(0, index);
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') };
}
