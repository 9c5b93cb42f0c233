import type { Io } from '../../host/io.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

export interface Suggestion {
  readonly value: string;
  /** A short description, for shells that show one. */
  readonly about?: string;
}

export interface CompletionLine {
  readonly io: Io;
  readonly operands: readonly string[];
  /** The values of the options so far, by commander's names. */
  readonly given: Readonly<Record<string, string | true>>;
}

export type Suggestions = readonly (string | Suggestion)[];

/**
 * A fixed list, one that depends on the line, or the name of one that depends on the settings (in `lists.ts`). Not commander's
 * `choices`, which would also validate the values, with its own messages.
 */
export type SuggestionSource =
  | Suggestions
  | ((line: CompletionLine) => Suggestions)
  | 'environments'
  | 'gates'
  | 'profiles';
