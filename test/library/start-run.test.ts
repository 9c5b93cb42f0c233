import { afterEach, expect, it } from 'vitest';
import {
  CredentialError,
  gate,
  type Mock,
  type MockOptions,
  NetworkError,
  type StartRunOptions,
  startMock,
  startRun,
  UsageError,
} from '../../src/index.ts';
import { cli, trigger as command } from '../cli/harness.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

let mock: Mock;
let clock: FakeClock;
const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
const service = () => ({ apiUrl: mock.url, apiKey: mock.apiKey, clock, random: () => 0.5 });
const run = (options: Partial<StartRunOptions> = {}) => startRun({ ...service(), trigger, ...options });

async function play(options: MockOptions = {}): Promise<void> {
  clock = fakeClock();
  mock = await startMock({ clock, ...options });
}
afterEach(() => mock?.close());

it('starts a run without waiting for it; a gate can follow later', async () => {
  await play({ outcome: 'failed' });
  const started = await run();
  expect(mock.runs).toMatchObject([{ runId: started.runId, appUrl: started.appUrl, state: 'in_progress' }]);
  expect(mock.requests.map(({ endpoint }) => endpoint)).toEqual(['run.trigger']);
  const report = await gate({ ...service(), runIds: [started.runId] });
  expect(report).toMatchObject({ result: 'fail', exitCode: 1 });
});

it('returns the shape that the command line prints, and whether the run existed', async () => {
  await play({ outcome: 'stuck' });
  const { reattached, ...started } = await run({ idempotencyKey: 'k' });
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
  const printed = await cli([...command, '--json', '--idempotency-key', 'k'], { env, clock });
  expect(JSON.parse(printed.out)).toEqual(started);
  expect(reattached).toBe(false);
  expect((await run({ idempotencyKey: 'k' })).reattached).toBe(true);
  expect(mock.runs).toHaveLength(1);
});

it('rejects with the reason of an abort before the call, and sends nothing', async () => {
  await play();
  const reason = new Error('not now');
  await expect(run({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(mock.requests).toEqual([]);
});

it('names the key in the error if an abort leaves the run unknown', async () => {
  await play();
  mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger', times: Number.POSITIVE_INFINITY });
  const stop = new AbortController();
  const lost = run({ idempotencyKey: 'k-7', signal: stop.signal, onProgress: () => stop.abort() });
  const error = await lost.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NetworkError);
  expect((error as NetworkError).hint).toContain('k-7');
});

it('refuses an invalid call before anything is sent', async () => {
  await play();
  await expect(run({ apiKey: undefined })).rejects.toThrow(CredentialError);
  await expect(run({ idempotencyKey: 'k', idempotencySalt: 's', env: {} })).rejects.toThrow(UsageError);
  expect(mock.requests).toEqual([]);
});
