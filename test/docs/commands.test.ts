import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { fullName } from '../../src/commands/command.ts';
import { commandsPage } from '../generated/commands-page.ts';

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

it('the page has every command and every option', async () => {
  const program = await everyCommand();
  const page = commandsPage(program);
  const commands = leaves(program);
  expect(commands).not.toEqual([]);
  for (const command of commands) {
    const { name, parent } = { name: command.name(), parent: command.parent?.name() };
    expect(page).toMatch(new RegExp(`^#{2,4} rungate (.* )?(${parent} )?${name}$`, 'm'));
    const sections = page.split(/^#+ /m);
    const section = sections.find((one) => one.startsWith(`${fullName(command)}\n`));
    for (const { flags, hidden, helpGroupHeading } of command.options) {
      const place = helpGroupHeading === 'Global options:' ? page : section;
      if (!hidden) expect(place, name).toContain(flags.replaceAll('|', '\\|'));
    }
  }
});
