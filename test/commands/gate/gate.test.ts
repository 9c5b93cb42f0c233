import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/mock/runs.ts';
import { asked, inRepository, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { statement } from '../../receipt/table.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage({ outcome: 'passed', duration: 5000 });
});
afterEach(() => on.close());

async function playing(outcome: Outcome) {
  await on.close();
  on = await stage({ outcome, duration: 5000 });
}

const one = ['gate', '--project', 'shop', '--process', 'checkout'] as const;
const bodies = () =>
  on.mock.requests.flatMap(({ endpoint, body }) =>
    endpoint === 'run.trigger' ? JSON.parse(String(body)) : [],
  );

describe('rungate gate', () => {
  it('fails on a cancelled run, which run trigger --wait only warns about', async () => {
    await playing('cancelled');
    expect((await on.rungate(...one)).code).toBe(4);
    expect((await on.rungate(...one, '--strict', '--timeout', '45m')).code).toBe(4);
    expect((await on.rungate(...trigger, '--wait')).code).toBe(0);
  });

  it('warns once in a CI system that it does not know that a re-run starts another run', async () => {
    const warning = 'warning: rungate does not know this CI system: a re-run of the job starts another run';
    const gates = { project: 'shop', gates: { api: { process: 'api' }, web: { process: 'web' } } };
    const several = await on.with(inRepository(gates, { CI: 'True' }))('gate');
    expect([several.code, several.err.split(warning).length - 1]).toEqual([0, 1]);
    for (const [env, ...more] of [
      [{}],
      [{ CI: 'false' }],
      [{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '1' }],
      [{ CI: 'true' }, '--idempotency-key', 'build-7'],
    ] as [Record<string, string>, ...string[]][]) {
      const { code, err } = await on.with({ env })(...one, ...more);
      expect([code, err]).toEqual([0, expect.not.stringContaining('does not know this CI')]);
    }
  });

  it('waits for 60 minutes if no timeout is set, and reads as often as --max-attempts allows', async () => {
    await playing('stuck');
    const usual = await on.rungate(...one, '--json');
    expect(JSON.parse(usual.out).runs[0].elapsedSeconds).toBeGreaterThan(3500);
    const limited = await on.rungate(...one, '--max-attempts', '3', '--json');
    expect(JSON.parse(limited.out).runs[0]).toMatchObject({ attempts: 3, attemptsExhausted: true });
  });

  it('reads RUNGATE_TIMEOUT, over the timeout of a gate in the file', async () => {
    await playing('stuck');
    const file = { project: 'shop', gates: { web: { process: 'web', timeout: '30m' } } };
    const { code, out } = await on.with(inRepository(file, { RUNGATE_TIMEOUT: '2m' }))('gate', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(out).gates[0].runs[0].elapsedSeconds).toBeLessThan(121);
  });
});

describe('a gate that is not strict', () => {
  const first = ({ err }: { err: string }) => err.split('\n')[0];
  const file = { project: 'shop', process: 'checkout' };

  it.each([
    ['RUNGATE_STRICT=0', inRepository(file, { RUNGATE_STRICT: '0' }), 'RUNGATE_STRICT'],
    ['a file', inRepository({ ...file, strict: false }), '/repo/.rungate.json'],
    ['on in a file', inRepository({ ...file, on: { cancelled: 'warn' } }), '/repo/.rungate.json'],
  ])('because of %s says so in its first line', async (_what, settings, source) => {
    await playing('cancelled');
    const result = await on.with(settings)('gate', '--quiet');
    expect(result.code).toBe(0);
    expect(first(result)).toBe(`not strict: a cancelled run does not fail the gate (${source})`);
  });
});

