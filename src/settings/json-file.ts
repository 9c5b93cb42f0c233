import { ConfigError } from '../errors.ts';
import { type JsonNode, JsonSyntaxError, lineAndColumn, parseJson } from '../json/parse.ts';
import { isTooLarge } from '../json/tokens.ts';
import { maxFileBytes } from './locate.ts';

export type JsonPath = readonly (string | number)[];

export const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The value of a JSON file, with the position of everything in it. */
export interface JsonFile {
  readonly path: string;
  readonly value: unknown;
  /** Returns `file:line:column` of a value, or of its key. */
  place(at: JsonPath, part?: 'key' | 'value'): string;
}

/** Returns the index of a value or of its key. For a path that leads nowhere, that of the last part that exists. */
function indexOf(root: JsonNode, path: JsonPath, part: 'key' | 'value'): number {
  let [node, key] = [root, root.start];
  for (const step of path) {
    const member = typeof step === 'string' ? node.member(step) : undefined;
    const value = typeof step === 'string' ? member?.value : node.elements[step];
    if (value === undefined) break;
    key = (member ?? value).start;
    node = value;
  }
  return part === 'key' ? key : node.start;
}

/**
 * Reads JSON with positions. JSON.parse has none: some of its messages quote the text instead, which may contain a secret,
 * and it silently keeps the second of two equal keys.
 * @throws ConfigError with file, line and column
 */
export function readJson(path: string, bytes: Uint8Array): JsonFile {
  if (bytes.length > maxFileBytes) throw new ConfigError(`${path}: the file is too large (over 1 MiB)`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError(`${path}: the file is not UTF-8 text`, { cause });
  }
  if (isTooLarge(text)) throw new ConfigError(`${path}: the JSON is nested too deeply`);
  const at = (index: number) => {
    const { line, column } = lineAndColumn(text, index);
    return `${path}:${line}:${column}`;
  };
  let root: JsonNode;
  try {
    root = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new ConfigError(`${at(error.index)}: not valid JSON from here on`, {
      hint: 'JSON needs double quotes, and allows neither comments nor a comma after the last item',
    });
  }
  const { repeated } = root;
  if (repeated !== undefined)
    throw new ConfigError(`${at(repeated.start)}: ${JSON.stringify(repeated.name)} is set twice`);
  return { path, value: root.value, place: (steps, part = 'value') => at(indexOf(root, steps, part)) };
}
