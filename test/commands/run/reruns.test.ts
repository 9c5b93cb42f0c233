import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJournal, runsOf } from '../../../src/ci/journal.ts';
import type { Outcome } from '../../../src/mock/runs.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { asked, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { until } from '../../until.ts';

let on: Stage;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-jobs-'));
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns an empty temporary folder, as each job of a hosted runner has. */
const temp = () => mkdtempSync(join(folder, 'job-'));
const runs = () => [...on.mock.state.runs.values()];
const serve = async (options: MockOptions = {}) => {
  on = await stage({ duration: 20_000, ...options });
};
const gate = [...trigger, '--wait', '--json', '--timeout', '10m'] as const;

/** Returns the variables of GitHub Actions for a job or its re-run. */
const envOf = (attempt = 1, runnerTemp = temp()) => ({
  GITHUB_ACTIONS: 'true',
  CI: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '4711',
  GITHUB_RUN_ATTEMPT: String(attempt),
  GITHUB_JOB: 'e2e',
  GITHUB_ACTION: '__run',
  GITHUB_SERVER_URL: 'https://github.com',
  RUNNER_TEMP: runnerTemp,
});
const github = (attempt?: number, runnerTemp?: string) => on.with({ env: envOf(attempt, runnerTemp) });

it('in a retry loop within a step, starts a new run after a failure and attaches after a timeout', async () => {
  await serve({ outcome: ['failed', 'stuck', 'passed'] });
  const shared = temp();
  expect((await github(1, shared)(...gate)).code).toBe(1);
  expect((await github(1, shared)(...gate, '--max-attempts', '2')).code).toBe(3);
  const { code, out } = await github(1, shared)(...gate, '--max-attempts', '2');
  expect([code, JSON.parse(out).runs[0].reattached]).toEqual([3, true]);
  expect(runs()).toHaveLength(2);
});

