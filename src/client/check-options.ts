import * as z from 'zod/mini';
import type { Clock } from '../clock.ts';
import { faultOf, type Mismatch, mismatches, noSuchField } from '../contract/issues.ts';
import { UsageError } from '../errors.ts';
import { actions, type GateOverrides, verdicts } from '../gate/policy.ts';
import type { DeployedPage, GateHub, GatePreview, LibraryOptions } from '../options/library-options.ts';
import { type OptionRow, optionIds, rowOf } from '../options/table.ts';
import { largestCount } from '../options/types.ts';
import { isPlain } from '../own-options.ts';
import { instead, isEchoed } from '../suggest.ts';

export type OptionType<Value> = z.ZodMiniType<Value>;

/** A schema for each option. The compiler finds one that is missing, unknown, or accepts more than the option's type. */
export type Shape<Options> = { readonly [Name in keyof Options]-?: OptionType<Options[Name]> };

/** The options after the check, which turns a URL into a string. */
export type Checked<Options> = {
  [Name in keyof Options]: string | URL extends Options[Name] ? string : Options[Name];
};

/** Returns a schema that refuses an object with inherited properties, such as the getters of a class. */
export function plain<Value extends object>(
  schema: OptionType<Value>,
  expected = 'expected a plain object',
): OptionType<Value> {
  // The caller may change the object.
  const copy = z.transform((value: unknown) => ({ ...(value as object) }));
  return z.pipe(z.pipe(z.custom(isPlain, expected), copy), schema as never) as unknown as OptionType<Value>;
}

/** Returns the schema of an object of options, which refuses all others. */
export function optionsOf<Options extends object>(shape: Shape<Options>): OptionType<Checked<Options>> {
  return plain(z.strictObject(shape) as unknown as OptionType<Checked<Options>>);
}

function number(expected: string, isValid: (value: number) => boolean): OptionType<number> {
  return z.custom<number>((value) => typeof value === 'number' && isValid(value), `expected ${expected}`);
}

/** Returns the schema of an object with these methods, which may be an instance of a class. */
export function objectWith<Value>(what: string, ...methods: (keyof Value)[]): OptionType<Value> {
  return z.custom<Value>(
    (value) => methods.every((name) => typeof (value as Value | null)?.[name] === 'function'),
    `expected ${what}`,
  );
}

export const text = z.string('expected a string');
export const texts = z.array(text, 'expected an array of strings');
export const flag = z.boolean('expected true or false');
export const headers = plain(z.record(z.string(), text));
export const record = plain(z.record(z.string(), z.optional(text)));
export const milliseconds = number(
  'a finite number of milliseconds above 0',
  (ms) => ms > 0 && Number.isFinite(ms),
);
export const notNegative = number('a finite number, 0 or more', (n) => n >= 0 && Number.isFinite(n));
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, `expected one of ${words.join(', ')}`);
export const func = <Callback>() =>
  z.custom<Callback>((value) => typeof value === 'function', 'expected a function');
export const pointer = z.custom<string>(
  (value) => typeof value === 'string' && value.startsWith('/'),
  'expected a JSON pointer, such as /data/runId',
);
export const url = z.pipe(
  z.custom<string | URL>((value) => typeof value === 'string' || value instanceof URL, 'expected a URL'),
  // The caller may change a URL.
  z.transform(String),
);
export const clock = objectWith<Clock>('a clock: { now, monotonic, sleep }', 'now', 'monotonic', 'sleep');
export const signal = objectWith<AbortSignal>(
  'an AbortSignal',
  'addEventListener',
  'removeEventListener',
  'throwIfAborted',
);

export function whole(minimum: number, maximum = Number.MAX_SAFE_INTEGER): OptionType<number> {
  const isEndless = maximum === Number.POSITIVE_INFINITY;
  const range =
    maximum < Number.MAX_SAFE_INTEGER
      ? `from ${minimum} to ${maximum}`
      : `${minimum} or more${isEndless ? ', or Infinity' : ''}`;
  return number(
    `a whole number, ${range}`,
    (n) => (Number.isInteger(n) || (isEndless && n === maximum)) && n >= minimum && n <= maximum,
  );
}

