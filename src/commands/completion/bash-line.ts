/** A bash command line up to the cursor, split into words. */
export interface BashLine {
  /** The words without their quotes; the last is the one at the cursor. */
  readonly words: readonly string[];
  readonly starts: readonly number[];
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
  const starts = [...matches.map(({ index }) => index), ...(isComplete ? [line.length] : [])];
  return { words: words.map(withoutQuotes), starts, kept: keptLength(words.at(-1) ?? '', breaks) };
}

/** Tells whether bash reads the text as one word and expands nothing in it. */
export function isPlainInBash(text: string): boolean {
  return /^[\w./:=@%+,\u0080-\u{10ffff}-]*$/u.test(text);
}