describe('the selection', () => {
  const file = {
    project: 'shop',
    process: 'usual',
    gates: { web: { needs: ['api'] }, api: { process: 'api' }, perf: { tags: ['perf'] } },
  };
  const run = (...argv: string[]) => on.with(inRepository(file))('gate', ...argv);
  const selectors = () => bodies().map(({ processSlug, tags }) => processSlug ?? tags);

  it('is the named gates with those that they need', async () => {
    expect((await run('web')).code).toBe(0);
    expect(selectors()).toEqual(['api', 'usual']);
  });

  it.each([
    [['--process', 'checkout'], 'checkout'],
    [['--tag', 'smoke'], ['smoke']],
  ] as const)('%j is one gate instead of those of the file', async (argv, selector) => {
    const { code, out } = await run(...argv, '--json');
    expect([code, selectors()]).toEqual([0, [selector]]);
    expect(JSON.parse(out)).not.toHaveProperty('gates');
  });

  it.each([
    [['web', '--process', 'x'], inRepository(file), '--process and the name of a gate cannot be combined'],
    [
      ['checkout'],
      {},
      '"checkout" is not a gate: there is no .rungate.json\n  → did you mean --process checkout?',
    ],
    [['wbe'], inRepository(file), '"wbe" is not one of the gates\n  → did you mean web?'],
    [
      [],
      { env: { RUNGATE_PROCESS: 'x' } },
      'warning: rungate does not read RUNGATE_PROCESS\n  → set process in',
    ],
    [['--idempotency-key', 'k'], inRepository(file), '--idempotency-key has no effect with several gates'],
  ] as [string[], Settings, string][])(
    '%j is refused before anything is sent',
    async (argv, settings, message) => {
      const { code, err } = await on.with(settings)('gate', ...argv);
      expect(err).toContain(message);
      expect([code, asked(on.mock)]).toEqual([64, []]);
    },
  );
});

describe('--dry-run', () => {
  it.each([[[...one]], [[...trigger]], [[...trigger, '--wait']]])(
    'of %j prints the request',
    async (argv) => {
      const { code, out, err } = await on.rungate(...argv, '--commit-sha', 'c'.repeat(40), '--dry-run');
      expect(code).toBe(0);
      expect(out).toBe(`POST ${on.mock.url}/api/ci/runs
credential: RUNGATE_API_KEY
idempotency key: random: outside CI, each command starts a new run
{
  "projectSlug": "shop",
  "processSlug": "checkout",
  "commitSha": "${'c'.repeat(40)}"
}
`);
      expect(err).toBe('nothing was sent (--dry-run)\n');
      expect(on.mock.requests).toEqual([]);
    },
  );
});

it('a gate that stops at a mistake in its settings leaves no older receipt', async () => {
  const gates = { web: { process: 'web' } };
  for (const [file, receipt, old] of [
    [{ gates }, '/repo/r/', '/repo/r/web.json'],
    [{ process: 'web' }, '/repo/r.json', '/repo/r.json'],
  ] as const) {
    const { files = {}, ...settings } = inRepository(file);
    files[old] = JSON.stringify(statement);
    // The file has no project.
    expect((await on.with({ ...settings, files })('gate', '--receipt', receipt)).code).toBeGreaterThan(63);
    expect(files).not.toHaveProperty([old]);
  }
});

describe('the last lines', () => {
  const lines = (err: string) => err.trimEnd().split('\n');

  it('of a failed gate name the page to open', async () => {
    await playing('failed');
    const { err } = await on.rungate(...one);
    expect(lines(err).at(-1)).toMatch(/^2 failed: https:\/\/\S+\/runs\/run_\w+$/);
  });

  it('after a timeout are a command that goes on waiting, by the same rules', async () => {
    await playing('stuck');
    const flags = [
      '--timeout',
      '90s',
      '--on',
      'failed=warn',
      '--junit',
      '/tmp/a b.xml',
      '--request-timeout',
      '20s',
    ];
    const { code, err } = await on.rungate(...one, ...flags);
    expect([code, err]).toEqual([3, expect.any(String)]);
    const command = /^to continue waiting: rungate (.+)$/m.exec(err)?.[1] ?? '';
    expect(command).toMatch(
      /^run wait run_\w+ --strict --on failed=warn --timeout 90s .*--junit '\/tmp\/a b\.xml' --name 'shop \/ checkout'$/,
    );
    const words = command.match(/[^\s']+|'[^']*'/g)?.map((word) => word.replaceAll("'", '')) ?? [];
    const again = await on.rungate(...words);
    expect([again.code, again.err]).toEqual([3, expect.any(String)]);
  });
});

it.each([
  [['--process', 'search'], '--process', 'for several runs, list gates in .rungate.json'],
  [['--deployed-is', 'a', '--deployed-is', 'b'], '--deployed-is', 'give it once'],
])('an option that says what is tested is refused if it is given twice: %j', async (argv, option, hint) => {
  const { code, err } = await on.with({})(...one, ...argv);
  expect(code).toBe(64);
  expect(err).toContain(`${option} is given twice`);
  expect(err).toContain(hint);
  expect(on.mock.requests).toEqual([]);
});
