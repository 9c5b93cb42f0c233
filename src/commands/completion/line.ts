import type { Argument, Command, Option } from 'commander';
import type { CompletionLine } from './completes.ts';

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

/** Whether bash reads the text as one word and expands nothing in it. */
export const isPlainInBash = (text: string) => /^[\w./:=@%+,\u0080-\u{10ffff}-]*$/u.test(text);

export interface Cursor extends Omit<CompletionLine, 'io'> {
  readonly command: Command;
  /** The options already on the line. */
  readonly seen: ReadonlySet<Option>;
  readonly wanted:
    | { readonly kind: 'flag' | 'operand' | 'nothing' }
    | { readonly kind: 'value'; readonly option: Option }
    /** The cursor is in another command, which starts at the word with this index. */
    | { readonly kind: 'foreign'; readonly at: number };
  /** The part of the word before the value: for example `--format=`, or empty. */
  readonly attached: string;
}

export function argumentAt(command: Command, index: number): Argument | undefined {
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : undefined);
}

/** Whether the following words belong to another command: `<command...>`. */
function startsForeignCommand(command: Command, operands: readonly string[]): boolean {
  const argument = argumentAt(command, operands.length);
  return argument?.name() === 'command' && argument.variadic;
}

/** Returns the option that a word names: `--format`, `--format=json`, `-q`, or several as in `-qv`. */
function optionOf(command: Command, word: string): Option | undefined {
  const name = word.startsWith('--') ? word.replace(/=.*$/s, '') : word.slice(0, 2);
  return command.options.find(({ long, short }) => name === long || name === short);
}

/** @param words the words after the program's name; the last is the one at the cursor, up to the cursor */
export function cursorOf(program: Command, words: readonly string[]): Cursor {
  let command = program;
  let operands: string[] = [];
  let literal = false;
  let pending: Option | undefined;
  let lost = false;
  const given: Record<string, string | true> = {};
  const seen = new Set<Option>();
  const typed = words.at(-1) ?? '';
  const place = (wanted: Cursor['wanted'], attached = ''): Cursor => ({
    command,
    operands,
    given,
    seen,
    typed: typed.slice(attached.length),
    wanted,
    attached,
  });

  for (const [index, word] of words.slice(0, -1).entries()) {
    if (pending !== undefined) {
      given[pending.attributeName()] = word;
      pending = undefined;
    } else if (!literal && word === '--') {
      literal = true;
    } else if (!literal && word.length > 1 && word.startsWith('-')) {
      const option = optionOf(command, word);
      if (option === undefined) continue;
      seen.add(option);
      const value = /^--[^=]+=(.*)$/s.exec(word)?.[1];
      if (option.required && value === undefined && (word.startsWith('--') || word.length === 2)) {
        pending = option;
      } else {
        given[option.attributeName()] = value ?? true;
      }
    } else if (startsForeignCommand(command, operands)) {
      return place({ kind: 'foreign', at: index });
    } else if (command.commands.length > 0) {
      const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      // In `help run`, the words after help name a command.
      if (next === undefined) lost ||= word !== 'help';
      else {
        command = next;
        operands = [];
      }
    } else {
      operands = [...operands, word];
    }
  }

  if (pending !== undefined) return place({ kind: 'value', option: pending });
  if (lost) return place({ kind: 'nothing' });
  if (!literal && typed.startsWith('-')) {
    const option = /^--[^=]+=/.test(typed) ? optionOf(command, typed) : undefined;
    if (option?.required) return place({ kind: 'value', option }, typed.slice(0, typed.indexOf('=') + 1));
    return place({ kind: 'flag' });
  }
  if (startsForeignCommand(command, operands)) return place({ kind: 'foreign', at: words.length - 1 });
  return place({ kind: 'operand' });
}
