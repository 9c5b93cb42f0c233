import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  CredentialError,
  exitCodeOf,
  type GateEvent,
  type GateOptions,
  gate,
  HttpError,
  type Mock,
  type MockOptions,
  NetworkError,
  type SharedGateOptions,
  startMock,
  UsageError,
} from '../../src/index.ts';
import { cli } from '../cli/harness.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';
import { startMockAgain } from '../start-mock-again.ts';

let mock: Mock;
let clock: FakeClock;
const trigger = { projectSlug: 'shop', processSlug: 'checkout' };

async function play(options: MockOptions = {}): Promise<void> {
  clock = fakeClock();
  mock = await startMock({ clock, ...options });
}
afterEach(async () => {
  vi.unstubAllEnvs();
  await mock?.close();
});

type Call = Partial<SharedGateOptions & Pick<GateOptions, 'idempotencyKey' | 'onProgress'>> & {
  trigger?: object;
  runIds?: readonly string[];
};
const run = (options: Call) =>
  gate({ apiUrl: mock.url, apiKey: mock.apiKey, clock, random: () => 0.5, ...options } as never);
const requestsTo = (endpoint: string) => mock.requests.filter((request) => request.endpoint === endpoint);
const keys = () => requestsTo('run.trigger').map((request) => request.headers['idempotency-key']);

/** Aborts at the first event of a kind. */
const abortOn = (type: GateEvent['type'], reason?: unknown) => {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    onProgress: (event: GateEvent) => {
      if (event.type === type) controller.abort(reason);
    },
  };
};

describe('a gate', () => {
  it('returns the shape that the command line prints', async () => {
    const outcome = 'failed';
    await play({ outcome, seed: 7 });
    const report = await run({ trigger, idempotencyKey: 'k' });
    const { url, apiKey } = mock;
    await mock.close();
    clock = fakeClock();
    mock = await startMockAgain({ clock, outcome, seed: 7, port: Number(new URL(url).port) });
    const env = { RUNGATE_API_URL: url, RUNGATE_API_KEY: apiKey };
    const argv = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait', '--json'];
    const printed = await cli([...argv, '--idempotency-key', 'k'], { env, clock });
    expect(JSON.parse(printed.out)).toEqual(report);
    expect(printed.code).toBe(report.exitCode);
  });
});

describe('retries', () => {
  it('start a new run with a new key after a failed one: a pass is flaky, a warning that strict leaves', async () => {
    await play({ outcome: ['failed', 'failed', 'passed'], duration: 0 });
    const events: GateEvent[] = [];
    const onProgress = (event: GateEvent) => events.push(event);
    const report = await run({ trigger, retries: 5, strict: true, onProgress });
    expect(report).toMatchObject({ result: 'warn', exitCode: 0, runs: [{}, {}, { verdict: 'flaky' }] });
    expect(new Set(keys()).size).toBe(3);
    const starts = events.filter(({ type }) => type === 'next-run');
    expect(starts).toMatchObject([{ runId: mock.runs[0]?.runId, retry: 1, retries: 5 }, { retry: 2 }]);
  });
});

describe('an invalid call is refused before anything is sent:', () => {
  it.each<[string, object, RegExp]>([
    ['neither trigger nor runs', {}, /either trigger/],
    ['a run id that is not a path segment', { runIds: ['a', ''] }, /runId/],
    ['retries of existing runs', { runIds: ['r'], retries: 1 }, /retries only work with trigger/],
    ['retries with one key', { trigger, retries: 1, idempotencyKey: 'k' }, /retries cannot be combined/],
    ['a pass for a timeout', { trigger, on: { timeout: 'pass' } }, /timeout cannot pass/],
  ])('%s', async (_name, options, message) => {
    await play();
    const error = await run(options).catch((caught: unknown) => caught);
    expect((error as Error).message).toMatch(message);
    expect([64, 78]).toContain(exitCodeOf(error));
    expect(mock.requests).toEqual([]);
  });

  it('a missing credential', async () => {
    await play();
    await expect(run({ trigger, apiKey: undefined })).rejects.toThrow(CredentialError);
    await expect(run({ runIds: ['run_1'], apiKey: undefined })).rejects.toThrow(CredentialError);
    expect(mock.requests).toEqual([]);
  });

  it('a refused create and an unreachable service throw as well', async () => {
    await play();
    mock.faults.add({ kind: 'status', status: 403, endpoint: 'run.trigger' });
    const refused = await run({ trigger }).catch((caught: unknown) => caught);
    expect(refused).toBeInstanceOf(HttpError);
    expect(exitCodeOf(refused)).toBe(6);
    await mock.close();
    const gone = await run({ trigger }).catch((caught: unknown) => caught);
    expect(gone).toBeInstanceOf(NetworkError);
    expect(exitCodeOf(gone)).toBe(7);
  });
});

