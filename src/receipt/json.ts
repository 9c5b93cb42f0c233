import * as z from 'zod/mini';
import { parseJson } from '../json/parse.ts';
import { jsonLimits, jsonSize } from '../json/tokens.ts';
import { ownCopy } from '../own-options.ts';
import { quoted, Refused } from './error.ts';

/** Deeper than any receipt, and shallow enough for recursion. */
const maxDepth = 32;

/** A JSON object without a prototype: a polluted one adds no fact to it. */
export type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the text and the value of a JSON object in UTF-8. @throws Refused for anything else */
export function parseObject(bytes: Uint8Array, what: string): { text: string; value: Json } {
  let text: string;
  try {
    // With `ignoreBOM`, a byte order mark stays in the text, and is not JSON.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused(`${what} is not UTF-8`);
  }
  const { depth, values } = jsonSize(text);
  if (depth > maxDepth || values > jsonLimits.values)
    throw new Refused(`${what} is nested too deeply or has too many values`);
  let value: unknown;
  try {
    value = JSON.parse(text, (_name, part: unknown) => (isObject(part) ? ownCopy(part) : part));
  } catch {
    throw new Refused(`${what} is not JSON`);
  }
  if (!isObject(value)) throw new Refused(`${what} is not a JSON object`);
  return { text, value };
}

/**
 * Refuses a key that an object has twice, at any depth and in any spelling: parsers disagree on which of the two they keep.
 * @param text JSON that `parseObject` has accepted
 * @throws Refused
 */
export function refuseDuplicates(text: string, what: string): void {
  const repeated = parseJson(text).repeated?.name;
  if (repeated !== undefined) throw new Refused(`${what} has the key ${quoted(repeated)} twice`);
}

/** Returns a schema of the texts that a function reads; it returns null for those that it refuses. */
export const readBy = <Value>(read: (text: string) => Value | null, message: string) =>
  z.pipe(
    z.unknown(),
    z.transform((given, { issues }) => {
      const value = typeof given === 'string' ? read(given) : null;
      if (value === null) issues.push({ code: 'custom', message, input: given });
      return value as Value;
    }),
  );

/** Returns what a schema reads. @throws Refused with the first difference: `subject[1].digest is missing or invalid` */
export function readAs<Value>(schema: z.ZodMiniType<Value>, given: unknown): Value {
  const { data, error } = schema.safeParse(given);
  if (error === undefined) return data as Value;
  const { path = [], message = '' } = error.issues[0] ?? {};
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  // Messages of receipts begin like this; those of zod depend on the language that the process has set.
  const problem = /^(?:is|has) /.test(message) ? message : 'is missing or invalid';
  throw new Refused(`${place.replace(/^\./, '')} ${problem}`);
}
