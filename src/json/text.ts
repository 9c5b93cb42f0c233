import { type JsonNode, parseJson, repeatedMember } from './parse.ts';

/** The name of a member, and its value as text. */
export type MemberText = readonly [name: string, text: string];

/** Returns the value of JSON; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the node of a body, or undefined if the body is empty. @throws JsonSyntaxError */
export const parseBody = (json: string): JsonNode | undefined =>
  json.trim() === '' ? undefined : parseJson(json);

/** Returns an object's members in order, each with its original text in one line; none for any other value. */
export function membersOf(json: string): [name: string, text: string][] {
  return parseBody(json)?.members.map(({ name, value }) => [name, value.text]) ?? [];
}

export function repeatedName(members: readonly MemberText[]): string | undefined {
  return repeatedMember(members.map(([name]) => ({ name })))?.name;
}

export function objectText(members: Iterable<MemberText>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** Returns the text at a path within JSON, in one line; undefined if nothing is at that path. */
export function textAt(json: string, path: readonly string[]): string | undefined {
  return parseBody(json)?.at(path)?.text;
}

/**
 * Returns the items of a list response, each as its original text in one line.
 * @param list the result of `readPage`: the items, and the name of their field
 */
export function itemTexts(json: string, list: { items: readonly unknown[]; field?: string }): string[] {
  const { items, field } = list;
  if (items.length === 0) return [];
  const { elements = [] } = parseJson(json).at(field === undefined ? [] : [field]) ?? {};
  if (elements.length === items.length) return elements.map(({ text }) => text);
  throw new Error(`read ${items.length} items, but found ${elements.length} in the text`);
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

/** Returns a string without its quotes and escapes, and any other value unchanged. */
export const unquoted = (json: string): string => (json.startsWith('"') ? JSON.parse(json) : json);
