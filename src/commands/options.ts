import { type Command, Option } from 'commander';
import { UsageError } from '../errors.ts';
import { jsonFor, readTexts } from '../options/read.ts';
import {
  type CommandName,
  type Flags,
  flagName,
  gateRow,
  type OptionId,
  type OptionRow,
  optionIds,
  remarks,
  rowOf,
} from '../options/table.ts';
import { overrideWords, splitNames } from '../options/types.ts';
import type { SettingName, SomeSettings } from '../settings/names.ts';
import { echoed, nearest } from '../suggest.ts';
import { completes } from './completion/completes.ts';

/** Adds the options that every command accepts, before and after its name. */
export function addGlobals(command: Command): Command {
  // A group that is also a command already has them.
  if (command.options.some((option) => option.long === '--api-url')) return command;
  return addOptions(command, 'every').helpOption('-h, --help', 'show this help, and with --all every option');
}

export function oneOf<const Word extends string>(option: string, words: readonly Word[], text: string): Word {
  const choice = words.find((word) => word === text);
  if (choice !== undefined) return choice;
  const near = nearest(text, words);
  throw new UsageError(`${option}: ${echoed(text)} is not one of ${words.join(', ')}`, {
    hint: near === null ? undefined : `did you mean ${near}?`,
  });
}

export function numberUpTo(option: string, text: string, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new UsageError(`${option}: ${echoed(text)} is not a whole number from 0 to ${most}`);
}

export function filled(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && value.trim() === '') {
    throw new UsageError(`${option} is empty`, { hint: `give ${option} a value, or leave it out` });
  }
  return value;
}

export function chosenFormat({ json, format }: Flags): Flags['format'] {
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError(`--json and --format ${format} cannot be combined`, { hint: 'give one of them' });
}

/** Returns the reader of an option that has one value: of two, an earlier one may be a check that must not be lost. */
export const once =
  (option: string, hint = 'give it once') =>
  (value: string, earlier: string | undefined): string => {
    if (earlier === undefined) return value;
    throw new UsageError(`${option} is given twice`, { hint });
  };

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

export const isRepeatable = ({ parseArg }: Option): boolean => parseArg === collect;

/** Returns the names in one value of an option: separated by commas, as in settings and in the action. */
export function namesIn(option: string, text: string): string[] {
  const names = splitNames(text);
  if (names.length > 0) return names;
  throw new UsageError(`${option} is empty`, { hint: `give ${option} a value, or leave it out` });
}

/** The rows of options, as their commands have them. */
const shownRows = new WeakMap<Option, OptionRow & { readonly id: OptionId }>();
const negatives = new WeakSet<Option>();

/** Returns the row of an option, as its command has it; undefined for an option without one. */
export const rowOfOption = (option: Option) => shownRows.get(option);

/** Whether the short help shows an option. */
export const isCommon = (option: Option) =>
  !negatives.has(option) && (rowOfOption(option) ?? { common: true }).common === true;

/** Returns the line about an option in the help: `slug of the project (RUNGATE_PROJECT)`. */
function helpOf(row: OptionRow): string {
  const repeats = row.type.kind === 'list' || row.type.kind === 'overrides' ? ['repeatable'] : [];
  const all = [...repeats, ...(row.env === undefined ? [] : [row.env]), ...remarks(row)].join('; ');
  return all === '' ? row.help : `${row.help} (${all})`;
}

/** Adds them in the order of the rows. `heading` replaces those of the rows in the help. */
export function addOptions(command: Command, name: CommandName, heading?: string): Command {
  for (const id of optionIds) {
    const row = name === 'gate' ? gateRow(rowOf(id)) : rowOf(id);
    const { flag, no, commands, unlisted, group, type, complete } = row;
    if (flag === undefined || commands?.includes(name) !== true) continue;
    const option = new Option(flag, helpOf(row)).hideHelp(unlisted?.includes(name) === true);
    if (type.kind === 'list' || type.kind === 'overrides') option.argParser(collect);
    else if (row.single !== undefined && option.required) option.argParser(once(flagName(row), row.single));
    shownRows.set(option, { ...row, id });
    command.optionsGroup(heading ?? group ?? 'Options:').addOption(option);
    if (no !== undefined) {
      const negative = new Option(`--no-${flagName(row).slice(2)}`, no);
      negatives.add(negative);
      command.addOption(negative);
    }
    const source = complete ?? (type.kind === 'overrides' ? overrideWords : type.words);
    if (source !== undefined) completes(command, flagName(row), source);
  }
  return command;
}

function idsOf(command: Command): OptionId[] {
  const above = command.parent === null ? [] : idsOf(command.parent);
  return [...above, ...command.options.flatMap((option) => rowOfOption(option)?.id ?? [])];
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

/** @param raw the texts by commander's names @throws UsageError */
function readFlags(raw: Readonly<Record<string, unknown>>, ids: readonly OptionId[]): ReadFlags {
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

/** Reads the texts of the options that a command has. @throws UsageError */
export const readOptions = (command: Command, raw: Readonly<Record<string, unknown>>): ReadFlags =>
  readFlags(raw, idsOf(command));

/** Reads the texts of the options that every command has. @throws UsageError */
export const readGlobals = (raw: Readonly<Record<string, unknown>>): ReadFlags =>
  readFlags(
    raw,
    optionIds.filter((id) => rowOf(id).commands?.includes('every')),
  );

/** Returns the options of a command whose values are known. */
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
