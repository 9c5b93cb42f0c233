import { sanitize } from '../sanitize.ts';

/** Characters that take two columns of a terminal: East Asian wide ones, and emoji. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{3fffd}]|\p{Extended_Pictographic}/u;
const accent = /[\u0300-\u036f]/;
const ascii = /^[ -~]*$/;

/** How many columns harmless text takes; where terminals differ, the larger number. ora and cli-table3 count no more. */
export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += wide.test(char) ? 2 : accent.test(char) ? 0 : 1;
  return columns;
}

/** The characters as a person sees them. */
const graphemes = (text: string) => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

/** The first of these characters that take no more than so many columns. */
function fitting(characters: readonly string[], columns: number): string[] {
  let width = 0;
  const end = characters.findIndex((character) => {
    width += columnsOf(character);
    return width > columns;
  });
  return characters.slice(0, end < 0 ? undefined : end);
}

/** Text of at most so many columns; what is left out at the end shows as `…`. */
export function shorten(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${fitting(graphemes(text), columns - 1).join('')}…`;
}

/** The same, with the end kept: ids often differ there alone. */
export function shortenMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 5) return shorten(text, columns);
  const all = graphemes(text);
  const end = fitting(all.toReversed(), Math.floor((columns - 1) / 2))
    .reverse()
    .join('');
  return `${shorten(text, columns - columnsOf(end))}${end}`;
}

/** What colours text and takes no column. */
const paint = /\u001b\[\d+m/g;

/**
 * The parts of a word that may stand in lines of their own: the whole word, or each character of a script without spaces.
 * A word that has other characters too may be an id or an address.
 */
function partsOf(word: string): string[] {
  if (ascii.test(word)) return [word];
  const characters = graphemes(word);
  return characters.every((character) => wide.test(character)) ? characters : [word];
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