describe('in a copy of a CI system on one machine, the same command', () => {
  const act = {
    ...{ ACT: 'true', CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_JOB: 'e2e', GITHUB_ACTION: '0' },
    ...{ GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'acme/shop' },
  };
  const gitlabCiLocal = {
    ...{ CI: 'true', GITLAB_CI: 'false', CI_PROJECT_PATH: 'acme/shop', CI_JOB_NAME: 'e2e' },
    ...{ CI_PIPELINE_ID: '1000', CI_JOB_ID: '1000' },
  };
  const circleci = {
    ...{ CI: 'true', CIRCLECI: 'true', CIRCLE_JOB: 'e2e', CIRCLE_BUILD_NUM: '' },
    ...{ CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1', CIRCLE_SHA1: 'a'.repeat(40) },
  };
  // The runners of Gitea and Forgejo also set ACT, but have real ids.
  const gitea = { ...act, GITEA_ACTIONS: 'true', GITHUB_RUN_ID: '120', GITHUB_RUN_ATTEMPT: '' };

  it.each([
    ['starts its own run, since the last one may have tested other code: nektos/act', act, 2, 1],
    ['starts its own run: gitlab-ci-local', gitlabCiLocal, 2, 1],
    ['starts its own run: circleci local execute', circleci, 2, 1],
    ['joins its run: Gitea and Forgejo', gitea, 1, 0],
  ])('%s', async (_what, env, count, code) => {
    await serve({ outcome: ['passed', 'failed'] });
    const command = on.with({ env: { ...env, RUNNER_TEMP: temp() } });
    expect((await command(...gate, '--max-attempts', '1')).code).toBe(3);
    expect((await command(...gate)).code).toBe(code);
    expect(runs()).toHaveLength(count);
  });
});

it('a re-run reads a run again whose state is unclear, and never uses it if it had ended', async () => {
  await serve({ outcome: ['passed', 'failed'], duration: 1000 });
  expect((await github(1)(...gate)).code).toBe(0);
  on.mock.faults.add({ kind: 'patch', merge: { state: 'defrosting' }, endpoint: 'run.status', times: 3 });
  expect((await github(2)(...gate)).code).toBe(1);
  expect(runs()).toHaveLength(2);
});

it('--explain-key prints the ingredients in CI, without secrets', async () => {
  await serve({ outcome: 'stuck' });
  const { err, out } = await github(2)(...trigger, '--explain-key', '--idempotency-salt', 'cell 1');
  for (const part of ['github', 're-run 1 of the job', 'runId: 4711', 'job: e2e', 'salt: cell 1', 'journal:'])
    expect(err).toContain(part);
  for (const part of ['first ', 'then up to 2 more, each a hash of the previous key', 'finally '])
    expect(err).toContain(part);
  expect(err + out).not.toContain(on.mock.apiKey);
});

it('sends the cause and the job with a cancellation', async () => {
  await serve({ outcome: 'stuck' });
  await github()(...gate, '--timeout', '30s', '--cancel-on-timeout');
  expect(runs()[0]?.cancelled?.reason).toBe(
    'rungate: the wait timed out in github job e2e https://github.com/acme/shop/actions/runs/4711',
  );
});

describe('--retries', () => {
  async function gateWith(outcomes: Outcome[], ...args: string[]) {
    await serve({ outcome: outcomes });
    const { code, out, err } = await on.rungate(...gate, ...args);
    return { code, err, report: JSON.parse(out) };
  }

  it('starts a new run after a failed one, and makes a pass flaky: a warning that exits 0', async () => {
    const { code, err, report } = await gateWith(['failed', 'passed'], '--retries', '2');
    expect(code).toBe(0);
    expect(report).toMatchObject({
      ...{ schemaVersion: 1, result: 'warn', exitCode: 0 },
      runs: [
        { verdict: 'failed', action: 'fail', runId: runs()[0]?.id, failed: 2, decides: false },
        { verdict: 'flaky', action: 'warn', runId: runs()[1]?.id, retry: 1, failed: 0, decides: true },
      ],
    });
    expect(report.runs[0]).not.toHaveProperty('retry');
    expect(runs()).toHaveLength(2);
    expect(err).toContain(`run ${runs()[0]?.id} failed (2 failed, 0 blocked): starting retry 1 of 2\n`);
    expect(err).toContain('WARNING: ');
    expect(err).toContain('passed only on retry 1, after a failed run: 0 failed, 0 blocked');
    expect(err).toContain('--on flaky=fail makes it fail');
  });

  it.each([
    ['blocked', 2, 'blocked'],
    ['cancelled', 0, 'cancelled'],
    ['stuck', 3, 'timeout'],
  ] as const)('does not retry a run that ends as %s', async (outcome, code, verdict) => {
    const result = await gateWith([outcome, 'passed'], '--retries', '2');
    expect(result).toMatchObject({ code, report: { runs: [{ verdict }] } });
    expect(runs()).toHaveLength(1);
  });

  it.each([
    ['cancelled', 'cancelled=pass'],
    ['stuck', 'timeout=warn'],
    ['blocked', 'blocked=pass'],
  ] as const)(
    'never lets a failed run pass because its retry ends as %s with --on %s',
    async (second, rule) => {
      const { code, report } = await gateWith(['failed', second], '--retries', '3', '--on', rule);
      expect([code, report.result, report.runs.length]).toEqual([1, 'fail', 2]);
      expect(report.runs.filter((run: { decides: boolean }) => run.decides)).toMatchObject([
        { verdict: 'failed' },
      ]);
    },
  );

  it('leaves every run in the journal, so that the post step can cancel the one in progress', async () => {
    await serve({ outcome: ['failed', 'stuck'] });
    const path = join(folder, 'journal');
    await on.with({ journal: path })(...gate, '--retries', '1', '--max-attempts', '4');
    const [first, second] = runsOf(parseJournal(readFileSync(path, 'utf8')) ?? []);
    expect(first).toMatchObject({ runId: runs()[0]?.id, settled: true });
    expect(second).toMatchObject({ runId: runs()[1]?.id, settled: false });
  });
});

describe('two jobs with one derived key', () => {
  const runIds = () => runs().map(({ id }) => id);
  /** The service does not send Idempotency-Replayed. */
  const silent: Fault = {
    kind: 'patch',
    remove: ['idempotency-replayed'],
    endpoint: 'run.trigger',
    times: 20,
  };
  const lost: Fault = { kind: 'reset-after-commit', endpoint: 'run.trigger' };

  it.each<[string, readonly Fault[]]>([
    ['the service says that it replayed', []],
    ['the create response is lost and the service does not say that it replayed', [lost, silent]],
  ])('never share a run that has ended: %s', async (_name, faults) => {
    await serve({ outcome: ['passed', 'failed'] });
    expect((await github()(...gate)).code).toBe(0);
    for (const fault of faults) on.mock.faults.add(fault);
    const second = await github()(...gate);
    const [first, own] = runIds();
    expect([second.code, runIds().length]).toEqual([1, 2]);
    const report = JSON.parse(second.out);
    expect(report.runs).toMatchObject([{ runId: own, reattached: false }]);
    expect(report.discarded).toEqual([
      {
        runId: first,
        appUrl: expect.stringContaining(String(first)),
        idempotencyKey: expect.any(String),
        verdict: 'passed',
        reason: expect.stringContaining('give each such job its own --idempotency-salt'),
      },
    ]);
    expect(report.discarded[0].idempotencyKey).not.toBe(report.runs[0].idempotencyKey);
    expect(second.err).toContain(
      `discarded run ${first} (passed): it had already ended at its first status read, and another job with`,
    );
  });

  it('keep a failed run without --wait, so that run wait fails', async () => {
    await serve({ outcome: ['failed', 'passed'], duration: 0 });
    on.mock.faults.add(silent);
    const { code, out } = await github()(...trigger);
    expect([code, runIds()]).toEqual([0, [out.trim()]]);
    expect((await github()('run', 'wait', out.trim())).code).toBe(1);
  });

  describe('the second one, without --wait,', () => {
    const again = async (fault: Fault, onStop: Settings['onStop'] = () => {}) => {
      await serve({ outcome: 'passed', duration: 600_000 });
      await github()(...trigger, '--no-wait');
      on.mock.faults.add(fault);
      return on.with({ env: envOf(), onStop })(...trigger, '--no-wait', '--json');
    };

    it('fails if the status of the run never comes', async () => {
      const { code, err } = await again({ kind: 'black-hole', endpoint: 'run.status', times: 99 });
      expect([code, err]).toEqual([7, expect.stringContaining('could not tell within 1 min')]);
    });

    it('prints the run if a signal comes during the first read, and cancels nothing', async () => {
      const { code, out } = await again({ kind: 'black-hole', endpoint: 'run.status' }, (stop) => {
        void until(() => on.mock.faults.pending === 0).then(() => stop('SIGTERM'));
      });
      expect([code, JSON.parse(out).runId]).toEqual([143, runIds()[0]]);
      expect(asked(on.mock)).not.toContain('run.cancel');
    });
  });
});
