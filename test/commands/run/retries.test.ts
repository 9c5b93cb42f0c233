import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJournal, runsOf } from '../../../src/ci/journal.ts';
import type { Outcome } from '../../../src/mock/runs.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-retries-'));
  on = await stage({ duration: 20_000 });
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const runs = () => [...on.mock.state.runs.values()];
const gate = [...trigger, '--wait', '--json', '--timeout', '10m'] as const;

async function gateWith(outcomes: Outcome[], ...args: string[]) {
  on.mock.state.plan.outcomes = outcomes;
  const { code, out, err } = await on.rungate(...gate, ...args);
  return { code, err, report: out === '' ? null : JSON.parse(out) };
}

const verdictsOf = (report: { runs: { verdict: string }[] }) => report.runs.map(({ verdict }) => verdict);
const deciding = (report: { runs: { decides?: boolean }[] }) => report.runs.filter((run) => run.decides);

describe('--retries', () => {
  it('starts a new run after a failed one, and makes a pass flaky: a warning that exits 0', async () => {
    const { code, err, report } = await gateWith(['failed', 'passed'], '--retries', '2');
    expect(code).toBe(0);
    expect(report).toMatchObject({
      schemaVersion: 1,
      result: 'warn',
      exitCode: 0,
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

  it('fails after the last retry, with every run in the result', async () => {
    const { code, report } = await gateWith(['failed', 'failed', 'failed', 'passed'], '--retries', '2');
    expect(code).toBe(1);
    expect(report).toMatchObject({ result: 'fail', runs: [{}, {}, { retry: 2, decides: true }] });
    expect(verdictsOf(report)).toEqual(['failed', 'failed', 'failed']);
    expect(runs()).toHaveLength(3);
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
    ['cancelled', 'cancelled=pass', 1],
    ['stuck', 'timeout=warn', 1],
    ['blocked', 'blocked=pass', 1],
  ] as const)(
    'never lets a failed run pass because its retry ends as %s with --on %s',
    async (second, rule, code) => {
      const result = await gateWith(['failed', second], '--retries', '3', '--on', rule);
      expect(result).toMatchObject({ code, report: { result: 'fail', runs: [{}, {}] } });
      expect(deciding(result.report)).toMatchObject([{ verdict: 'failed' }]);
    },
  );

  it('cancels the run of a retry when a signal comes', async () => {
    on.mock.state.plan.outcomes = ['failed', 'stuck'];
    const stopsWhen = () => runs().length === 2;
    const { code, out } = await on.with({ stopsWhen })(...gate, '--retries', '1');
    expect(code).toBe(143);
    const report = JSON.parse(out);
    expect(report).toMatchObject({
      interruptedBy: 'SIGTERM',
      cancellation: 'requested',
      runs: [{ decides: false }, { runId: runs()[1]?.id, retry: 1, decides: true }],
    });
    expect(verdictsOf(report)).toEqual(['failed', null]);
    expect(on.mock.requests.filter(({ endpoint }) => endpoint === 'run.cancel')).toHaveLength(1);
  });
});

describe('retries that cannot work', () => {
  it.each([
    [['--retries', '1', '--idempotency-key', 'mine'], 'retries cannot use a given idempotency key'],
    [['--retries', '-1'], 'is not a whole number from 0 to 10'],
    [['--retries', '11'], 'is not a whole number from 0 to 10'],
    [['--retries', 'many'], 'is not a whole number from 0 to 10'],
  ])('%j are a usage error, and nothing is sent', async (args, message) => {
    const { code, err } = await on.rungate(...gate, ...args);
    expect(code).toBe(64);
    expect(err).toContain(message);
    expect(on.mock.requests).toEqual([]);
  });
});

/** Returns a job of GitHub Actions with an empty temporary folder, unless `temp` names one. */
function github(attempt: number, temp = mkdtempSync(join(folder, 'job-'))) {
  return on.with({
    env: {
      GITHUB_ACTIONS: 'true',
      CI: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: '4711',
      GITHUB_RUN_ATTEMPT: String(attempt),
      GITHUB_JOB: 'e2e',
      GITHUB_ACTION: '__run',
      RUNNER_TEMP: temp,
    },
  });
}

async function jobWith(job: ReturnType<typeof github>, ...args: string[]) {
  const { code, out } = await job(...gate, '--retries', '1', ...args);
  return { code, report: JSON.parse(out) };
}

describe('a re-run job with retries', () => {
  it('attaches to the retry in progress, and starts no extra run', async () => {
    on.mock.state.plan.outcomes = ['failed', 'stuck', 'passed'];
    await jobWith(github(1), '--max-attempts', '4');
    on.mock.state.plan.outcomes = ['passed'];
    const second = await jobWith(github(2), '--max-attempts', '1');
    expect(runs()).toHaveLength(2);
    expect(second.report.runs).toMatchObject([
      { runId: runs()[1]?.id, verdict: 'timeout', reattached: true },
    ]);
    expect(second.report.discarded).toMatchObject([{ runId: runs()[0]?.id, verdict: 'failed' }]);
    expect(second.code).toBe(3);
  });

  it('leaves every run in the journal, so that the post step can cancel the one in progress', async () => {
    on.mock.state.plan.outcomes = ['failed', 'stuck'];
    const path = join(folder, 'journal');
    await on.with({ journal: path })(...gate, '--retries', '1', '--max-attempts', '4');
    const [first, second] = runsOf(parseJournal(readFileSync(path, 'utf8')) ?? []);
    expect(first).toMatchObject({ runId: runs()[0]?.id, settled: true });
    expect(second).toMatchObject({ runId: runs()[1]?.id, settled: false });
  });
});
