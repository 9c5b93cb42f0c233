import { type OptionRow, rows } from './rows.ts';
import type { OptionType } from './types.ts';

export type { CommandName, OptionRow } from './rows.ts';
export { rows };

type Rows = typeof rows;
export type OptionId = keyof Rows;

/** The value of each option. Durations are in milliseconds. */
export type OptionValues = {
  [Id in OptionId]: Rows[Id]['type'] extends OptionType<infer Value> ? Value : never;
};

type IdsWith<Part> = { [Id in OptionId]: Rows[Id] extends Part ? Id : never }[OptionId];

/** The options that a file or `rungate config set` may set. */
export type FileId = IdsWith<{ file: 'top' | 'gate' }>;
/** The options that are set for each gate of a file. */
export type GateId = IdsWith<{ file: 'gate' | 'only gate' }>;
export type SecretId = IdsWith<{ secret: string }>;
/** The secrets that a profile may have, and those of them that it ties to one service. */
export type SavedId = IdsWith<{ secret: 'sent' | 'saved' }>;
export type SentId = IdsWith<{ secret: 'sent' }>;

type Camel<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Text;
/** The name that commander gives an option: `deployedUrl`. */
export type Attribute<Flag> = Flag extends `${infer Name} <${string}`
  ? Attribute<Name>
  : Flag extends `${string}--no-${infer Name}`
    ? Camel<Name>
    : Flag extends `${string}--${infer Name}`
      ? Camel<Name>
      : never;

/** The values of the options on a command line, by the names that commander gives them. */
export type Flags = {
  [Id in OptionId as Rows[Id] extends { flag: infer Flag } ? Attribute<Flag> : never]?: OptionValues[Id];
} & {
  /** The options of gates that only the command line has. */
  dryRun?: boolean;
  wait?: boolean;
  name?: readonly string[];
};

type Group<Values, Name extends string> = {
  [Id in keyof Values as Id extends `${Name}.${infer Member}` ? Member : never]: Values[Id];
};

/** Returns the values whose ids begin with `name.`, by the rest of their ids. */
export function groupOf<Values extends object, Name extends string>(
  values: Values,
  name: Name,
): Group<Values, Name> {
  const members = Object.entries(values).filter(([id]) => id.startsWith(`${name}.`));
  return Object.fromEntries(members.map(([id, value]) => [id.slice(name.length + 1), value])) as Group<
    Values,
    Name
  >;
}

export const optionIds = Object.keys(rows) as OptionId[];

/** Returns a row, for code that handles all of them. */
export const rowOf = (id: OptionId): OptionRow => rows[id];

/** Returns the row as `rungate gate` and the action have it. */
export const gateRow = (row: OptionRow): OptionRow => ({ ...row, ...row.forGate });

const idsWhere = <Id extends OptionId>(has: (row: OptionRow) => boolean) =>
  optionIds.filter((id) => has(rowOf(id))) as Id[];

export const isFileId = (name: string): name is FileId => (fileIds as readonly string[]).includes(name);
export const isSecretId = (name: string): name is SecretId => (secretIds as readonly string[]).includes(name);

export const fileIds = idsWhere<FileId>(({ file }) => file === 'top' || file === 'gate');
export const gateIds = idsWhere<GateId>(({ file }) => file === 'gate' || file === 'only gate');
export const buildIds = idsWhere<IdsWith<{ group: 'Build information:' }>>(
  ({ group }) => group === 'Build information:',
);
export const secretIds = idsWhere<SecretId>(({ secret }) => secret !== undefined);
export const savedIds = idsWhere<SavedId>(({ secret }) => secret === 'sent' || secret === 'saved');
export const sentIds = idsWhere<SentId>(({ secret }) => secret === 'sent');

/** Returns the long name of the option on the command line: `--timeout`. */
export const flagName = ({ flag = '' }: OptionRow): string => /--[a-z-]+/.exec(flag)?.[0] ?? '';

export function inputName(row: OptionRow): string | null {
  return row.input === true ? flagName(row).slice(2) : row.input || null;
}

/** Returns what the help says in parentheses. */
export function remarks({ default: value, note }: OptionRow): string[] {
  return [...(value === undefined ? [] : [`default ${value}`]), ...(note === undefined ? [] : [note])];
}

/** Returns the help as a sentence, for schemas, the action and the library. */
export function sentence(row: OptionRow): string {
  const all = [row.help, ...remarks(row)].map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}.`);
  return all.join(' ');
}
