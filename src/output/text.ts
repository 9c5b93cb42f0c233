import type { Io } from '../host/io.ts';
import { sanitize } from '../sanitize.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'dim' | 'bold';

/** Whether to colour output: by NO_COLOR and FORCE_COLOR, else if it is a terminal that supports colours. */
export function wantsColor(env: Io['env'], isTTY: boolean): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') {
    return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  }
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return isTTY && env.TERM !== 'dumb';
}

export type Painter = (tone: Tone, text: string) => string;

/** Returns a function that colours text for standard error, or returns it unchanged if `color` is false. */
export async function painter(color: boolean): Promise<Painter> {
  if (!color) return (_tone, text) => text;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  const tones: Record<Tone, (text: string) => string> = {
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    busy: chalk.cyan,
    dim: chalk.dim,
    bold: chalk.bold,
  };
  return (tone, text) => tones[tone](text);
}

/** Characters that take two columns of a terminal: East Asian wide ones, and emoji. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{3fffd}]|\p{Extended_Pictographic}/u;
const accent = /[\u0300-\u036f]/;
const ascii = /^[ -~]*$/;

/** The text must be sanitized. If terminals differ, the larger number. ora and cli-table3 never count more. */
export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += wide.test(char) ? 2 : accent.test(char) ? 0 : 1;
  return columns;
}

/** Splits a text into characters as a person sees them. */
const graphemes = (text: string) => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

function fitting(characters: readonly string[], columns: number): string[] {
  let width = 0;
  const end = characters.findIndex((character) => {
    width += columnsOf(character);
    return width > columns;
  });
  return characters.slice(0, end < 0 ? undefined : end);
}

/** Shortens a text to the columns, with `…` at the end. */
export function shorten(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${fitting(graphemes(text), columns - 1).join('')}…`;
}

/** Shortens a text to the columns, with `…` in the middle: ids often differ only at the end. */
export function shortenMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 5) return shorten(text, columns);
  const all = graphemes(text);
  const end = fitting(all.toReversed(), Math.floor((columns - 1) / 2))
    .reverse()
    .join('');
  return `${shorten(text, columns - columnsOf(end))}${end}`;
}

/** Colour sequences, which take no columns. */
const paint = /\u001b\[\d+m/g;

/**
 * Returns the parts of a word between which a line may be broken: the characters of a script without spaces, else the
 * whole word, which may be an id or an address.
 */
function breakableParts(word: string): string[] {
  if (ascii.test(word)) return [word];
  const characters = graphemes(word);
  return characters.every((character) => wide.test(character)) ? characters : [word];
}

/** The text must be sanitized. Never breaks addresses, ids and commands. Every line but the first begins with `indent`. */
export function wrapWords(text: string, columns: number, indent: string): string[] {
  const [start = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.slice(start.length).split(' ')) {
    let space = ' ';
    for (const part of word === '' ? [''] : breakableParts(word)) {
      const longer: string = line === null ? start + part : line + space + part;
      if (line !== null && columnsOf(longer.replaceAll(paint, '')) > columns) {
        lines.push(line);
        line = indent + part;
      } else {
        line = longer;
      }
      // At the start of a line, also after spaces, `::` would begin a CI command.
      if (lines.length > 0 && line.trimStart().startsWith('::')) line = sanitize(line);
      space = '';
    }
  }
  return [...lines, line ?? ''];
}