/** The action for each verdict; the policy refuses the actions that a verdict cannot have. */
const actionsByVerdict = Object.fromEntries(verdicts.map((verdict) => [verdict, z.optional(oneOf(actions))]));

function checkOf(row: OptionRow): OptionType<unknown> {
  const { library, type } = row;
  const { kind, words = [], jsonSchema } = type;
  // An invalid subject would be missing from the receipt.
  if (library === 'subjects') return type.schema;
  // A gate sends one of the tokens.
  if (library === 'hub.token') return text;
  switch (kind) {
    case 'url':
      return url;
    case 'pointer':
      return pointer;
    case 'switch':
      return flag;
    case 'duration':
      return milliseconds;
    case 'list':
      return texts;
    case 'choice':
      return oneOf(words);
    case 'overrides':
      return optionsOf(actionsByVerdict as unknown as Shape<GateOverrides>);
    case 'count': {
      const { minimum, maximum } = jsonSchema as { minimum: number; maximum: number };
      return whole(minimum, maximum < largestCount ? maximum : Number.POSITIVE_INFINITY);
    }
    default:
      return text;
  }
}

interface RowGroups {
  '': LibraryOptions;
  'hub.': GateHub;
  'preview.': GatePreview;
  'deployed.': DeployedPage;
}

export function rowShape<Group extends keyof RowGroups, const Name extends keyof RowGroups[Group] & string>(
  group: Group,
  names: readonly Name[],
): Shape<Pick<RowGroups[Group], Name>> {
  const entries = names.map((name) => {
    const row = optionIds.map(rowOf).find(({ library }) => library === `${group}${name}`);
    if (row === undefined) throw new Error(`no row has the option ${group}${name}`);
    return [name, row.required?.includes('library') ? checkOf(row) : z.optional(checkOf(row))];
  });
  return Object.fromEntries(entries);
}

/** The used parts of zod's definition of a schema. */
type Definition = Partial<Record<'innerType' | 'element' | 'out', z.ZodMiniType>> & {
  shape?: Readonly<Record<string, z.ZodMiniType>>;
};

function namesAt(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  const { shape, innerType, element, out } = schema._zod.def as Definition;
  const inner = innerType ?? out;
  if (inner !== undefined) return namesAt(inner, path);
  const [name, ...rest] = path;
  if (name === undefined) return Object.keys(shape ?? {});
  const next = element ?? shape?.[String(name)];
  return next === undefined ? [] : namesAt(next, rest);
}

/** Returns the fault as a sentence, without any text that was given: it may be a misplaced secret. */
function textOf(mismatch: Mismatch): string {
  const { field, path, expected, sentence } = mismatch;
  if (expected === noSuchField)
    return isEchoed(String(path.at(-1))) ? `unknown option ${JSON.stringify(field)}` : 'unknown option';
  const text = faultOf(mismatch, field === '' ? 'its argument' : field);
  return text === sentence ? `${field}: ${text}` : text;
}

function hintFor(schema: z.ZodMiniType, { path, expected, received, field }: Mismatch): string | undefined {
  if (received === 'nothing') return `set ${field}; an unset environment variable is undefined`;
  if (received === 'null') return `set ${field}, or leave it out if it has a default`;
  const names = expected === noSuchField ? namesAt(schema, path.slice(0, -1)) : [];
  return names.length === 0 ? undefined : instead(String(path.at(-1)), names);
}

/**
 * Returns the options as the schema returns them.
 * @param call the function that takes them, for messages
 * @throws UsageError that names each wrong option, without its value if that is a text
 */
export function checkOptions<Options>(schema: OptionType<Options>, options: unknown, call: string): Options {
  try {
    const result = schema.safeParse(options);
    if (result.success) return result.data;
    const wrong = mismatches(schema, options, { hidden: 'texts' });
    const [first] = wrong;
    throw new UsageError(`${call}: ${wrong.slice(0, 5).map(textOf).join('; ')}`, {
      hint: first && hintFor(schema, first),
    });
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${call}: an option cannot be read`, { cause });
  }
}
