import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { describeHelp, type HelpCommand } from '../../src/commands/help-json.ts';
import { type Result, type Settings, type Stage, stage } from './harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'rungate-json-'));
let on: Stage;
let runId = '';
beforeAll(async () => {
  on = await stage({ outcome: 'passed' });
  const started = await on.rungate('run', 'trigger', '--project', 'shop', '--process', 'checkout', '--json');
  runId = JSON.parse(started.out).runId;
});
afterAll(async () => {
  await on.close();
  rmSync(folder, { recursive: true });
});

/** The commands that print the output of another one, or run until they are stopped: test/commands covers them. */
const withoutResult = ['mock exec', 'mock serve', 'hub', 'webhooks listen'];

/** The arguments of the commands whose example in the help needs a shell, a file or an id of this mock. */
const own: Readonly<Record<string, () => readonly string[]>> = {
  gate: () => ['--project', 'shop', '--process', 'checkout'],
  'run wait': () => [runId],
  'run status': () => [runId],
  'run open': () => [runId],
  'run cancel': () => [runId],
  init: () => ['--project', 'shop', '--process', 'checkout', '--ci', 'github', '--dry-run'],
  login: () => [],
  selftest: () => ['--scenario', 'failed', '--', 'false'],
  completion: () => ['bash'],
  'receipt keygen': () => [join(folder, 'ci')],
};

const program = describeHelp(await everyCommand());
const commands = program.commands
  .filter((command) => command.commands.length === 0)
  .map((command) => [command.name.replace('rungate ', ''), command] as const);

/** Returns the arguments of the first example of a command. */
function argumentsOf(name: string, { examples }: HelpCommand): string[] {
  const line = examples.find((one) => one.startsWith(`rungate ${name}`)) ?? '';
  const words = [...line.replace(/ +#.*/, '').matchAll(/(?:[^\s"]|"[^"]*")+/g)];
  const example = words.map(([word]) => word.replaceAll('"', '')).slice(1 + name.split(' ').length);
  return [...(own[name]?.() ?? example)].filter((word) => word !== '--json' && word !== '--all');
}

interface ErrorDocument {
  code: string;
  hint: string | null;
}

/** Checks that a program can read the result. Returns the error, if there is one beside no result. */
function checkResult({ code, out, err }: Result): ErrorDocument | null {
  if (out !== '') {
    expect(() => JSON.parse(out), out).not.toThrow();
    return null;
  }
  const last = err.trimEnd().split('\n').at(-1) ?? '';
  expect(last, `exit code ${code}, and nothing on standard output`).toMatch(/^\{"error":/);
  const { error } = JSON.parse(last);
  expect(error.hint, error.message).toMatch(/\S/);
  return error;
}

const noSettings = { RUNGATE_API_URL: undefined, RUNGATE_API_KEY: undefined, RUNGATE_TOKEN: undefined };
const wrong = { RUNGATE_API_KEY: 'rg_of_another_service', RUNGATE_TOKEN: 'of-another-service' };

const worlds: Readonly<Record<string, Settings>> = {
  'without a problem': {},
  'without settings': { env: noSettings },
  'with wrong credentials': { env: wrong },
  'when the service cannot be reached': { env: { RUNGATE_API_URL: 'http://127.0.0.1:1' } },
};

describe.each(commands)('rungate %s --json, without a terminal', (name, command) => {
  const words = name.split(' ');
  const files = { 'event.json': '{}', 'capture.http': 'POST / HTTP/1.1\r\nhost: a\r\n\r\n{}' };
  const secrets = { RUNGATE_WEBHOOK_SECRET: 'whsec_0123456789', RUNGATE_CONFIG_DIR: folder };
  const run = (settings: Settings, ...args: string[]) =>
    on.with({ files: { ...files }, ...settings, env: { ...secrets, ...settings.env } })(
      ...words,
      '--json',
      ...args,
    );

  it.skipIf(withoutResult.includes(name)).each(Object.entries(worlds))(
    'prints one document, or an error with a hint: %s',
    async (_world, settings) => {
      checkResult(await run(settings, ...argumentsOf(name, command)));
    },
  );

  it.each([
    ['an unknown option', '--nope'],
    ['arguments that it does not take', 'nope', 'nope', 'nope', 'nope'],
  ])('has a hint for %s', async (_mistake, ...args) => {
    if (name === 'mock exec' || name === 'selftest') return;
    checkResult(await run({}, ...args));
  });

  it.runIf(command.arguments.some(({ required }) => required))(
    'has a hint for missing arguments',
    async () => {
      expect(checkResult(await run({}))?.hint).toContain(`write rungate ${name} `);
    },
  );

  // `env prune` asks only if there is something to delete.
  const needsYes =
    command.options.some(({ flag }) => flag === '--yes') && !['init', 'env prune'].includes(name);
  it.runIf(needsYes)('prints the exact command that acts without a prompt', async () => {
    const args = argumentsOf(name, command).filter((word) => word !== '--yes');
    const error = checkResult(await run({}, ...args));
    expect(error).toMatchObject({
      code: 'usage',
      hint: `add --yes: rungate ${name} --json ${args.join(' ')} --yes`,
    });
  });
});
