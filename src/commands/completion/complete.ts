import type { Command } from 'commander';
import type { Io } from '../../host/io.ts';
import { type Answer, answerTo } from './answer.ts';
import { type BashLine, bashLine, bashQuoted } from './bash-words.ts';
import type { Candidate, Shell } from './completes.ts';
import { placeOf } from './line.ts';

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
