import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { until } from '../until.ts';
import { program, rungate, start } from './built.ts';

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
  ] as const)('in CI cancels it on %s and exits with %i', async (signal, code) => {
    const running = rungate([...trigger, '--wait', '--json'], { ...env, CI: 'true' });
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
    const folder = folderForTest();
    const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '50s', '--json'];
    const running = rungate([...gate, '--cancel-on-interrupt'], { ...env, RUNGATE_CONFIG_DIR: folder });
    await running.shows(/in_progress/);
    running.child.kill(signal);
    const { out } = await running.ended;
    expect(JSON.parse(out)).toMatchObject({ interruptedBy: signal, cancellation: 'requested' });
  },
);

/** Starts a gate in the background of a shell, and ends the shell once the run is in progress. */
async function left(own: Record<string, string>, how = '', shell = 'bash') {
  const script = `${how} "$0" "$@" < /dev/null & echo "pid $!"; wait`;
  const gate = [...program, ...trigger, '--wait', '--json'];
  const running = start(shell, ['-c', script, ...gate], { ...env, ...own });
  const [, pid] = await running.shows(/pid (\d+)/);
  await running.shows(/in_progress/);
  running.child.kill('SIGKILL');
  return { ...running, pid: Number(pid) };
}

describe.skipIf(process.platform !== 'linux')('a gate in the background of a shell that ends', () => {
  const reads = () => mock.requests.filter(({ endpoint }) => endpoint === 'run.status').length;

  it.each(['', 'nohup', 'setsid'])(
    'goes on outside CI, and after SIGHUP without a terminal (%s)',
    async (how) => {
      const { pid, ended } = await left({}, how);
      process.kill(pid, 'SIGHUP');
      // The reads take longer than several checks of the parent process.
      const before = reads();
      await until(() => reads() > before + 8);
      process.kill(pid, 'SIGTERM');
      const { out, err } = await ended;
      expect(JSON.parse(out.slice(out.indexOf('{')))).toMatchObject({ interruptedBy: 'SIGTERM' });
      expect(err).toContain('stopping on SIGTERM; a second signal ends rungate at once');
      expect(runs()[0]?.cancelled?.reason).toBe('rungate: stopped by SIGTERM');
    },
  );

  const orphaned = async (own: Record<string, string>, shell?: string) => {
    const { out, err } = await (await left(own, '', shell)).ended;
    expect(JSON.parse(out.slice(out.indexOf('{')))).toMatchObject({
      exitCode: 143,
      cancellation: 'requested',
    });
    expect(err).toContain(
      'stopping because the process that started rungate has ended; a signal ends rungate at once',
    );
    expect(runs()[0]?.cancelled?.reason).toBe('rungate: the process that started it has ended');
  };

  it('is stopped in CI', () => orphaned({ CI: 'true' }));

  it('is stopped under a package runner, which does not pass signals on', async () => {
    const folder = folderForTest();
    const npm = join(folder, 'npm');
    copyFileSync('/bin/bash', npm);
    await orphaned({}, npm);
  });
});

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
