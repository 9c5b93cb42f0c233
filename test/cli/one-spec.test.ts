import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import type { Spec } from '../../src/commands/spec.ts';
import { commandsPage } from '../generated/commands-page.ts';
import { cli } from './harness.ts';

const taken = vi.hoisted(() => ({ name: '' }));

/** Returns the specs without the one that is taken out. */
function without(specs: readonly Spec[], above = ''): Spec[] {
  const kept = specs.filter(({ name }) => above + name !== taken.name);
  return kept.map((spec) =>
    'commands' in spec ? { ...spec, commands: without(spec.commands, `${above}${spec.name} `) } : spec,
  );
}

vi.mock(import('../../src/commands/other-groups.ts'), async (load) => {
  const real = await load();
  return {
    ...real,
    get otherGroups() {
      return without(real.otherGroups);
    },
  };
});

interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly examples: readonly string[];
  readonly options: readonly { readonly flag: string }[];
}

/** Returns a command, with the options that no other command has. */
async function describe(name: string): Promise<Command & { own: string[] }> {
  const commands: Command[] = JSON.parse((await cli(['help', '--json'])).out).commands;
  const flagsOf = (all: readonly Command[]) => all.flatMap(({ options }) => options.map(({ flag }) => flag));
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  const shared = flagsOf(commands.filter((one) => one !== command));
  return { ...command, own: flagsOf([command]).filter((flag) => !shared.includes(flag)) };
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => [path.replaceAll('\\', '/'), readFileSync(`src/${path}`, 'utf8')] as const);

it.each([
  ['rungate selftest', 'commands/selftest/'],
  ['rungate hub', 'commands/hub/'],
  ['rungate env prune', 'commands/endpoints/'],
  ['rungate webhooks listen', 'commands/webhooks/'],
])('%s is one spec: without it, nothing shows the command or its options', async (name, folder) => {
  const [, ...words] = name.split(' ');
  const group = words.slice(0, -1);
  taken.name = '';
  const { summary, usage, examples, own } = await describe(name);
  expect(own).not.toEqual([]);
  for (const flag of own) {
    const files = sources.filter(([, text]) => new RegExp(`${flag}(?![a-z-])`).test(text));
    expect(files.filter(([path]) => !path.startsWith(folder))).toEqual([]);
  }
  for (const isTaken of [false, true]) {
    taken.name = isTaken ? words.join(' ') : '';
    const shown = [
      [(await cli([...group, '--help'])).out, summary],
      [(await cli(['help', '--json'])).out, JSON.stringify(usage)],
      [(await cli(['completion', '--complete', 'zsh', ...group, ''])).out, summary],
      [commandsPage(await everyCommand()), examples[0] ?? ''],
    ] as const;
    expect(shown.map(([text, part]) => text.includes(part))).toEqual(Array(4).fill(!isTaken));
    const all = shown.map(([text]) => text).join('');
    expect(own.filter((flag) => all.includes(flag))).toEqual(isTaken ? [] : own);
  }
  const { code, err } = await cli(words);
  expect({ code, err }).toEqual({
    code: 64,
    err: expect.stringContaining(`unknown command '${words.at(-1)}'`),
  });
});
