import { sanitize } from '../sanitize.ts';

/** Characters that take two columns of a terminal: East Asian wide ones, and emoji. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f000}-\u{3fffd}]|\p{Extended_Pictographic}/u;
const accent = /[\u0300-\u036f]/;
const ascii = /^[ -~]*$/;

/** How many columns a text takes; where terminals differ, the larger number. */
export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += wide.test(char) ? 2 : accent.test(char) ? 0 : 1;
  return columns;
}

/** What must not be torn apart: a letter and its accents, an emoji of several characters. */
function* graphemes(text: string): Iterable<string> {
  if (ascii.test(text)) return yield* text;
  for (const { segment } of new Intl.Segmenter().segment(text)) yield segment;
}

/** Harmless text in lines of so many columns; none of them begins with a CI's command either. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const grapheme of graphemes(text)) {
    const next = grapheme === ':' && line.trimStart() === ':' ? ' :' : grapheme;
    if (line !== '' && columnsOf(line + next) > columns) {
      lines.push(line);
      line = grapheme;
    } else {
      line += next;
    }
  }
  return [...lines, line];
}

/** What colours text and takes no column. */
const paint = /\u001b\[\d+m/g;

/**
 * Harmless text in lines of so many columns, broken at spaces only: an address or a command stays in one piece, however
 * long it is. Every line but the first begins with `indent`.
 */
export function wrapWords(text: string, columns: number, indent: string): string[] {
  const [start = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.slice(start.length).split(' ')) {
    const longer: string = line === null ? start + word : `${line} ${word}`;
    if (line !== null && columnsOf(longer.replaceAll(paint, '')) > columns) {
      lines.push(line);
      // At the start of a line a CI would take it for a command.
      line = indent + (word.startsWith('::') ? sanitize(word) : word);
    } else {
      line = longer;
    }
  }
  return [...lines, line ?? ''];
}
