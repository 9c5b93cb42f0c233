import type { Command, Help } from 'commander';
import type { Io } from '../host/io.ts';
import {
  type Attribute,
  type CommandName,
  flagName,
  gateRow,
  type OptionId,
  type OptionRow,
  optionIds,
  type Flags as RowFlags,
  remarks,
  rowOf,
} from '../options/table.ts';
import { overrideWords } from '../options/types.ts';
import type { SuggestionSource } from './completion/completes.ts';
import type { SourceOptions } from './config/sources.ts';
import type { Context } from './context.ts';
import type { ResumedGate } from './gate/store.ts';
import type { ReadFlags } from './options.ts';

export interface OptionSpec {
  readonly help: string;
  readonly group?: string | undefined;
  readonly repeatable?: true | undefined;
  /** The remedy if it is given twice, which is refused: an earlier value may be a check that must not be lost. */
  readonly single?: string | undefined;
  readonly completes?: SuggestionSource | undefined;
  readonly hidden?: boolean;
  /** Whether only `--help --all` shows it. */
  readonly rare?: boolean;
  /** Its row, as the command has it. */
  readonly row?: OptionRow & { readonly id: OptionId };
}

/** Options by their flags (`-y, --yes`), or arguments by their placeholders (`<file...>`): their help alone, or more. */
export type Named = Readonly<Record<string, string | OptionSpec>>;

type OwnFlags<Options> = {
  [Flag in keyof Options as Attribute<Flag>]?: Options[Flag] extends { readonly repeatable: true }
    ? string[]
    : Flag extends `${string}<${string}`
      ? string
      : boolean;
};

/** The values of a command's options, by the names that commander gives them. */
export type FlagsOf<Options> = Omit<RowFlags, keyof OwnFlags<Options>> & OwnFlags<Options>;

type ArgumentName<Placeholder> = Placeholder extends `${'<' | '['}${infer Name}...${'>' | ']'}`
  ? Name
  : Placeholder extends `${'<' | '['}${infer Name}${'>' | ']'}`
    ? Name
    : never;

/** The values of arguments, by their names. */
type ArgsOf<Args> = {
  [Placeholder in keyof Args as ArgumentName<Placeholder>]: Placeholder extends `${string}...${string}`
    ? string[]
    : Placeholder extends `[${string}`
      ? string | undefined
      : string;
};

/** The parts of the help that a command and a group have. */
interface Shown {
  readonly name: string;
  readonly summary: string;
  /** Instead of the summary as a sentence. */
  readonly description?: string;
  /** The heading in the help of the program. */
  readonly heading?: string;
  /** A text before the examples. */
  readonly notes?: string | ((help: Help) => string);
  /** Working examples. docs/reference/commands.md shows them too, and a test runs them. */
  readonly examples?: readonly string[];
}

interface Runnable<Args, Options> extends Shown {
  readonly args?: Args;
  /** Its own, and those of rows (`rowOptions`), in the order of the help. */
  readonly options?: Options;
  /** Instead of commander's. */
  readonly usage?: string;
  /** Whether everything after the first argument belongs to another program. */
  readonly wraps?: boolean;
}

/** A gate that an earlier command began, with its options. */
export interface Continued extends ReadFlags {
  readonly resumed: ResumedGate;
}

/** A command: everything that its help, completion and reference say of it, and what it does. */
export interface CommandSpec<Args = Named, Options = Named>
  extends Runnable<Args, Options>,
    Omit<SourceOptions, 'newProjectFile' | 'refOf'> {
  readonly settings?: true;
  /** The exit code is a verdict, so a result whose reader has gone is an error. */
  readonly decides?: boolean;
  /** Refuses options that cannot work together, before anything else. @throws UsageError */
  check?(flags: FlagsOf<Options>, argv: readonly string[]): void;
  /** Returns what this command goes on with, or null. @throws UsageError or ConfigError */
  continues?(io: Io, flags: FlagsOf<Options>): Promise<Continued | null>;
  /** The project file in `--config` may not exist yet. */
  newProjectFile?(flags: FlagsOf<Options>): boolean;
  run(
    context: Context,
    args: ArgsOf<Args>,
    flags: FlagsOf<Options>,
    resumed: ResumedGate | undefined,
  ): Promise<number>;
}

/** The context of a command without settings. */
export interface Bare {
  readonly io: Io;
  /** Returns the program with the commands that the words need, without running them. */
  programFor(words: readonly string[]): Promise<Command>;
}

/** A command that reads no settings, so that a mistake in them cannot stop it. */
export interface BareSpec extends Runnable<Named, Named> {
  readonly settings: false;
  run(bare: Bare, args: Readonly<Record<string, unknown>>, flags: RowFlags): Promise<number>;
}

interface GroupSpec extends Shown {
  readonly commands: readonly Spec[];
}

export type Spec = CommandSpec | BareSpec | GroupSpec;

/** Declares a command. The types of its arguments and options follow from their names. */
export const command = <const Args extends Named, const Options extends Named>(
  spec: CommandSpec<Args, Options>,
): CommandSpec => spec as unknown as CommandSpec;

export const sentenceOf = (clause: string) => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

export const detailed = (told: string | OptionSpec): OptionSpec =>
  typeof told === 'string' ? { help: told } : told;

/** Returns an option that may be given several times. */
export const repeatable = (help: string, completes?: SuggestionSource) =>
  ({ help, repeatable: true, completes }) as const;

/** Puts options under a heading of the help. */
export const under = <const Options extends Named>(group: string, all: Options): Options =>
  Object.fromEntries(
    Object.entries(all).map(([flag, told]) => [flag, { group, ...detailed(told) }]),
  ) as Named as Options;

/** Returns a clause as the last sentence of a help. */
export const noteOf = (clause: string) => (help: Help) => help.boxWrap(sentenceOf(clause), 80);

/** Returns the line about an option in the help: `slug of the project (RUNGATE_PROJECT)`. */
function helpOf(row: OptionRow): string {
  const repeats = row.type.kind === 'list' || row.type.kind === 'overrides' ? ['repeatable'] : [];
  const all = [...repeats, ...(row.env === undefined ? [] : [row.env]), ...remarks(row)].join('; ');
  return all === '' ? row.help : `${row.help} (${all})`;
}

/** Returns the options that a command has of the rows, in their order. `heading` replaces those of the rows in the help. */
export function rowOptions(name: CommandName, heading?: string): Record<never, OptionSpec> {
  const all: Record<string, OptionSpec> = {};
  for (const id of optionIds) {
    const row = name === 'gate' ? gateRow(rowOf(id)) : rowOf(id);
    const { flag, no, commands, unlisted, single, type, complete } = row;
    if (flag === undefined || commands?.includes(name) !== true) continue;
    const group = heading ?? row.group;
    all[flag] = {
      help: helpOf(row),
      group,
      repeatable: type.kind === 'list' || type.kind === 'overrides' || undefined,
      single,
      completes: complete ?? (type.kind === 'overrides' ? overrideWords : type.words),
      hidden: unlisted?.includes(name) === true,
      rare: row.common !== true,
      row: { ...row, id },
    };
    if (no !== undefined) all[`--no-${flagName(row).slice(2)}`] = { help: no, group, rare: true };
  }
  return all;
}
