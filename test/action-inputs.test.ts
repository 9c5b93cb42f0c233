import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { argumentRows, argvOf } from '../src/action/inputs.ts';
import { runMain } from '../src/action.ts';
import { githubOutputs } from '../src/ci/reports/outputs.ts';
import { flagName } from '../src/options/table.ts';
import { cli, memoryIo } from './cli/harness.ts';

const manifest = readFileSync(new URL('../action.yml', import.meta.url), 'utf8');

/** Returns the names below a key of action.yml: they are indented by two spaces. */
function names(section: string): string[] {
  const text = new RegExp(`^${section}:\\n([\\s\\S]*?)(?=^\\S|$(?![\\s\\S]))`, 'm').exec(manifest)?.[1] ?? '';
  return [...text.matchAll(/^ {2}["']?([a-z-]+)["']?:$/gm)].map((match) => String(match[1]));
}

describe('action.yml', () => {
  it('declares exactly the outputs that rungate writes', () => {
    const written = githubOutputs(
      { schemaVersion: 1, result: 'fail', exitCode: 1, runs: [] },
      'EOF',
      'receipt.json',
    );
    const outputs = [...written.matchAll(/^(.+)<<EOF$/gm)].map(([, name]) => name);
    expect(names('outputs').sort()).toEqual(outputs.sort());
  });

  it('has an input for every option of rungate gate, except those left out on purpose', async () => {
    const { out } = await cli(['gate', '--help', '--all']);
    const flags = [...out.matchAll(/^\s+(?:-\w, )?--(?:no-)?([a-z-]+)/gm)].map((match) => String(match[1]));
    const inputs = argumentRows.map((row) => flagName(row).slice(2));
    expect(inputs.filter((name) => !flags.includes(name))).toEqual([]);
    // These are useless in an action: it always waits, prints for a log, and sends to one kind of endpoint.
    const useless = [
      'ci-report',
      'wait',
      ...['slice', 'resume', 'new', 'detach', 'resume-pending'],
      'explain-key',
      'dry-run',
      'auth',
      'format',
      'json',
      'quiet',
      'verbose',
      'insecure-http',
      'help',
    ];
    const missing = [...new Set(flags)].filter((name) => !inputs.includes(name) && !useless.includes(name));
    expect(missing).toEqual([]);
  });
});

it.each([
  ['a fork', { GITHUB_EVENT_NAME: 'pull_request' }, 'a maintainer can push the commit to a branch'],
  ['Dependabot', { GITHUB_ACTOR: 'dependabot[bot]' }, 'Settings → Secrets and variables → Dependabot'],
  ['a branch', { GITHUB_EVENT_NAME: 'push' }, 'check that the secret exists'],
])('an empty api-key in a job of %s is an error that says what works', async (_who, env, says) => {
  const toolkit = { getInput: () => '', getState: () => '', saveState() {}, setSecret() {} };
  const { io, printed } = memoryIo({ env });
  expect(await runMain(toolkit, io)).toBe(78);
  expect(printed().err).toMatch(/^::error title=rungate::the input api-key is empty; .+\n$/);
  expect(printed().err).toContain(says);
});

describe('the input gates', () => {
  const argv = (inputs: Record<string, string>) => argvOf((name) => inputs[name] ?? '');

  it.each<[Record<string, string>, string[]]>([
    [{}, ['gate']],
    [{ gates: 'api, web\nperf', 'fail-fast': 'true' }, ['gate', '--fail-fast', '--', 'api', 'web', 'perf']],
    [
      { gates: 'api', 'idempotency-key': 'auto', 'fail-fast': 'false' },
      ['gate', '--idempotency-key=auto', '--', 'api'],
    ],
  ])('of %j becomes %j', (inputs, expected) => expect(argv(inputs)).toEqual(expected));
});

describe('the command line for the inputs', () => {
  const argv = (inputs: Record<string, string>) => argvOf((name) => inputs[name] ?? '').slice(1);

  it.each<[Record<string, string>, string[]]>([
    [{ strict: 'False' }, ['--no-strict']],
    [{ 'cancel-on-interrupt': 'false' }, ['--no-cancel-on-interrupt']],
  ])('of %j is %j', (inputs, expected) => expect(argv(inputs)).toEqual(expected));
});
