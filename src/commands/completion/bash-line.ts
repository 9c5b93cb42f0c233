/** A bash command line up to the cursor, split into words. */
export interface BashLine {
  /** The words without their quotes; the last is the one at the cursor. */
  readonly words: readonly string[];
  /** The position of each word in the line. */
  readonly starts: readonly number[];
  /** The quote that is open at the cursor. */
  readonly quote: '' | "'" | '"';
  /** The length of the part of the last word, without quotes, that bash keeps. It replaces the rest. */
  readonly kept: number;
  /** False if quotes open and close within the last word, so that the part that bash replaces is uncertain. */
  readonly simple: boolean;
}

/** Word breaks that readline counts to the following word. */
const leading = '$@';

/**
 * Splits a line as bash does, without expansion. Also finds the part of the last word that readline replaces: the part after
 * the last of `breaks` (COMP_WORDBREAKS, which has `=` and `:` unless the user removed them).
 */
export function bashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  const starts: number[] = [];
  let word: string | null = null;
  let quote: BashLine['quote'] = '';
  let kept = 0;
  let simple = true;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    if (word === null) {
      if (/\s/.test(char)) continue;
      starts.push(at);
      word = '';
      kept = 0;
      simple = true;
    }
    if (quote === "'") {
      if (char !== "'") word += char;
      else [quote, simple] = ['', false];
    } else if (quote === '"') {
      if (char === '"') [quote, simple] = ['', false];
      else if (char === '\\' && /[$`"\\]/.test(line.charAt(at + 1))) word += line.charAt(++at);
      else word += char;
    } else if (/\s/.test(char)) {
      words.push(word);
      word = null;
    } else if (char === "'" || char === '"') {
      quote = char;
      kept = word.length;
    } else if (char === '\\') {
      word += line.charAt(++at);
    } else {
      if (breaks.includes(char)) kept = word.length + (leading.includes(char) ? 0 : 1);
      word += char;
    }
  }
  if (word === null) {
    starts.push(line.length);
    kept = 0;
    simple = true;
  }
  words.push(word ?? '');
  return { words, starts, quote, kept, simple };
}

/** Quotes a text for bash, either outside quotes or within an open quote, so that bash expands nothing in it. */
export function bashQuoted(text: string, quote: BashLine['quote']): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // Within double quotes, an interactive bash expands `!`, and keeps a backslash before it.
  if (quote === '"') return text.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`);
  return text.replace(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, '\\$&');
}
