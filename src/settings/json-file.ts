import { type AnyNode, type DocumentNode, parse, type ValueNode } from '@humanwhocodes/momoa';
import { ConfigError } from '../errors.ts';

export type Path = readonly (string | number)[];

/** The value of a JSON file, with the position of everything in it. */
export interface JsonFile {
  readonly path: string;
  readonly value: unknown;
  /** Returns `file:line:column` of a value, or of its key. */
  place(at: Path, part?: 'key' | 'value'): string;
}

const maxCharacters = 1024 * 1024;

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
        // Parsers disagree on which of the two they keep.
        if (seen.has(key))
          throw new ConfigError(`${placeOf(path, name)}: ${JSON.stringify(key)} is set twice`);
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

/** Returns the error for invalid JSON. It never quotes the text, which may contain a secret. */
function notJson(path: string, error: unknown): ConfigError {
  const { line, column } = error as { line?: number; column?: number };
  const place = line === undefined ? path : `${path}:${line}:${column}`;
  const why = error instanceof RangeError ? 'the JSON is nested too deeply' : 'not valid JSON from here on';
  return new ConfigError(`${place}: ${why}`, {
    hint: 'JSON needs double quotes, and allows neither comments nor a comma after the last item',
  });
}

/**
 * Reads JSON with positions. JSON.parse has none: some of its messages quote the text instead, and it silently keeps the
 * second of two equal keys. So this uses momoa, a parser with a syntax tree and no dependencies, which is loaded only
 * when a file exists.
 * @throws ConfigError with file, line and column
 */
export function readJson(path: string, bytes: Uint8Array): JsonFile {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError(`${path}: the file is not UTF-8 text`, { cause });
  }
  if (text.length > maxCharacters)
    throw new ConfigError(`${path}: the file is too large (over 1,048,576 characters)`);
  if (text.trim() === '')
    throw new ConfigError(`${path}:1:1: the file is empty`, { hint: 'write at least {}' });
  try {
    const document = parse(text, { mode: 'json' });
    const value = plainValue(path, document.body);
    return { path, value, place: (at, part = 'value') => placeOf(path, find(document, at, part)) };
  } catch (error) {
    throw error instanceof ConfigError ? error : notJson(path, error);
  }
}
