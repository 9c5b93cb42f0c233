import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { fullName } from '../../src/commands/command.ts';
import { commandsPage } from '../generated/commands-page.ts';
import { textOf } from './pages.ts';

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

const program = await everyCommand();
const page = commandsPage(program);
const sections = page.split(/^#+ /m);
const sectionOf = (name: string) => sections.find((one) => one.startsWith(`${name}\n`));

/** Returns the section of a command, or its row in the table of its group. */
function placeOf(name: string): string | undefined {
  const group = name.split(' ').slice(0, 2).join(' ');
  const row = `| \`${name.slice(group.length + 1)}`;
  const isRow = (line: string) => line.startsWith(row) && /^[ `]/.test(line.slice(row.length));
  return sectionOf(name) ?? sectionOf(group)?.split('\n').find(isRow);
}

/** Returns the texts that describe options of a command too: sections and tables that its own place links. */
function linkedIn(place: string): string {
  const tables = (sectionOf('Shared options') ?? '').split('\n\n');
  const sets = [...place.matchAll(/\[(\w+ options)\]\(#shared-options\)/g)].map(([, name = '']) =>
    tables.find((one) => one.toLowerCase().startsWith(`| ${name} |`)),
  );
  const names = [...place.matchAll(/those listed under \[`(.+?)`\]/g)];
  return [...sets, ...names.map(([, name = '']) => sectionOf(name))].join('');
}

it.each(leaves(program).map((command) => [fullName(command), command] as const))(
  'the page has %s with every option',
  (name, command) => {
    const place = placeOf(name) ?? '';
    expect(place).not.toBe('');
    for (const { flags, long, hidden, helpGroupHeading } of command.options) {
      if (hidden) continue;
      expect(page).toContain(flags.replaceAll('|', '\\|'));
      if (helpGroupHeading !== 'Global options:')
        expect(place + linkedIn(place)).toMatch(new RegExp(`\`[^\`]*${long}\\b`));
    }
  },
);

it('the page begins with the commands', () => {
  expect(page).toMatch(/^# Commands\n\n\| Gate \|/);
});

/** Returns the pages and the options of each line that leaves options to other pages. */
const elsewhere = [...page.matchAll(/^Options in (.*?): (`--.*)\.$/gm)].map(([, links = '', flags = '']) => ({
  paths: [...links.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => join('docs/reference', path)),
  flags: [...flags.matchAll(/--[a-z-]+/g)].map(([flag]) => flag),
}));

it('the pages that describe options name each of them', () => {
  expect(elsewhere.length).toBeGreaterThan(5);
  const missing = elsewhere.flatMap(({ paths, flags }) => {
    const texts = paths.map(textOf).join('');
    return flags
      .filter((flag) => !new RegExp(`${flag}\\b(?!-)`).test(texts))
      .map((flag) => `${flag}: ${paths}`);
  });
  expect(missing).toEqual([]);
});
