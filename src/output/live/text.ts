// Measured by a library: emoji, combining marks and Hangul are a table that changes with Unicode.
import stringWidth from 'string-width';

/** How many columns of a terminal a text takes; colours and links take none. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

const segmenter = new Intl.Segmenter();

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The longest beginning that takes no more than so many columns. */
function fitting(parts: readonly string[], columns: number): string {
  let text = '';
  for (const part of parts) {
    if (columnsOf(text + part) > columns) break;
    text += part;
  }
  return text;
}

/** Text of at most so many columns; what is left out at the end shows as `…`. */
export function shorten(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${fitting(graphemes(text), columns - 1)}…`;
}

/** The same, with the end kept: ids often differ there alone. */
export function shortenMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 5) return shorten(text, columns);
  const parts = graphemes(text);
  const end = fitting(parts.toReversed(), Math.floor((columns - 1) / 2));
  const tail = graphemes(end).toReversed().join('');
  return `${fitting(parts, columns - 1 - columnsOf(tail))}…${tail}`;
}

/** Text in a column of its own: cut or filled up to the width. */
export function pad(text: string, columns: number, align: 'left' | 'right'): string {
  const gap = ' '.repeat(Math.max(0, columns - columnsOf(text)));
  return align === 'left' ? text + gap : gap + text;
}

/** A time as a clock shows it: `0:07`, `12:05`, `1:02:05`. It is as wide a second later, so that nothing jumps. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
