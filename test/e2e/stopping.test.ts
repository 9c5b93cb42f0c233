import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { until } from '../until.ts';
import { rungate } from './built.ts';

let mock: MockServer;
let env: Record<string, string>;
beforeEach(async () => {
  mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 0.2 });
  env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
});
afterEach(() => mock.close());

const trigger = ['run', 'trigger', '--project', 'shop', '--process', 'checkout'];
const runs = () => [...mock.state.runs.values()];

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
      result: 'fail',
      exitCode: code,
      interruptedBy: signal,
      cancellation: 'requested',
      runs: [{ runId: runs()[0]?.id, verdict: null, state: 'in_progress', appUrl: expect.any(String) }],
    });
    expect(ended.err).toMatch(/asked the service to cancel/);
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
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a sliced gate cancels its run on %s and reports it, although it has written its state before',
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-stop-'));
    const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '50s', '--json'];
    const running = rungate([...gate, '--cancel-on-interrupt'], { ...env, RUNGATE_CONFIG_DIR: folder });
    await running.shows(/in_progress/);
    running.child.kill(signal);
    const { out } = await running.ended;
    expect(JSON.parse(out)).toMatchObject({ interruptedBy: signal, cancellation: 'requested' });
    rmSync(folder, { recursive: true, force: true });
  },
);

describe('a signal while the run is being created', () => {
  it('repeats the request with the same key and body, then cancels the run', async () => {
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
});
