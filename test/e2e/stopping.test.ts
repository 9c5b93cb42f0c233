import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { until } from '../until.ts';
import { rungate } from './built.ts';

let mock: Mock;
let env: Record<string, string>;
beforeEach(async () => {
  mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 0.2 });
  env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
});
afterEach(() => mock.close());

const trigger = ['run', 'trigger', '--project', 'shop', '--process', 'checkout'];
const runs = () => [...mock.state.runs.values()];
const count = (endpoint: string) => mock.requests.filter((request) => request.endpoint === endpoint).length;

describe('run trigger --wait owns its run', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('cancels it on %s and exits with %i', async (signal, code) => {
    const running = rungate([...trigger, '--wait', '--json'], env);
    await running.shows(/in_progress/);
    running.child.kill(signal);
    const ended = await running.ended;
    expect(ended).toMatchObject({ code, signal: null });
    expect(runs()).toHaveLength(1);
    expect(runs()[0]?.cancelled?.reason).toContain(signal);
    const report = JSON.parse(ended.out);
    expect(report).toMatchObject({
      gate: 'fail',
      exitCode: code,
      interruptedBy: signal,
      cancellation: 'requested',
      runs: [{ runId: runs()[0]?.id, verdict: null, state: 'in_progress', appUrl: expect.any(String) }],
    });
    expect(ended.err).toMatch(/asked the service to cancel/);
  });

  it('does not cancel it with --no-cancel-on-interrupt', async () => {
    const running = rungate([...trigger, '--wait', '--json', '--no-cancel-on-interrupt'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    expect(JSON.parse(out).cancellation).toBe('none');
    expect(runs()[0]?.cancelled).toBeUndefined();
  });

  it('exits at once on a second signal', async () => {
    mock.faults.add({ kind: 'stall-headers', endpoint: 'run.cancel', times: 99 });
    const running = rungate([...trigger, '--wait'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    await running.shows(/stopping on SIGTERM/);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
  });

  it('gives up a cancel without a response, and reports it', async () => {
    mock.faults.add({ kind: 'stall-headers', endpoint: 'run.cancel', times: 99 });
    const running = rungate([...trigger, '--wait', '--json'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    const { code, out, err } = await running.ended;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({ cancellation: 'failed', runs: [{ runId: runs()[0]?.id }] });
    expect(err).toMatch(/rungate run cancel run_/);
  });

  it('retries a lost cancel', async () => {
    mock.faults.add({ kind: 'reset', endpoint: 'run.cancel' });
    const running = rungate([...trigger, '--wait', '--json'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    expect(JSON.parse((await running.ended).out).cancellation).toBe('requested');
    expect(runs()[0]?.cancelled).toBeDefined();
  });
});

describe('a signal while the create is in flight', () => {
  it('repeats the create with the same key and body, then cancels the run', async () => {
    // The service creates the run, but its response never arrives.
    mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
    const running = rungate([...trigger, '--wait', '--json'], env);
    await until(() => runs().length > 0);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    const creates = mock.requests.filter((request) => request.endpoint === 'run.trigger');
    expect(creates).toHaveLength(2);
    expect(creates[1]?.body).toBe(creates[0]?.body);
    expect(creates[1]?.headers['idempotency-key']).toBe(creates[0]?.headers['idempotency-key']);
    expect(runs()).toHaveLength(1);
    expect(runs()[0]?.cancelled).toBeDefined();
    expect(JSON.parse(out)).toMatchObject({ cancellation: 'requested', runs: [{ runId: runs()[0]?.id }] });
  });

  it('reports that a run may exist, with its idempotency key, if the service does not respond', async () => {
    mock.faults.add({ kind: 'stall-headers', endpoint: 'run.trigger', times: 99 });
    const running = rungate([...trigger, '--wait', '--json', '--idempotency-key', 'build-7'], env);
    await until(() => count('run.trigger') > 0);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({
      cancellation: 'failed',
      runs: [{ runId: null, verdict: null, idempotencyKey: 'build-7' }],
    });
  });

  it('creates no run if rungate was waiting for a rate limit', async () => {
    mock.faults.add({ kind: 'status', status: 429, endpoint: 'run.trigger', times: 99 });
    const running = rungate([...trigger, '--wait', '--json'], env);
    await running.shows(/retrying in/);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({ cancellation: 'none', runs: [] });
    expect(count('run.trigger')).toBe(1);
    expect(runs()).toHaveLength(0);
  });

  it('prints the run id and does not cancel the run without --wait', async () => {
    mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
    const running = rungate(trigger, env);
    await until(() => runs().length > 0);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    expect(out).toBe(`${runs()[0]?.id}\n`);
    expect(runs()[0]?.cancelled).toBeUndefined();
  });
});

describe('run wait does not own the runs', () => {
  async function twoRuns(): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < 2; i += 1) ids.push((await rungate(trigger, env).ended).out.trim());
    return ids;
  }

  it('does not cancel them', async () => {
    const ids = await twoRuns();
    const running = rungate(['run', 'wait', ...ids, '--json'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGINT');
    const { code, out } = await running.ended;
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ interruptedBy: 'SIGINT', cancellation: 'none' });
    expect(JSON.parse(out).runs.map((run: { runId: string }) => run.runId)).toEqual(ids);
    expect(count('run.cancel')).toBe(0);
  });

  it('cancels all of them with --cancel-on-interrupt', async () => {
    const ids = await twoRuns();
    const running = rungate(['run', 'wait', ...ids, '--json', '--cancel-on-interrupt'], env);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    expect(JSON.parse((await running.ended).out).cancellation).toBe('requested');
    expect(runs().every((run) => run.cancelled !== undefined)).toBe(true);
  });
});
