import { UsageError } from '../errors.ts';
import { emptyOption, jsonFor, readTexts } from '../options/read.ts';
import { type Flags, flagName, type OptionId, type OptionRow, optionIds, rowOf } from '../options/table.ts';
import { splitNames } from '../options/types.ts';
import type { SettingName, SomeSettings } from '../settings/names.ts';
import { echoed, nearest } from '../suggest.ts';

export function oneOf<const Word extends string>(option: string, words: readonly Word[], text: string): Word {
  const choice = words.find((word) => word === text);
  if (choice !== undefined) return choice;
  const near = nearest(text, words);
  throw new UsageError(`${option}: ${echoed(text)} is not one of ${words.join(', ')}`, {
    hint: near === null ? undefined : `did you mean ${near}?`,
  });
}

export function numberUpTo(option: string, text: string, most: number, least = 0): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option}: ${echoed(text)} is not a whole number from ${least} to ${most}`);
}

export function filled(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && value.trim() === '') throw emptyOption(option);
  return value;
}

export function chosenFormat({ json, format }: Flags): Flags['format'] {
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError(`--json and --format ${format} cannot be combined`, { hint: 'give one of them' });
}

/** Returns the names in one value of an option: separated by commas, as in settings and in the action. */
export function namesIn(option: string, text: string): string[] {
  const names = splitNames(text);
  if (names.length > 0) return names;
  throw emptyOption(option);
}

/** Returns commander's name of an option: `deployedUrl`. */
const attributeOf = (row: OptionRow) =>
  flagName(row)
    .slice(2)
    .replace(/-[a-z]/g, (part) => part.slice(1).toUpperCase());

/** The values of options by commander's names, and those of them that are settings. */
export interface ReadFlags {
  readonly flags: Flags & Readonly<Record<string, unknown>>;
  readonly settings: SomeSettings;
}

/** Reads the texts of the options with these rows. @param raw the texts by commander's names @throws UsageError */
export function readOptions(ids: readonly OptionId[], raw: Readonly<Record<string, unknown>>): ReadFlags {
  const flags: Record<string, unknown> = { ...raw };
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const id of ids) {
    const row = rowOf(id);
    const value = raw[attributeOf(row)];
    if (value === undefined) continue;
    const read = typeof value === 'boolean' ? value : readTexts(id, [value].flat() as string[]);
    flags[attributeOf(row)] = read;
    if (row.file !== undefined) settings[id as SettingName] = read;
  }
  return { flags, settings: settings as SomeSettings };
}

/** Reads the texts of the options that every command has. @throws UsageError */
export const readGlobals = (raw: Readonly<Record<string, unknown>>): ReadFlags =>
  readOptions(
    optionIds.filter((id) => rowOf(id).commands?.includes('every')),
    raw,
  );

export function readValues(flags: Flags): ReadFlags {
  const settings = given(flags, ({ file }) => file !== undefined).map(([id, , value]) => [id, value]);
  return { flags, settings: Object.fromEntries(settings) };
}

type Given = readonly [id: OptionId, row: OptionRow, value: unknown];

function given(flags: Flags, isMeant: (row: OptionRow) => boolean): Given[] {
  return optionIds.flatMap((id): Given[] => {
    const row = rowOf(id);
    const value = (flags as Readonly<Record<string, unknown>>)[attributeOf(row)];
    return row.flag === undefined || value === undefined || !isMeant(row) ? [] : [[id, row, value]];
  });
}

const givenName = (row: OptionRow, value: unknown) =>
  value === false ? `--no-${flagName(row).slice(2)}` : flagName(row);

/** Returns the options of the rows that were given, by their names on the command line. */
export const givenOptions = (flags: Flags, isMeant: (row: OptionRow) => boolean): string[] =>
  given(flags, isMeant).map(([, row, value]) => givenName(row, value));

/** Returns the arguments that give the options of these rows again, unquoted. */
export function argumentsOf(flags: Flags, isMeant: (row: OptionRow) => boolean): string[] {
  return given(flags, isMeant).flatMap(([id, row, value]) => {
    const name = givenName(row, value);
    if (typeof value === 'boolean') return [name];
    return [jsonFor(id, value as never)].flat().flatMap((one) => [name, String(one)]);
  });
}
