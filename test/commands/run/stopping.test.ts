import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StopSignal } from '../../../src/errors.ts';
import { asked, type Stage, stage, trigger } from '../../cli/harness.ts';
import { until } from '../../until.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage({ outcome: 'stuck' });
});
afterEach(() => on.close());

const runs = () => [...on.mock.state.runs.values()];
const cancelled = () => runs().map((run) => run.cancelled !== undefined);
const wasRead = () => asked(on.mock).includes('run.status');

it.each([
  ['run trigger --wait', [], 'requested'],
  ['run trigger --wait --no-cancel-on-interrupt', [], 'none'],
  ['run wait', ['first', 'second'], 'none'],
  ['run wait --cancel-on-interrupt', ['first', 'second'], 'requested'],
] as const)('SIGTERM stops %s %j: cancellation %s', async (line, waitsFor, cancellation) => {
  const ids: string[] = [];
  for (const _ of waitsFor) ids.push((await on.rungate(...trigger)).out.trim());
  const argv = [...line.split(' '), ...(ids.length > 0 ? ids : trigger.slice(2)), '--json'];
  const { code, out } = await on.with({ stopsWhen: wasRead })(...argv);
  expect(code).toBe(143);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ result: 'fail', interruptedBy: 'SIGTERM', cancellation });
  expect(report.runs.map(({ runId }: { runId: string }) => runId)).toEqual(runs().map(({ id }) => id));
  expect(cancelled()).toEqual(runs().map(() => cancellation === 'requested'));
});

it('a cancel that is lost is sent again', async () => {
  on.mock.faults.add({ kind: 'reset', endpoint: 'run.cancel' });
  const { out } = await on.with({ stopsWhen: wasRead })(...trigger, '--wait', '--json');
  expect(JSON.parse(out).cancellation).toBe('requested');
  expect(cancelled()).toEqual([true]);
});

it('a stop while rungate waits for a rate limit creates no run', async () => {
  on.mock.faults.add({ kind: 'status', status: 429, endpoint: 'run.trigger', times: 99 });
  const { code, out } = await on.with({ stopsWhen: () => true })(...trigger, '--wait', '--json');
  expect(code).toBe(143);
  expect(JSON.parse(out)).toMatchObject({ cancellation: 'none', runs: [] });
  expect(asked(on.mock)).toEqual(['run.trigger']);
});

describe('a stop while the run is being created', () => {
  async function stopDuring(...argv: readonly string[]) {
    let stop: (signal: StopSignal) => void = () => {};
    const onStop = (handler: typeof stop) => {
      stop = handler;
    };
    const result = on.with({ onStop })(...trigger, ...argv);
    await until(() => on.mock.requests.length > 0);
    stop('SIGTERM');
    return result;
  }

  it('without --wait prints the id of the run, and does not cancel it', async () => {
    on.mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
    expect(await stopDuring()).toMatchObject({ code: 143, out: `${runs()[0]?.id}\n` });
    expect(cancelled()).toEqual([false]);
  });

  it('reports that a run may exist, with its idempotency key, if the service refuses to say so', async () => {
    on.mock.faults.add({ kind: 'stall-headers', endpoint: 'run.trigger' });
    const stopped = stopDuring('--wait', '--json', '--idempotency-key', 'build-7');
    on.mock.faults.add({ kind: 'status', status: 500, endpoint: 'run.trigger', skip: 1, times: 98 });
    const { code, out } = await stopped;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({
      cancellation: 'failed',
      runs: [{ runId: null, verdict: null, idempotencyKey: 'build-7' }],
    });
  });
});
