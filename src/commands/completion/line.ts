import type { Argument, Command, Option } from 'commander';
import type { CompletionLine } from './completes.ts';

export interface Cursor extends Omit<CompletionLine, 'io'> {
  readonly command: Command;
  /** The options already on the line. */
  readonly seen: ReadonlySet<Option>;
  /** `foreign`: part of the command line of another program. */
  readonly wanted:
    | { readonly kind: 'flag' | 'operand' | 'nothing' | 'foreign' }
    | { readonly kind: 'value'; readonly option: Option };
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
  const cursorAt = (wanted: Cursor['wanted'], attached = ''): Cursor => ({
    command,
    operands,
    given,
    seen,
    wanted,
    attached,
  });

  for (const word of words.slice(0, -1)) {
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
      return cursorAt({ kind: 'foreign' });
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

  if (pending !== undefined) return cursorAt({ kind: 'value', option: pending });
  if (lost) return cursorAt({ kind: 'nothing' });
  if (!literal && typed.startsWith('-')) {
    const option = /^--[^=]+=/.test(typed) ? optionOf(command, typed) : undefined;
    if (option?.required) return cursorAt({ kind: 'value', option }, typed.slice(0, typed.indexOf('=') + 1));
    return cursorAt({ kind: 'flag' });
  }
  if (startsForeignCommand(command, operands)) return cursorAt({ kind: 'foreign' });
  return cursorAt({ kind: 'operand' });
}
