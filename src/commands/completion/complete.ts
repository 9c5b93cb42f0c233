import type { Argument, Command, Option } from 'commander';
import type { Io } from '../../host/io.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { type Candidate, type Line, type Shell, type Source, sourceOf } from './completes.ts';
import { argumentAt, type BashLine, bashLine, isPlainInBash, type Place, placeOf } from './line.ts';
import { candidatesOf } from './sources.ts';

/** The response to the shell: candidates, or what the shell itself should complete. */
type Answer =
  | { readonly kind: 'words'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'files' | 'folders' }
  /** Complete the other command that starts at the word with this index. */
  | { readonly kind: 'command'; readonly at: number };

const words = (candidates: readonly Candidate[]): Answer => ({ kind: 'words', candidates });

/** Leaves an unsafe candidate out, because sanitising would turn it into another value. */
function harmless(candidates: readonly (string | Candidate)[]): Candidate[] {
  return candidates
    .map((one): Candidate => (typeof one === 'string' ? { value: one } : one))
    .filter(({ value }) => value !== '' && value === sanitize(value))
    .map(({ value, about = '' }) => ({ value, about: excerpt(about, 80) }));
}

async function lookUp(source: Source, line: Line): Promise<Answer> {
  try {
    return words(harmless(await candidatesOf(source, line)));
  } catch {
    // No message at the prompt: the command itself will report the error.
    return words([]);
  }
}

/** Returns the placeholder of a value: `file` for `--junit <file>`. */
function placeholder(place: Option | Argument): string {
  return 'flags' in place ? (/[<[]([^<>[\]]+)[>\]]/.exec(place.flags)?.[1] ?? '') : place.name();
}

async function valuesOf(place: Option | Argument, line: Line): Promise<Answer> {
  const source = sourceOf(place);
  if (source !== undefined) return lookUp(source, line);
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

/** Returns the options in the help, without those already on the line, unless they are repeatable. */
function flags(command: Command, seen: ReadonlySet<Option>): Candidate[] {
  const help = command.createHelp();
  const open = help.visibleOptions(command).filter((one) => !seen.has(one) || one.parseArg !== undefined);
  return open.map((option) => ({
    value: option.long ?? option.short ?? '',
    about: help.optionDescription(option),
  }));
}

async function answerTo(place: Place, io: Io): Promise<Answer> {
  const { wanted, command, operands, seen } = place;
  if (wanted.kind === 'foreign') return { kind: 'command', at: wanted.at };
  if (wanted.kind === 'value') return valuesOf(wanted.option, { ...place, io });
  if (wanted.kind === 'nothing') return words([]);
  if (wanted.kind === 'flag') return words(harmless(flags(command, seen)));
  if (command.commands.length > 0) return words(harmless(subcommands(command)));
  const argument = argumentAt(command, operands.length);
  // No argument is expected, so offer the options.
  return argument === undefined
    ? words(harmless(flags(command, seen)))
    : valuesOf(argument, { ...place, io });
}

/** Returns the output that the scripts read: the kind of completion in the first line, then one candidate per line. */
function lines(head: string, rest: readonly string[] = []): string {
  return [head, ...rest].map((line) => `${line}\n`).join('');
}

function withAbout({ value, about }: Candidate): string {
  return about ? `${value}\t${about}` : value;
}

/** Returns the output for zsh and fish, which filter and quote the candidates. `attached` is for example `--format=`, or empty. */
function plainOutput(answer: Answer, shell: Shell, attached: string): string {
  if (answer.kind === 'command') return lines(`command ${answer.at}`);
  const head = attached === '' ? answer.kind : `${answer.kind} attached`;
  if (answer.kind !== 'words') return lines(head);
  // fish matches the whole word; the zsh script skips the part before the value.
  const before = shell === 'fish' ? attached : '';
  return lines(
    head,
    answer.candidates.map(({ value, about = '' }) => withAbout({ value: before + value, about })),
  );
}

/** Returns the output for bash, which inserts a line of it unquoted in place of the last part of the word. */
export function bashOutput(
  answer: Answer,
  { words: typedWords, starts, kept }: BashLine,
  attached: string,
): string {
  // The first word of the line is the program itself.
  if (answer.kind === 'command') return lines(`command ${starts[answer.at + 1] ?? 0}`);
  if (answer.kind !== 'words') return lines(answer.kind);
  if (kept === null) return lines('words');
  const typed = typedWords.at(-1) ?? '';
  const fitting = answer.candidates
    .map(({ value }) => attached + value)
    .filter((word) => word.startsWith(typed) && isPlainInBash(word));
  return lines(
    'words',
    fitting.map((word) => word.slice(kept)),
  );
}

/** Builds the program with the commands that the words need, without running them. */
export type ProgramFor = (words: readonly string[]) => Promise<Command>;

/**
 * Prints the completions. The shell scripts call it when the user presses TAB.
 * @param words zsh and fish: the words after the program's name, up to the cursor; bash: COMP_WORDBREAKS, and the line up to
 * the cursor
 * @param programFor builds the program whose commands and options are offered
 */
export async function completeCommand(
  io: Io,
  shell: Shell,
  words: readonly string[],
  programFor: ProgramFor,
): Promise<void> {
  if (shell === 'bash') {
    const [breaks = '', text = ''] = words;
    const line = bashLine(text, breaks);
    const own = line.words.slice(1);
    const place = placeOf(await programFor(own), own);
    await io.out.write(bashOutput(await answerTo(place, io), line, place.attached));
    return;
  }
  const place = placeOf(await programFor(words), words);
  await io.out.write(plainOutput(await answerTo(place, io), shell, place.attached));
}
