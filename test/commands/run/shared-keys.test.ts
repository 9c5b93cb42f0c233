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

  it('is kept without --wait if it failed, so that run wait fails', async () => {
    await serve({ outcome: ['failed', 'passed'], duration: 0 });
    on.mock.faults.add(silent);
    const { code, out } = await job('github')(...trigger);
    expect([code, runIds()]).toEqual([0, [out.trim()]]);
    expect((await job('github')('run', 'wait', out.trim())).code).toBe(1);
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
