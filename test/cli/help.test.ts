import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { fullName } from '../../src/commands/command.ts';
import { columnsOf } from '../../src/output/text.ts';
import { cli, type Settings, stage } from './harness.ts';

const program = await everyCommand();

const wordsOf = (command: Command): string[] =>
  command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const commands = all(program).map(wordsOf);
const leaves = all(program)
  .filter((command) => command.commands.length === 0)
  .map(wordsOf);

const helpOf = async (words: readonly string[], settings: Settings = {}) =>
  (await cli([...words, '--help'], settings)).out;
const fullHelpOf = (words: readonly string[]) => helpOf([...words, '--all']);

/** The profiles of the examples. */
const folder = mkdtempSync(join(tmpdir(), 'rungate-help-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every command, group and option has a description', () => {
  const described = all(program);
  expect(described.filter((one) => one.description() === '').map(fullName)).toEqual([]);
  const bare = described.flatMap((one) =>
    one.options.filter(({ hidden, description }) => !hidden && description === ''),
  );
  expect(bare.map(({ long }) => long)).toEqual([]);
});

it.each(commands.map((words) => [words.join(' '), words] as const))(
  'rungate %s --help fits 80 columns, in a pipe, on a terminal and in colour',
  async (_name, words) => {
    const plain = await helpOf(words);
    expect(plain).toMatch(/^Usage: rungate/);
    expect(plain.split('\n').filter((line) => columnsOf(line) > 80)).toEqual([]);
    expect(await helpOf(words, { isTTY: true })).toBe(plain);
    expect(await helpOf(words, { isTTY: true, env: { FORCE_COLOR: '1' } })).toBe(plain);
    expect((await fullHelpOf(words)).split('\n').filter((line) => columnsOf(line) > 80)).toEqual([]);
  },
);

it.each(all(program).map((command) => [fullName(command), command] as const))(
  '%s --help --all shows every option, and --help says so',
  async (name, command) => {
    const full = await fullHelpOf(wordsOf(command));
    for (const { flags, hidden } of command.options) if (!hidden) expect(full).toContain(`  ${flags} `);
    expect(await helpOf(wordsOf(command))).toMatch(
      new RegExp(`\\nAll options: ${name} --help --all\\nDocs: .*docs/README.md.*\\n$`),
    );
    expect(full).not.toContain('All options:');
  },
);

it('the help shows the common options of a command first, without their groups', async () => {
  const out = await helpOf(['run', 'trigger']);
  const names = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name);
  expect(names.slice(0, 4)).toEqual(['--project', '--process', '--tag', '--environment']);
  expect(names).toEqual(expect.arrayContaining(['--wait', '--timeout', '--strict', '--json']));
  for (const rare of ['--ref', '--no-strict', '--max-attempts', '--deployed-pointer', '--ca-file'])
    expect(names).not.toContain(rare);
  expect([...out.matchAll(/^\w.*:$/gm)].map(([heading]) => heading)).toEqual(['Options:', 'Examples:']);
});

it.each([
  ['--all', '--help'],
  ['-h', '--all'],
])('%s %s shows every option, too', async (...words) => {
  const full = await fullHelpOf(['run', 'trigger']);
  expect(await cli(['run', 'trigger', ...words])).toEqual({ code: 0, err: '', out: full });
  expect((await cli(['help', 'run', 'trigger', '--all'])).out).toBe(full);
});

it.each(leaves.map((words) => [words.join(' '), words] as const))(
  'rungate %s --help shows an example',
  async (name, words) => {
    const [, ...lines] = (await helpOf(words)).split('\n');
    expect(lines.some((line) => line.includes(`rungate ${name}`))).toBe(true);
  },
);

const groups = all(program)
  .filter((command) => command.commands.length > 0)
  .map(wordsOf);

it.each(groups.map((words) => [words.join(' '), words] as const))(
  'rungate %s help shows the help of the group and of each command in it',
  async (_name, words) => {
    expect((await cli([...words, 'help'])).out).toBe(await helpOf(words));
    for (const below of commands.filter((one) => words.every((word, at) => word === one[at]))) {
      const topic = below.slice(words.length);
      expect((await cli([...words, 'help', ...topic])).out, below.join(' ')).toBe(await helpOf(below));
    }
  },
);

it.each([
  [['help', 'wiat'], /unknown command 'wiat'.*\n.*did you mean rungate run wait/],
  [['run', 'help', 'wiat'], /unknown command 'wiat'.*\n.*did you mean rungate run wait/],
  [['help', 'doctor', 'wiat'], /unknown command 'wiat'.*\n.*see rungate doctor --help/],
])('rungate %j names the unknown command', async (argv, message) => {
  const { code, out, err } = await cli(argv);
  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(err).toMatch(message);
});

it('an argument or a value "help" does not show help', async () => {
  const on = await stage();
  try {
    const { err } = await on.rungate('run', 'status', 'help');
    expect(err).toContain('/api/ci/runs/help');
    expect((await on.rungate('--profile', 'help', 'config', 'list')).err).toContain('"help"');
  } finally {
    await on.close();
  }
});

/** Returns the lines below `Examples:`, with continued lines joined and without comments. */
async function examplesOf(words: readonly string[]): Promise<string[]> {
  const [, text = ''] = (await helpOf(words)).split('\nExamples:\n');
  const [block = ''] = text.split('\n\n');
  return block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/ {2}#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** Splits a line into words as a shell does; the examples use only double quotes. */
const shellWords = (line: string) =>
  [...line.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''));

const projectFile = JSON.stringify({
  project: 'shop',
  gates: { api: { process: 'api-smoke' }, web: { tags: ['web'], needs: ['api'] } },
});

/** Commands that run until they are stopped, or start others; the tests of the docs run these in a shell. */
const elsewhere = [
  'mock serve',
  'mock exec',
  'selftest',
  'webhooks listen',
  'webhooks verify',
  'webhooks sign',
  'hub',
  'receipt keygen',
  'receipt show',
  'receipt verify',
  'init',
  'doctor',
];

it.each(
  leaves
    .filter((words) => !elsewhere.includes(words.join(' ')))
    .map((words) => [words.join(' '), words] as const),
)('the examples of rungate %s work', async (_name, words) => {
  const on = await stage({ outcome: 'passed' });
  try {
    const made = await on.rungate('keys', 'create', '--name', 'old', '--json');
    const key = String(JSON.parse(made.out).id);
    const variables: Record<string, string> = { run: '' };
    for (const line of await examplesOf(words)) {
      const [, name, inner] = /^(\w+)=\$\((.*)\)$/.exec(line) ?? [];
      const command = (inner ?? line).replace(/^printf %s "\$RUNGATE_API_KEY" \| /, '');
      const argv = shellWords(command.replaceAll(/\$(\w+)/g, (_, one: string) => variables[one] ?? ''))
        .slice(1)
        .map((word) => (word === 'key_123' ? key : word));
      const env = { RUNGATE_CONFIG_DIR: `${folder}/${words.join('-')}` };
      const service = (word: string) => word.replace('https://service.example.com', on.mock.url);
      const { code, out, err } = await on.with({
        env,
        stdin: on.mock.apiKey,
        cwd: '/repo',
        files: words.includes('gate') ? { '/repo/.rungate.json': projectFile } : {},
      })(...argv.map(service));
      expect(code, `${line}\n${err}`).toBe(0);
      if (name !== undefined) variables[name] = out.trim();
    }
  } finally {
    await on.close();
  }
});
