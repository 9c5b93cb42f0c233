import type { Argument, Command, Option } from 'commander';
import type { Io } from '../../host/io.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { type BashLine, bashLine, bashQuoted } from './bash-line.ts';
import { type Candidate, type Line, type Shell, type Source, sourceOf } from './completes.ts';
import { argumentAt, type Place, placeOf } from './line.ts';

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

/** The text of a reply: in the first line what follows, then a candidate a line. The scripts read it. */
function lines(head: string, rest: readonly string[] = []): string {
  return [head, ...rest].map((line) => `${line}\n`).join('');
}

function withAbout({ value, about }: Candidate): string {
  return about ? `${value}\t${about}` : value;
}

/** For zsh and fish, which choose among the candidates and quote them. `attached` is `--format=`, or nothing. */
export function plainReply(answer: Answer, shell: Shell, attached: string): string {
  if (answer.kind === 'command') return lines(`command ${answer.at}`);
  const head = attached === '' ? answer.kind : `${answer.kind} attached`;
  if (answer.kind !== 'words') return lines(head);
  // fish compares with the whole word; zsh is told to leave alone what stands before the value.
  const before = shell === 'fish' ? attached : '';
  return lines(
    head,
    answer.candidates.map(({ value, about = '' }) => withAbout({ value: before + value, about })),
  );
}

/** bash closes the quote after a word, but not where the word ends with one already, though that is of the word itself. */
function closed(text: string, quote: BashLine['quote']): string {
  return quote !== '' && text.endsWith(quote) ? text + quote : text;
}

/** For bash, which takes the lines for what replaces its part of the word. */
export function bashReply(answer: Answer, line: BashLine, attached: string): string {
  // The name of our own program is the first word.
  if (answer.kind === 'command') return lines(`command ${line.starts[answer.at + 1] ?? 0}`);
  if (answer.kind !== 'words') return lines(answer.kind);
  const typed = line.words.at(-1) ?? '';
  if (!line.simple) return lines('words');
  const fitting = answer.candidates
    .map(({ value }) => attached + value)
    .filter((one) => one.startsWith(typed));
  return lines(
    'words',
    fitting.map((one) => closed(bashQuoted(one.slice(line.kept), line.quote), line.quote)),
  );
}

/** Builds the program with the commands that the words call; nothing is run. */
export type ProgramFor = (words: readonly string[]) => Promise<Command>;

/**
 * What the scripts ask for when somebody presses TAB.
 * @param programFor builds the program whose commands and options are offered
 * @param words zsh and fish: those after the program's name, as far as the cursor; bash: COMP_WORDBREAKS, and the line
 * as far as the cursor
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
    await io.out.write(bashReply(await answerTo(place, io), line, place.attached));
    return;
  }
  const place = placeOf(await programFor(words), words);
  await io.out.write(plainReply(await answerTo(place, io), shell, place.attached));
}
