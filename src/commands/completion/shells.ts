import bash from '../../../templates/completion/rungate.bash?raw';
import fish from '../../../templates/completion/rungate.fish?raw';
import powershell from '../../../templates/completion/rungate.ps1?raw';
import zsh from '../../../templates/completion/rungate.zsh?raw';
import type { Shell, Suggestion } from './completes.ts';

/** The scripts evaluate nothing in the program's output. bash 3.2 (macOS), zsh 5, fish 3 and Windows PowerShell 5.1 run them. */
export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell };

/** The response to the shell: candidates, or what the shell itself should complete. */
export interface Answer {
  readonly kind: 'words' | 'files' | 'folders';
  readonly candidates: readonly Suggestion[];
}

export interface BashLine {
  /** The words without their quotes; the last is the one at the cursor. */
  readonly words: readonly string[];
  /** The length of the part of the last word that bash keeps, before what it replaces; null if a quote makes it uncertain. */
  readonly kept: number | null;
}

const wordPattern = /(?:[^\s'"\\]|\\.?|'[^']*'?|"(?:[^"\\]|\\.)*"?)+/gs;

function withoutQuotes(word: string): string {
  return word.replace(/'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.?)/gs, (_all, single, double, escaped) =>
    String(single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped),
  );
}

/** Readline replaces the text after an open quote, or after the last word break; it counts `$` and `@` to the text after them. */
function keptLength(word: string, breaks: string): number | null {
  const [, quoted, text] = /^(?:([^'"\\]*)['"])?([^'"\\]*)$/.exec(word) ?? [];
  if (text === undefined) return null;
  if (quoted !== undefined) return quoted.length;
  const last = [...text].findLastIndex((char) => breaks.includes(char));
  return last === -1 || '$@'.includes(text.charAt(last)) ? Math.max(last, 0) : last + 1;
}

/** Splits as bash does, without expansion. `breaks` is COMP_WORDBREAKS, which has `=` and `:` unless the user removed them. */
export function bashLine(line: string, breaks: string): BashLine {
  const matches = [...line.matchAll(wordPattern)];
  const last = matches.at(-1);
  const isComplete = last === undefined || last.index + last[0].length < line.length;
  const words = [...matches.map(([word]) => word), ...(isComplete ? [''] : [])];
  return { words: words.map(withoutQuotes), kept: keptLength(words.at(-1) ?? '', breaks) };
}

/**
 * The words that these shells read as one word, without expansion, although they get them unquoted. In PowerShell, an at sign
 * begins a splat, and typographic quotes are quotes. The other shells quote.
 */
const plainIn: Partial<Record<Shell, RegExp>> = {
  bash: /^[\w./:=@%+,\u0080-\u{10ffff}-]*$/u,
  powershell: /^[\w./:=+-][\w./:=@%+-]*$/,
};

/** The word at the cursor. */
interface Typed {
  readonly word: string;
  /** For example `--format=`, or empty. */
  readonly attached: string;
  /** The length of the part that bash keeps, as in `BashLine`. */
  readonly kept: number | null;
}

function rowsFor(shell: Shell, candidates: readonly Suggestion[], { word, attached, kept }: Typed): string[] {
  // The zsh script skips the part before the value. Only zsh and fish filter the candidates.
  const before = shell === 'zsh' ? '' : attached;
  const whole = candidates.map(({ value, about }) => ({ value: before + value, about }));
  const plain = plainIn[shell];
  const fitting = whole.filter(({ value }) => !plain || (value.startsWith(word) && plain.test(value)));
  if (shell === 'bash') return kept === null ? [] : fitting.map(({ value }) => value.slice(kept));
  return fitting.map(({ value, about }) => (about ? `${value}\t${about}` : value));
}

/** Returns the output that the scripts read: the kind of completion in the first line, then one candidate per line. */
export function responseTo(shell: Shell, { kind, candidates }: Answer, typed: Typed): string {
  const head = typed.attached === '' ? kind : `${kind} attached`;
  return [head, ...rowsFor(shell, candidates, typed)].map((line) => `${line}\n`).join('');
}

/** Returns the words after the program's name; the last is the one at the cursor. */
export function readLine(shell: Shell, given: readonly string[]): BashLine {
  const [first = '', line = ''] = given;
  if (shell === 'powershell') return { words: Buffer.from(first, 'base64').toString().split('\n'), kept: 0 };
  if (shell !== 'bash') return { words: given, kept: 0 };
  const { words: whole, kept } = bashLine(line, first);
  return { words: whole.slice(1), kept };
}
