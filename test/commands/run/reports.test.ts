import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import {
  azureCommand,
  githubCommand,
  githubFile,
  gitlabVariables,
  linesOf,
} from '../../ci/reports/readers.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on?.close());

const reports = ['--junit', 'junit.xml', '--report', 'gate.json', '--report', 'gate.env'] as const;

/** Runs a gate over one run. Returns its result and its files. */
async function gate(options: MockOptions, flags: readonly string[] = [], settings: Settings = {}) {
  on = await stage({ duration: 25_000, ...options });
  const files: Record<string, string> = {};
  const result = await on.with({ files, ...settings })(...trigger, '--wait', '--json', ...flags);
  return { ...result, files };
}

const github = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: '/gh/output', GITHUB_STEP_SUMMARY: '/gh/summary' };
const commandsIn = (err: string) =>
  linesOf(err)
    .map(githubCommand)
    .filter((command) => command !== null);

describe('the requested reports', () => {
  it.each([
    ['passed', [], 0, 'pass', 'passed', null],
    ['failed', [], 1, 'fail', 'failed', 'failure'],
    ['blocked', [], 2, 'fail', 'blocked', 'failure'],
    ['stuck', [], 3, 'fail', 'timeout', 'error'],
    ['cancelled', [], 0, 'warn', 'cancelled', 'skipped'],
    ['cancelled', ['--strict'], 4, 'fail', 'cancelled', 'failure'],
    ['failed', ['--on', 'failed=warn'], 0, 'warn', 'failed', 'failure'],
    ['failed', ['--on', 'failed=pass'], 0, 'pass', 'failed', 'failure'],
    ['cancelled', ['--on', 'cancelled=pass'], 0, 'pass', 'cancelled', 'skipped'],
  ] as const)(
    'agree with the exit code of a run that %s, with %j',
    async (outcome, flags, code, action, verdict, element) => {
      const { files, ...result } = await gate({ outcome }, [...reports, ...flags]);
      expect(result.code).toBe(code);
      expect(files['gate.json']).toBe(result.out);
      expect(JSON.parse(files['gate.json'] ?? '')).toMatchObject({ result: action, exitCode: code });
      expect(/<(failure|error|skipped) /.exec(files['junit.xml'] ?? '')?.[1] ?? null).toBe(element);
      expect(files['junit.xml']).toContain('classname="shop.checkout"');
      const variables = Object.fromEntries(gitlabVariables(files['gate.env'] ?? ''));
      expect(variables).toMatchObject({
        RUNGATE_RESULT: action,
        RUNGATE_EXIT_CODE: String(code),
        RUNGATE_VERDICT: verdict,
      });
      expect(Object.keys(files).sort()).toEqual(['gate.env', 'gate.json', 'junit.xml']);
    },
  );
});

it('a failed run that the policy lets pass is a warning everywhere in GitHub', async () => {
  const { code, err, out, files } = await gate({ outcome: 'failed' }, ['--on', 'failed=pass'], {
    env: github,
  });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ result: 'pass', runs: [{ action: 'pass', verdict: 'failed' }] });
  expect(commandsIn(err).map((command) => command.name)).toEqual(['warning']);
  expect(err).toMatch(/! WARNING: shop \/ checkout \(run \S+\) failed: 2 failed, 0 blocked/);
  expect(files['/gh/summary']).toMatch(/⚠️ rungate: gate passed with 1 warning/);
  expect(files['/gh/summary']).not.toContain('✅');
});

describe('a report that cannot be written', () => {
  it('fails a passing gate with 78 and an error', async () => {
    const { code, err, out, files } = await gate({ outcome: 'passed' }, [...reports, '-q'], {
      unwritable: ['junit.xml'],
      env: github,
    });
    expect(code).toBe(78);
    expect(Object.fromEntries(githubFile(files['/gh/output'] ?? ''))['exit-code']).toBe('78');
    expect(err).toMatch(
      /error: the report junit\.xml could not be written: EACCES.*\n {2}→ name a file that/,
    );
    expect(files['gate.json']).toBe(out);
  });

  it.each([
    [['--junit', 'junit.xml'], 'report junit.xml'],
    [['--report', 'gate.md', '--report', 'gate.json'], 'report gate.json'],
    [['--receipt', 'receipt.json', '--commit-sha', 'a'.repeat(40)], 'receipt receipt.json'],
  ])('is refused before the run is created if it is read-only: %j', async (flags, what) => {
    const result = await gate({}, flags, { readOnly: ['junit.xml', 'gate.json', 'receipt.json'] });
    expect(result.code).toBe(78);
    expect(JSON.parse(result.err).error).toMatchObject({
      message: expect.stringMatching(`^the ${what} cannot be written: EROFS`),
      hint: expect.stringContaining('read-only'),
    });
    expect([on.mock.requests, Object.keys(result.files)]).toEqual([[], []]);
  });
});

describe('refused before anything is sent', () => {
  it.each([
    [['--wait', '--junit', '-'], /need a file/],
    [['--wait', '--report', ''], /--report is empty/],
    [['--wait', '--junit', 'a/b.xml', '--report', './a/b.xml'], /the same file/],
    [['--junit', 'a.xml'], /--junit has no effect without --wait/],
    [['--report', 'a.json', '--no-ci-report'], /--report and --no-ci-report have no effect without --wait/],
  ])('%j', async (flags, message) => {
    on = await stage();
    const { code, err } = await on.rungate(...trigger, ...flags);
    expect(code).toBe(64);
    expect(err).toMatch(message);
    expect(on.mock.requests).toHaveLength(0);
  });
});

describe('in GitHub Actions', () => {
  it('writes outputs, summary and annotation automatically', async () => {
    const { code, out, err, files } = await gate({ outcome: 'failed' }, [], { env: github });
    const [run] = JSON.parse(out).runs;
    expect(code).toBe(1);
    expect(githubFile(files['/gh/output'] ?? '')).toEqual([
      ['run-id', run.runId],
      ['verdict', 'failed'],
      ['result', 'fail'],
      ['exit-code', '1'],
      ['failed', '2'],
      ['blocked', '0'],
      ['app-url', run.appUrl],
    ]);
    expect(files['/gh/summary']).toContain('gate failed (exit 1)');
    expect(commandsIn(err).map(({ name }) => name)).toEqual(['error']);
    expect(githubCommand(out)).toBeNull();
  });
});

describe('in other CI systems', () => {
  it('writes logging commands for Azure to standard error', async () => {
    const { err, out } = await gate({ outcome: 'blocked' }, [], { env: { TF_BUILD: 'True' } });
    const commands = linesOf(err)
      .map(azureCommand)
      .filter((command) => command !== null);
    expect(commands.map(({ name }) => name)).toEqual(['task.logissue', ...Array(7).fill('task.setvariable')]);
    expect(commands.find(({ properties }) => properties.variable === 'RUNGATE_VERDICT')?.data).toBe(
      'blocked',
    );
    expect(out).not.toContain('##vso');
  });

  it.each([
    [{ TEAMCITY_VERSION: '2025.07' }],
    [{ GITLAB_CI: 'true' }],
    [{ BUILDKITE: 'true' }],
    [{ CI: 'true' }],
    [{ GITHUB_OUTPUT: '/gh/output', GITHUB_STEP_SUMMARY: '/gh/summary' }],
    [{ GITHUB_ACTIONS: 'false', TF_BUILD: '' }],
  ])('writes nothing automatically with %j', async (env) => {
    const { err, files } = await gate({ outcome: 'failed' }, [], { env });
    expect(files).toEqual({});
    expect(err).not.toMatch(/^::|##vso|##teamcity/m);
  });
});
