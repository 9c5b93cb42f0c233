import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { Flags } from '../options/table.ts';
import { echoed, nearest } from '../suggest.ts';
import { addOptions } from './options.ts';

/** Adds the options that every command accepts, before and after its name. */
export function addGlobals(command: Command): Command {
  // A group that is also a command already has them.
  if (command.options.some((option) => option.long === '--api-url')) return command;
  return addOptions(command, 'every').helpOption('-h, --help', 'show this help');
}

export function oneOf<const Word extends string>(
  option: string,
  words: readonly Word[],
  given: string,
): Word {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  const near = nearest(given, words);
  throw new UsageError(`${option}: ${echoed(given)} is not one of ${words.join(', ')}`, {
    hint: near === null ? undefined : `did you mean ${near}?`,
  });
}

export function filled(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && value.trim() === '') {
    throw new UsageError(`${option} is empty`, { hint: `give ${option} a value, or leave it out` });
  }
  return value;
}

export function chosenFormat({ json, format }: Flags): Flags['format'] {
  if (json !== true) return format;
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError(`--json and --format ${format} cannot be combined`, { hint: 'give one of them' });
}
