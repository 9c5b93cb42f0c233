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

/** What colours text and takes no column. */
const paint = /\u001b\[\d+m/g;

/** The parts of a word that may stand in lines of their own: wide characters, and the members of JSON. */
function* partsOf(word: string): Iterable<string> {
  if (ascii.test(word)) return yield* word.split(/(?<=,)(?=["[{])/);
  let part = '';
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (wide.test(segment)) {
      if (part !== '') yield part;
      yield segment;
      part = '';
    } else {
      part += segment;
    }
  }
  if (part !== '') yield part;
}

/**
 * Harmless text in lines of so many columns, broken where words end: an address, an id or a command stays in one piece,
 * however long it is. Every line but the first begins with `indent`.
 */
export function wrapWords(text: string, columns: number, indent: string): string[] {
  const [start = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.slice(start.length).split(' ')) {
    let space = ' ';
    for (const part of word === '' ? [''] : partsOf(word)) {
      const longer: string = line === null ? start + part : line + space + part;
      if (line !== null && columnsOf(longer.replaceAll(paint, '')) > columns) {
        lines.push(line);
        // At the start of a line a CI would take it for a command.
        line = indent + (part.startsWith('::') ? sanitize(part) : part);
      } else {
        line = longer;
      }
      space = '';
    }
  }
  return [...lines, line ?? ''];
}
