import type { Argument, Command, Option } from 'commander';
import type { Io } from '../../host/io.ts';

/** The shells that words are completed in. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What a person may mean by the word at the cursor. */
export interface Candidate {
  readonly value: string;
  /** A few words on it; shown where the shell shows such. */
  readonly about?: string;
}

/** What stands on the line before the word at the cursor. */
export interface Line {
  readonly io: Io;
  /** The positional words of the command. */
  readonly operands: readonly string[];
  /** The options given so far, as commander names their values. */
  readonly given: Readonly<Record<string, string | true>>;
  /** The word itself, up to the cursor. */
  readonly typed: string;
}

export type Candidates = readonly (string | Candidate)[];

/** Lists that are looked up when a shell asks for them; `sources.ts` has a function for each. */
export type SourceName =
  | 'api-methods'
  | 'api-paths'
  | 'environment-keys'
  | 'faults'
  | 'ids'
  | 'overrides'
  | 'plain-settings'
  | 'profiles'
  | 'setting-values'
  | 'settings';

/** A list that is known in advance, or the name of one that is not. `path` and `index` name the path parameter of `ids`. */
export type Source =
  | Candidates
  | { readonly from: Exclude<SourceName, 'ids'> }
  | { readonly from: 'ids'; readonly path: string; readonly index: number };

/** Beside the options and not in them: commander's own `choices` would check the words too, and say so in its way. */
const sources = new WeakMap<Option | Argument, Source>();

/** Sets what a shell completes after an option (`--format`) or in the place of an argument (`name`). */
export function completes(command: Command, name: string, source: Source): Command {
  const place =
    command.options.find((option) => option.long === name) ??
    command.registeredArguments.find((argument) => argument.name() === name);
  if (place === undefined) throw new Error(`${command.name()} has no ${name} to complete`);
  sources.set(place, source);
  return command;
}

export function sourceOf(place: Option | Argument): Source | undefined {
  return sources.get(place);
}
