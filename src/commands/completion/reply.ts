import type { Answer } from './answer.ts';
import { type BashLine, bashQuoted } from './bash-words.ts';
import type { Candidate } from './completes.ts';
import type { Shell } from './shells.ts';

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
