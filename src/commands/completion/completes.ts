import type { Argument, Command, Option } from 'commander';
import type { Io } from '../../host/io.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export interface Suggestion {
  readonly value: string;
  /** A short description, for shells that show one. */
  readonly about?: string;
}

/** The line up to the cursor. */
export interface CompletionLine {
  readonly io: Io;
  readonly operands: readonly string[];
  /** The values of the options so far, by commander's names. */
  readonly given: Readonly<Record<string, string | true>>;
  /** The word at the cursor, up to the cursor. */
  readonly typed: string;
}

export type Suggestions = readonly (string | Suggestion)[];

/** The names of lists that are looked up on demand; `sources.ts` has a function for each. */
export type SourceName =
  | 'api-methods'
  | 'api-paths'
  | 'environment-keys'
  | 'faults'
  | 'gates'
  | 'ids'
  | 'overrides'
  | 'plain-settings'
  | 'profiles'
  | 'setting-values'
  | 'settings';

/** A fixed list, or the name of one to look up. `path` and `index` identify the path parameter of `ids`. */
export type SuggestionSource =
  | Suggestions
  | { readonly from: Exclude<SourceName, 'ids'> }
  | { readonly from: 'ids'; readonly path: string; readonly index: number };

/** Not commander's `choices`, which would also validate the values, with its own messages. */
const sources = new WeakMap<Option | Argument, SuggestionSource>();

/** Sets the completions for the value of an option (`--format`) or for an argument (`name`). */
export function completes(command: Command, name: string, source: SuggestionSource): Command {
  const place =
    command.options.find((option) => option.long === name) ??
    command.registeredArguments.find((argument) => argument.name() === name);
  if (place === undefined) throw new Error(`${command.name()} has no ${name} to complete`);
  sources.set(place, source);
  return command;
}

export function sourceOf(place: Option | Argument): SuggestionSource | undefined {
  return sources.get(place);
}
