import { type AnyNode, type DocumentNode, parse, type ValueNode } from '@humanwhocodes/momoa';
import { ConfigError } from '../errors.ts';

export type Path = readonly (string | number)[];

/** A JSON file as a value, with the place of everything in it. */
export interface JsonFile {
  readonly path: string;
  readonly value: unknown;
  /** `file:line:column` of a value, or of the key in front of it. */
  place(at: Path, part?: 'key' | 'value'): string;
}

/** More than any settings are. */
const mostCharacters = 1024 * 1024;

function placeOf(path: string, node: AnyNode): string {
  return `${path}:${node.loc.start.line}:${node.loc.start.column}`;
}

function keyOf(node: AnyNode): string {
  return node.type === 'String' ? node.value : '';
}

function plainValue(path: string, node: ValueNode): unknown {
  switch (node.type) {
    case 'Object': {
      const pairs = node.members.map(
        ({ name, value }) => [keyOf(name), plainValue(path, value), name] as const,
      );
      const seen = new Set<string>();
      for (const [key, , name] of pairs) {
        // Every parser takes another one of the two; a reader sees either.
        if (seen.has(key))
          throw new ConfigError(`${placeOf(path, name)}: ${JSON.stringify(key)} is there twice`);
        seen.add(key);
      }
      return Object.fromEntries(pairs.map(([key, value]) => [key, value]));
    }
    case 'Array':
      return node.elements.map((element) => plainValue(path, element.value));
    case 'String':
    case 'Number':
    case 'Boolean':
      return node.value;
    default:
      return null;
  }
}

function find(document: DocumentNode, at: Path, part: 'key' | 'value'): AnyNode {
  let node: ValueNode = document.body;
  let key: AnyNode = node;
  for (const step of at) {
    if (node.type === 'Array' && typeof step === 'number') {
      const element = node.elements[step];
      if (element === undefined) break;
      node = key = element.value;
    } else if (node.type === 'Object') {
      const member = node.members.find(({ name }) => keyOf(name) === step);
      if (member === undefined) break;
      key = member.name;
      node = member.value;
    }
  }
  return part === 'key' ? key : node;
}

/** What is wrong with a text that is not JSON. Never the text itself: it may hold a secret. */
function notJson(path: string, error: unknown): ConfigError {
  const { line, column } = error as { line?: number; column?: number };
  const place = line === undefined ? path : `${path}:${line}:${column}`;
  const why = error instanceof RangeError ? 'it is nested too deeply' : 'it is not JSON from here on';
  return new ConfigError(`${place}: ${why}`, {
    hint: 'JSON has double quotes, no comments and no comma after the last item',
  });
}

/**
 * Reads JSON with positions. JSON.parse has none: Node leaves the position out of some of its messages and quotes the
 * text instead, and it takes the second of two equal keys in silence. Hence a parser with a syntax tree (momoa, which
 * has no dependencies), loaded only where there is a file.
 * @throws ConfigError that says where
 */
export function readJson(path: string, bytes: Uint8Array): JsonFile {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError(`${path}: it is not UTF-8 text`, { cause });
  }
  if (text.length > mostCharacters) throw new ConfigError(`${path}: it is larger than any settings are`);
  if (text.trim() === '') throw new ConfigError(`${path}:1:1: it is empty`, { hint: 'write at least {}' });
  try {
    const document = parse(text, { mode: 'json' });
    const value = plainValue(path, document.body);
    return { path, value, place: (at, part = 'value') => placeOf(path, find(document, at, part)) };
  } catch (error) {
    throw error instanceof ConfigError ? error : notJson(path, error);
  }
}
