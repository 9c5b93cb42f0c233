import { parseYaml } from '@redocly/openapi-core';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { exitCodes } from '../../src/exit.ts';
import { textOf } from './pages.ts';

const text = textOf('skills/rungate/SKILL.md');
const [, frontMatter = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
const program = await everyCommand();

/** Returns the text of each code span and of each line in a block of code. */
const codeIn = (page: string) => [
  ...[...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n')),
  ...[...page.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
];

const isOption = (word: string) => word.startsWith('--');
const hasOption = (command: Command, option: string) => command.options.some(({ long }) => long === option);

/** Returns what of a command does not exist: a subcommand or an option. */
function unknownIn(words: readonly string[]): string[] {
  let command: Command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
  }
  if (command.commands.length > 0) return [words.join(' ')];
  return words.filter((word) => isOption(word) && !hasOption(command, word));
}

describe('the skill', () => {
  it('has the front matter of the Agent Skills format', () => {
    const fields = parseYaml(frontMatter) as Record<string, string>;
    expect(Object.keys(fields)).toEqual(['name', 'description']);
    expect(fields.name).toBe('rungate');
    expect(fields.description).toMatch(/^Runs .*\. Use it /);
    expect(fields.description?.length).toBeLessThanOrEqual(1024);
  });

  it('explains each exit code once', () => {
    const rows = [...body.matchAll(/^\| (\d[\d, ]*?) +\|/gm)].flatMap(([, codes = '']) => codes.split(', '));
    expect(rows.map(Number).toSorted((a, b) => a - b)).toEqual(Object.values(exitCodes));
  });

  it('names only commands and options that exist', () => {
    const commands = codeIn(body)
      .map((code) => code.replace(/^npx /, '').split(' '))
      .filter(([first, ...words]) => first === 'rungate' && words.length > 0);
    expect(commands).not.toEqual([]);
    expect(commands.flatMap(([, ...words]) => unknownIn(words))).toEqual([]);
    const options = codeIn(body).flatMap((code) => (isOption(code) ? (code.split(' ')[0] ?? '') : []));
    const gate = program.commands.find((one) => one.name() === 'gate');
    expect(options).not.toEqual([]);
    expect(options.filter((option) => gate === undefined || !hasOption(gate, option))).toEqual([]);
  });
});
