import type { Argument, Command, Option } from 'commander';
import type { Io } from '../../host/io.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { type Candidate, type Line, type Source, sourceOf } from './completes.ts';
import { argumentAt, type Place } from './line.ts';

/** What the shell is told: words to choose from, or what to look for by itself. */
export type Answer =
  | { readonly kind: 'words'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'files' | 'folders' }
  /** What the command that begins with the word of that index takes. */
  | { readonly kind: 'command'; readonly at: number };

const words = (candidates: readonly Candidate[]): Answer => ({ kind: 'words', candidates });

/**
 * Candidates that can be written on a command line as they are. One that would have to be changed to be harmless would
 * be another value, so it is left out.
 */
function harmless(candidates: readonly (string | Candidate)[]): Candidate[] {
  return candidates
    .map((one): Candidate => (typeof one === 'string' ? { value: one } : one))
    .filter(({ value }) => value !== '' && value === sanitize(value))
    .map(({ value, about = '' }) => ({ value, about: excerpt(about, 80) }));
}

async function ask(source: Source, line: Line): Promise<Answer> {
  try {
    const { candidatesOf } = await import('./sources.ts');
    return words(harmless(await candidatesOf(source, line)));
  } catch {
    // A person presses TAB for a word, not for a message: what is wrong is said by the command itself.
    return words([]);
  }
}

/** What stands for a value: `<file>` in `--junit <file>`. */
function placeholder(place: Option | Argument): string {
  return 'flags' in place ? (/[<[]([^<>[\]]+)[>\]]/.exec(place.flags)?.[1] ?? '') : place.name();
}

async function valuesOf(place: Option | Argument, line: Line): Promise<Answer> {
  const source = sourceOf(place);
  if (source !== undefined) return ask(source, line);
  const what = placeholder(place);
  if (what === 'file') return { kind: 'files' };
  return what === 'folder' ? { kind: 'folders' } : words([]);
}

function subcommands(command: Command): Candidate[] {
  const help = command.createHelp();
  return help.visibleCommands(command).map((one) => ({
    value: one.name(),
    about: help.subcommandDescription(one),
  }));
}

/** The options that help shows, without those that stand there already and count only once. */
function flags(command: Command, seen: ReadonlySet<Option>): Candidate[] {
  const help = command.createHelp();
  const open = help.visibleOptions(command).filter((one) => !seen.has(one) || one.parseArg !== undefined);
  return open.map((option) => ({
    value: option.long ?? option.short ?? '',
    about: help.optionDescription(option),
  }));
}

/** What may stand at a place of the line. */
export async function answerTo(place: Place, io: Io): Promise<Answer> {
  const { wanted, command, operands, seen } = place;
  if (wanted.kind === 'foreign') return { kind: 'command', at: wanted.at };
  if (wanted.kind === 'value') return valuesOf(wanted.option, { ...place, io });
  if (wanted.kind === 'nothing') return words([]);
  if (wanted.kind === 'flag') return words(harmless(flags(command, seen)));
  if (command.commands.length > 0) return words(harmless(subcommands(command)));
  const argument = argumentAt(command, operands.length);
  // Nothing more is called for: then what may be added is of use.
  return argument === undefined
    ? words(harmless(flags(command, seen)))
    : valuesOf(argument, { ...place, io });
}
