import { UsageError } from '../errors.ts';
import { echoed, instead } from '../suggest.ts';
import { flagName, type OptionId, type OptionRow, type OptionValues, rowOf, rows } from './table.ts';
import type { OptionType } from './types.ts';

/** An invalid value of an option. The message never contains the value, which may be a misplaced secret. */
export class InvalidValue extends Error {
  /** @param within the position within the value, as JSON keys */
  constructor(
    message: string,
    readonly within: readonly (string | number)[] = [],
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Reads the JSON of a file. @throws InvalidValue */
export function readValue<Id extends OptionId>(id: Id, json: unknown): OptionValues[Id] {
  return readType(rows[id].type as OptionType<OptionValues[Id]>, json);
}

/** Reads the JSON of a value. @throws InvalidValue */
export function readType<Value>({ schema }: OptionType<Value>, json: unknown): Value {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const { params } = issue as { params?: { hint?: string } };
  throw new InvalidValue(issue?.message ?? '', (issue?.path ?? []) as (string | number)[], params?.hint);
}

/** Returns the JSON of a file for a text: of an option, a variable, an input or `rungate config set`. */
export function jsonOf(id: OptionId, text: string): unknown {
  const { type } = rowOf(id);
  return type.fromText === undefined ? text : type.fromText(text);
}

/** Returns the JSON of a file for a value. */
export function jsonFor<Id extends OptionId>(id: Id, value: OptionValues[Id]): unknown {
  const type: OptionType<OptionValues[Id]> = rows[id].type as never;
  return type.toJson === undefined ? value : type.toJson(value);
}

/** Returns the error for an option without text, as with an unset variable. */
export function emptyOption(name: string): UsageError {
  return new UsageError(`${name} is empty`, { hint: `give ${name} a value, or leave it out` });
}

/**
 * Reads the texts of an option on the command line: one, or several of a list.
 * @throws UsageError
 */
export function readTexts<Id extends OptionId>(id: Id, texts: readonly string[]): OptionValues[Id] {
  const row: OptionRow = rowOf(id);
  const name = flagName(row);
  const { type } = row;
  if (texts.some((text) => text.trim() === '')) throw emptyOption(name);
  // A URL is checked when it is used: whether http is allowed depends on another option.
  if (type.kind === 'url') return texts.at(-1)?.trim() as OptionValues[Id];
  const parts = texts.map((text) => {
    const json = jsonOf(id, text);
    if (type.kind !== 'overrides' || typeof json === 'object') return json;
    throw new UsageError(`${name}: ${echoed(text)} is not ${type.is}`, { hint: type.write });
  });
  if (parts.some((part) => Array.isArray(part) && part.length === 0)) throw emptyOption(name);
  try {
    return readValue(id, joinedTexts(type.kind, parts));
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const last = texts.at(-1) ?? '';
    const { message: problem, within } = error;
    const expected = problem.startsWith('expected ');
    const message =
      expected && within.length === 0
        ? `${echoed(last)} is not ${type.is}`
        : expected && type.kind === 'overrides'
          ? `${within.join('.')}: ${problem}`
          : problem;
    const remedy = type.words === undefined ? type.write : instead(last, type.words);
    throw new UsageError(`${name}: ${message}`, { hint: error.hint ?? remedy });
  }
}

/** Returns the JSON of an option that was given several times. */
function joinedTexts(kind: OptionType<unknown>['kind'], parts: readonly unknown[]): unknown {
  if (kind === 'list') return parts.flat();
  // Not `Object.assign`, for which `__proto__` is not a field.
  if (kind === 'overrides')
    return Object.fromEntries(parts.flatMap((part) => Object.entries(part as object)));
  return parts.at(-1);
}