describe('an abort', () => {
  it('cancels the run of trigger, and reports that', async () => {
    await play({ outcome: 'stuck' });
    const report = await run({ trigger, ...abortOn('read') });
    expect(report).toMatchObject({
      result: 'fail',
      exitCode: 130,
      interruptedBy: 'abort',
      cancellation: 'requested',
      runs: [{ verdict: null, action: 'fail', runId: mock.runs[0]?.runId }],
    });
    expect(mock.runs).toMatchObject([{ state: 'cancelled', cancelReason: 'rungate: stopped by abort' }]);
  });

  it('does not cancel the runs of runIds without cancelOnAbort', async () => {
    await play({ outcome: 'stuck' });
    await run({ trigger, maxAttempts: 1 });
    const runIds = mock.runs.map(({ runId }) => runId);
    expect(await run({ runIds, ...abortOn('read') })).toMatchObject({ exitCode: 130, cancellation: 'none' });
    expect(mock.runs).toMatchObject([{ state: 'in_progress' }]);
    const report = await run({ runIds, cancelOnAbort: true, ...abortOn('read') });
    expect(report).toMatchObject({ cancellation: 'requested' });
    expect(mock.runs).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('an interval', () => {
  const transport = { send: () => Promise.reject(new Error('nothing is sent')), close: async () => {} };
  const far = { apiUrl: 'https://service.example.com', apiKey: 'k', transport, runIds: ['r'] };

  it('below 1 s is refused, unless the service is on this machine', async () => {
    await play({ duration: 0 });
    await expect(run({ ...far, intervalMs: 999 })).rejects.toThrow(UsageError);
    expect(await run({ trigger, intervalMs: 1 })).toMatchObject({ result: 'pass' });
  });
});

describe('onProgress', () => {
  it('receives the events in order', async () => {
    await play({ outcome: 'failed', duration: 15_000 });
    mock.faults.add({ kind: 'html-502', endpoint: 'run.status', skip: 1 });
    const events: GateEvent[] = [];
    await run({ trigger, onProgress: (event) => events.push(event) });
    const { runId, appUrl } = mock.runs[0] ?? {};
    expect(events.map(({ type }) => type)).toEqual(['created', 'read', 'trouble', 'read', 'read']);
    expect(events[0]).toEqual({ type: 'created', runId, appUrl, reattached: false });
    expect(events[1]).toMatchObject({ runId, state: 'in_progress', attempts: 1, nextMs: 10_500 });
    expect(events[2]).toMatchObject({ runId, error: { status: 502 }, attempts: 2 });
    expect(events.at(-1)).toMatchObject({ state: 'completed', failed: 2, blocked: 0, nextMs: null });
  });
});

describe('the idempotency key', () => {
  it('never starts a second run if it is given', async () => {
    await play({ duration: 0 });
    const first = await run({ trigger, idempotencyKey: 'build-7' });
    const second = await run({ trigger, idempotencyKey: 'build-7' });
    expect(mock.runs).toHaveLength(1);
    expect([first.runs[0]?.reattached, second.runs[0]?.reattached]).toEqual([false, true]);
  });
});

describe('the environment of a CI job', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rungate-library-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const job = () => ({
    ...{ GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '77' },
    ...{ GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'gate', GITHUB_REF_NAME: 'main', RUNNER_TEMP: folder },
  });

  it('is not read unless it is given', async () => {
    await play({ duration: 0 });
    for (const [name, value] of Object.entries(job())) vi.stubEnv(name, value);
    vi.stubEnv('RUNGATE_API_URL', 'http://127.0.0.1:1');
    vi.stubEnv('RUNGATE_STRICT', 'true');
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
    expect((await run({ trigger })).result).toBe('pass');
    expect(mock.runs[0]?.request).toEqual(trigger);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the option deployed', () => {
  const deployed = (own: object = {}) => ({ url: `${mock.url}/_mock/version`, is: 'v2', ...own });

  it('gates on the deployed build, reports each read, and sends its headers and no credential', async () => {
    await play({ duration: 60_000, deployed: 'v1,v2@2s' });
    const events: GateEvent[] = [];
    const headers = { Authorization: 'Bearer page-secret-1' };
    const onProgress = (event: GateEvent) => events.push(event);
    const report = await run({ trigger, onProgress, deployed: deployed({ headers }) });
    expect(report).toMatchObject({ result: 'pass', deployed: { expected: 'v2', matches: true } });
    const reads = events.flatMap((event) => (event.type === 'deployed' ? [event] : []));
    expect(reads).toHaveLength(mock.requests.filter(({ path }) => path.endsWith('/version')).length);
    expect(reads.slice(1, 5).map(({ text, agreed }) => `${text} ${agreed}`)).toEqual([
      'v1 false',
      'v2 false',
      'v2 false',
      'v2 true',
    ]);
    expect(mock.requests[0]?.headers).toMatchObject({ authorization: 'Bearer page-secret-1' });
    expect(JSON.stringify(mock.requests[0]?.headers)).not.toContain(mock.apiKey);
    expect(JSON.stringify([report, events])).not.toContain('page-secret');
  });

  it('can be stopped before the run is created', async () => {
    await play({ deployed: 'v1' });
    const report = await run({ trigger, deployed: deployed(), ...abortOn('deployed') });
    expect(report).toMatchObject({ result: 'fail', interruptedBy: 'abort', runs: [] });
    expect(mock.requests.map(({ path }) => path)).toEqual(['/_mock/version']);
  });

  it.each<[string, object, RegExp]>([
    ['an empty text', { is: ' ' }, /the expected build is unknown/],
    ['a URL over http', { url: 'http://shop.example.com/' }, /uses http/],
    ['a header that cannot be set', { headers: { Host: 'a' } }, /deployed\.headers: "Host" cannot be set/],
  ])('is refused with %s, before anything is sent', async (_what, wrong, message) => {
    await play({ deployed: 'v2' });
    await expect(run({ trigger, deployed: deployed(wrong) })).rejects.toThrow(message);
    expect(mock.requests).toEqual([]);
  });
});
