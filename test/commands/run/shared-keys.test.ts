import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { fixtures } from '../../ci/provider-fixtures.ts';
import { asked, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { until } from '../../until.ts';

let on: Stage;
const folder = mkdtempSync(join(tmpdir(), 'rungate-shared-'));
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (options: MockOptions = {}) => {
  on = await stage({ duration: 20_000, ...options });
};
const runIds = () => [...on.mock.state.runs.keys()];
const gate = [...trigger, '--wait', '--json'] as const;

/** Returns the variables that the CI sets without a re-run. */
const envOf = (place: string): Record<string, string> => {
  const found = fixtures.find(({ expected, ...one }) => {
    return one.place === place && expected.runId !== null && expected.attempt === 1;
  });
  if (found === undefined) throw new Error(`no environment without a re-run of ${place}`);
  return found.env;
};

let jobs = 0;
/** Runs a job on its own machine: it shares the derived key with the other jobs, but not the journal. */
const job = (place: string) => {
  jobs += 1;
  return on.with({ env: envOf(place), journal: join(folder, `${jobs}.journal`) });
};

/** The service does not send Idempotency-Replayed. */
const silent: Fault = { kind: 'patch', remove: ['idempotency-replayed'], endpoint: 'run.trigger', times: 20 };
const lost: Fault = { kind: 'reset-after-commit', endpoint: 'run.trigger' };

describe.each(['github', 'azure', 'buildkite'])('two jobs with one derived key (%s)', (place) => {
  it.each<[string, readonly Fault[]]>([
    ['the service says that it replayed', []],
    ['the create response is lost', [lost]],
    ['the service does not say that it replayed', [silent]],
    ['the create response is lost and the service does not say that it replayed', [lost, silent]],
  ])('never share a run that has ended: %s', async (_name, faults) => {
    await serve({ outcome: ['passed', 'failed'] });
    expect((await job(place)(...gate)).code).toBe(0);
    for (const fault of faults) on.mock.faults.add(fault);
    const second = await job(place)(...gate);
    const [first, own] = runIds();
    expect(second.code).toBe(1);
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
    expect(runIds()).toHaveLength(2);
  });
});

describe('a run of a derived key', () => {
  it.each<[string, readonly Fault[], number]>([
    ['is discarded if it has ended at its first read', [{ ...silent, times: 9 }], 3],
    ['is kept, ended or not, if the service says that it did not replay', [], 1],
  ])('%s', async (_name, faults, made) => {
    await serve({ outcome: 'passed', duration: 0 });
    for (const fault of faults) on.mock.faults.add(fault);
    expect((await job('github')(...gate)).code).toBe(0);
    expect(runIds()).toHaveLength(made);
  });

  it.each([
    [4, 0],
    [5, 6],
  ])('is read again without --wait after %i foreign responses, and exits with %i', async (times, exit) => {
    await serve({ duration: 60_000 });
    await job('github')(...trigger, '--no-wait');
    const portal: Fault = { kind: 'status', status: 403, body: '<html>Portal</html>' };
    on.mock.faults.add({ ...portal, endpoint: 'run.status', times });
    expect((await job('github')(...trigger, '--no-wait')).code).toBe(exit);
    expect(runIds()).toHaveLength(1);
  });

  it('is checked by the first read of the wait, without an extra read', async () => {
    await serve({ outcome: 'passed', duration: 5_000 });
    on.mock.faults.add(silent);
    const { out } = await job('github')(...gate);
    expect(asked(on.mock)).toEqual(['run.trigger', 'run.status', 'run.status']);
    expect(JSON.parse(out)).toMatchObject({ runs: [{ attempts: 2, reattached: false }] });
    expect(JSON.parse(out)).not.toHaveProperty('discarded');
  });

  it.each([
    ['fails the gate', [], 5],
    ['is discarded if the policy only warns', ['--on', 'unobserved=warn'], 1],
  ] as const)('whose counts are missing at its first read %s', async (_name, flags, exitCode) => {
    await serve({ outcome: ['passed', 'failed'] });
    await job('github')(...gate);
    on.mock.faults.add({ kind: 'patch', remove: ['failed'], endpoint: 'run.status' });
    const { code } = await job('github')(...gate, ...flags);
    expect(code).toBe(exitCode);
  });

  it('is kept without --wait if it failed, so that run wait fails', async () => {
    await serve({ outcome: ['failed', 'passed'], duration: 0 });
    on.mock.faults.add(silent);
    const { code, out } = await job('github')(...trigger);
    expect([code, runIds()]).toEqual([0, [out.trim()]]);
    expect((await job('github')('run', 'wait', out.trim())).code).toBe(1);
  });

  it('costs an extra run for each link of the chain at most', async () => {
    await serve({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ ...silent, times: 99 });
    for (let n = 0; n < 3; n += 1) expect((await job('github')(...gate)).code).toBe(0);
    expect(runIds()).toHaveLength(5);
  });

  it('has its own count of reads', async () => {
    await serve({ outcome: ['passed', 'failed'], duration: 1_000 });
    await job('github')(...gate);
    const { code, out } = await job('github')(...gate, '--max-attempts', '2');
    expect([code, JSON.parse(out).runs[0].attempts]).toEqual([1, 2]);
  });

  it.each([
    ['not visible', { kind: 'status', status: 404 }],
    ['in an unknown state', { kind: 'patch', merge: { state: 'paused' } }],
  ] as const)('is discarded without --wait if it is %s at first', async (_name, fault) => {
    await serve({ outcome: 'passed' });
    await job('github')(...gate);
    on.mock.faults.add({ ...fault, endpoint: 'run.status', times: 2 });
    const slept = on.clock.sleeps.length;
    const { out } = await job('github')(...trigger, '--no-wait', '--json');
    const [first, own] = runIds();
    expect(JSON.parse(out)).toMatchObject({ runId: own, discarded: [{ runId: first }] });
    expect(on.clock.sleeps.slice(slept)).toEqual([10_500, 10_500]);
  });

  it('is not used again if a signal comes during its first read', async () => {
    await serve({ outcome: ['passed', 'failed'] });
    await job('github')(...gate);
    let stop: (signal: 'SIGTERM') => void = () => {};
    const command = on.with({
      env: envOf('github'),
      journal: join(folder, 'stopped.journal'),
      onStop: (handler) => {
        stop = handler;
      },
    });
    const { faults } = on.mock;
    faults.add({ kind: 'black-hole', endpoint: 'run.status' });
    const result = command(...gate);
    await until(() => faults.pending === 0);
    stop('SIGTERM');
    const { code, out } = await result;
    expect(code).toBe(143);
    expect(JSON.parse(out).result).toBe('fail');
  });

  it('is not used if a service that ignores the keys returns the discarded run again', async () => {
    await serve({ outcome: 'passed' });
    const first = JSON.parse((await job('github')(...gate)).out).runs[0].runId;
    const text = JSON.stringify({ runId: first });
    on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.trigger', times: 9 });
    const before = asked(on.mock).length;
    const { code, out, err } = await job('github')(...gate);
    expect([code, out]).toEqual([5, '']);
    expect(err).toContain('for every idempotency key');
    // A later read may be stale.
    expect(
      asked(on.mock)
        .slice(before)
        .filter((endpoint) => endpoint === 'run.status'),
    ).toHaveLength(1);
  });

  it('is reported as discarded if a signal comes before the next one is created', async () => {
    await serve({ outcome: 'passed' });
    const first = JSON.parse((await job('github')(...gate)).out).runs[0].runId;
    let stop: (signal: 'SIGTERM') => void = () => {};
    const command = on.with({
      env: envOf('github'),
      journal: join(folder, 'between.journal'),
      onStop: (handler) => {
        stop = handler;
      },
    });
    const { faults, requests } = on.mock;
    faults.add({ kind: 'black-hole', endpoint: 'run.trigger', skip: 1 });
    const before = requests.length;
    const result = command(...gate);
    await until(() => requests.length > before + 1);
    await until(() => faults.pending === 0);
    faults.clear();
    stop('SIGTERM');
    const { code, out } = await result;
    expect(code).toBe(143);
    expect(JSON.parse(out).discarded).toMatchObject([{ runId: first }]);
  });
});

describe('run trigger without --wait, for a run that another job may have started', () => {
  const again = async (fault: Fault, onStop: Settings['onStop'] = () => {}) => {
    await serve({ outcome: 'passed', duration: 600_000 });
    await job('github')(...trigger, '--no-wait');
    on.mock.faults.add(fault);
    return on.with({ env: envOf('github'), journal: join(folder, 'again.journal'), onStop })(
      ...trigger,
      '--no-wait',
      '--json',
    );
  };
  const paused: Fault = {
    kind: 'patch',
    merge: { state: 'queued', retryAfterSeconds: 100 },
    endpoint: 'run.status',
    times: 99,
  };
  const fails = (status: number, fault: object): Fault =>
    ({ kind: 'status', status, endpoint: 'run.status', ...fault }) as Fault;

  it.each([
    ['an outage of the first reads', fails(503, { times: 5 })],
    ['a state that the API does not list, and long waits', paused],
    ['a rate limit of several minutes', fails(429, { headers: { 'retry-after': '240' } })],
  ])('attaches to it after %s', async (_name, fault) => {
    const { code, out, err } = await again(fault);
    expect([code, err]).toEqual([0, expect.stringContaining('attached to the run')]);
    expect(runIds()).toEqual([JSON.parse(out).runId]);
  });

  it('fails if its status cannot be read for a minute', async () => {
    const { code, out, err } = await again(fails(503, { times: 99 }));
    expect([code, out]).toEqual([5, '']);
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject({ error: { status: 503 } });
    const reads = asked(on.mock).filter((endpoint) => endpoint === 'run.status');
    expect(reads.length).toBeGreaterThan(5);
    expect(reads.length).toBeLessThan(15);
    expect(runIds()).toHaveLength(1);
  });

  it('fails if its status never comes', async () => {
    const { code, err } = await again({ kind: 'black-hole', endpoint: 'run.status', times: 99 });
    expect([code, err]).toEqual([7, expect.stringContaining('showed within 1 min')]);
  });

  it('prints it if a signal comes during the first read, and cancels nothing', async () => {
    const { code, out } = await again({ kind: 'black-hole', endpoint: 'run.status' }, (stop) => {
      void until(() => on.mock.faults.pending === 0).then(() => stop('SIGTERM'));
    });
    expect([code, JSON.parse(out).runId]).toEqual([143, runIds()[0]]);
    expect(asked(on.mock)).not.toContain('run.cancel');
  });
});
