/** A command line of bash as far as the cursor, taken apart. */
export interface BashLine {
  /** The words without their quotes; the last is the one at the cursor. */
  readonly words: readonly string[];
  /** Where each word begins in the line. */
  readonly starts: readonly number[];
  /** The quote that is open at the cursor. */
  readonly quote: '' | "'" | '"';
  /** How much of the last word, without its quotes, bash leaves as it is: it replaces what follows. */
  readonly kept: number;
  /** False where quotes open and close within the last word: what bash would replace is not worth guessing. */
  readonly simple: boolean;
}

/** Characters at which readline ends a word, but leaves them to the word that follows. */
const leading = '$@';

/**
 * Takes a line apart as bash does, and finds what of the last word readline replaces: what stands after the last of
 * `breaks` (COMP_WORDBREAKS: `=` and `:` are among them unless a user has taken them out). Nothing is expanded.
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

/** A text as it is written in bash, on its own or inside a quote that is open; nothing in it is expanded. */
export function bashQuoted(text: string, quote: BashLine['quote']): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // In double quotes an interactive bash takes `!` for its history, and a backslash before it stays.
  if (quote === '"') return text.replace(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`);
  return text.replace(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, '\\$&');
}
