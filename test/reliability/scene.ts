import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, vi } from 'vitest';
import type { EndpointName } from '../../src/contract/index.ts';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { type FaultKind, rowOf } from '../../src/mock/faults/kinds.ts';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { cli, trigger } from '../cli/harness.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';

/** A fault without its endpoint and its timing. */
export type BareFault = { kind: FaultKind } & Record<string, unknown>;

/** All faults, with their names on the page. */
export const allFaults: readonly (readonly [string, BareFault])[] = [
  ['connection refused', { kind: 'refused', forMs: 1000 }],
  ['reset before the response', { kind: 'reset' }],
  ['reset during the response', { kind: 'reset-during' }],
  ['reset after the response', { kind: 'reset-after' }],
  ['reset on a reused socket', { kind: 'reset-reused' }],
  ['lost response after commit', { kind: 'reset-after-commit' }],
  ['black hole', { kind: 'black-hole' }],
  ['stalled headers', { kind: 'stall-headers' }],
  ['stalled body', { kind: 'stall-body' }],
  ['dripping body', { kind: 'drip' }],
  ['truncated body', { kind: 'truncated' }],
  ['half of the JSON', { kind: 'cut-json' }],
  ['length too large', { kind: 'length-larger' }],
  ['length too small', { kind: 'length-smaller' }],
  ['HTML 200', { kind: 'html-200' }],
  ['HTML 502', { kind: 'html-502' }],
  ['empty 200', { kind: 'empty-200' }],
  ['wrong types', { kind: 'wrong-types' }],
  ['unknown state', { kind: 'unknown-state' }],
  ['counters go backwards', { kind: 'backwards' }],
  ['401', { kind: 'status', status: 401 }],
  ['403', { kind: 'status', status: 403 }],
  ['404', { kind: 'status', status: 404 }],
  ['408', { kind: 'status', status: 408 }],
  ['409 in progress', { kind: 'in-progress' }],
  ['422 key reuse', { kind: 'key-reuse' }],
  ['429', { kind: 'limited' }],
  ['429, Retry-After 7', { kind: 'limited-seconds' }],
  ['429, Retry-After a date', { kind: 'limited-date' }],
  ['429, Retry-After past', { kind: 'limited-past' }],
  ['429, Retry-After absurd', { kind: 'limited-absurd' }],
  ['429, clock an hour ahead', { kind: 'clock-off' }],
  ['429, clock an hour behind', { kind: 'clock-off', byMs: -3_600_000 }],
  ['5xx burst', { kind: 'burst' }],
  ['redirect, same origin', { kind: 'redirect-same' }],
  ['redirect, other origin', { kind: 'redirect-other' }],
  ['100 MB', { kind: 'huge' }],
  ['100,000 arrays deep', { kind: 'deep' }],
  ['gzip bomb', { kind: 'gzip-bomb' }],
];

export interface Subject {
  /** The name on the page. */
  name: string;
  endpoint: EndpointName;
  argv(runId: string): readonly string[];
  /** The number of successful calls of the endpoint before the fault. */
  skip: number;
}

const short = ['--max-attempts', '6'];
const checkout = ['--project', 'shop', '--process', 'checkout'];

/** The subjects with a column on the page. */
export const subjects: readonly Subject[] = [
  {
    name: 'gate',
    endpoint: 'run.trigger',
    argv: () => ['gate', ...checkout, '--json', ...short],
    skip: 0,
  },
  {
    name: 'run wait',
    endpoint: 'run.status',
    argv: (id) => ['run', 'wait', id, '--json', ...short],
    skip: 1,
  },
  { name: 'env list --all', endpoint: 'env.list', argv: () => ['env', 'list', '--all', '--json'], skip: 1 },
  { name: 'keys create', endpoint: 'keys.create', argv: () => ['keys', 'create', '--name', 'ci'], skip: 0 },
];

/** The subject whose cells are those of the first one. */
export const sameAsFirst: Subject = {
  name: 'run trigger --wait',
  endpoint: 'run.trigger',
  argv: () => [...trigger, '--wait', '--json', ...short],
  skip: 0,
};

/** The commands whose defaults differ, without options. */
export const withDefaults: readonly Pick<Subject, 'name' | 'argv'>[] = [
  { name: 'gate', argv: () => ['gate', ...checkout, '--json'] },
  { name: 'run trigger --wait', argv: () => [...trigger, '--wait', '--json'] },
  { name: 'run wait', argv: (id) => ['run', 'wait', id, '--json'] },
];

/** The courses of a run or of the service that these commands judge differently. */
export const differences: readonly (readonly [name: string, MockOptions, faults: readonly Fault[]])[] = [
  ['the run is cancelled', { outcome: 'cancelled' }, []],
  ['the run takes 15 minutes', { duration: 900_000 }, []],
  ['80 status reads get HTML 502', {}, [{ kind: 'html-502', endpoint: 'run.status', times: 80 }]],
  ['the run never ends', { outcome: 'stuck' }, []],
];

interface Play {
  readonly clock: FakeClock;
  /** Ends the latest request, as its timeout would. */
  timeOut(): void;
  /** When a mock that refuses connections listens again, on the clock; null while it listens. */
  listensAt: number | null;
}

const plays = new AsyncLocalStorage<Play>();
const requestTimeoutMs = 100_000;

/**
 * Lets a request time out as soon as the mock stalls its response. After a real timeout, other requests would time out on a
 * busy machine, too.
 */
export function timeOutStalledRequests(): void {
  const { setTimeout } = globalThis;
  beforeAll(() => {
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms?: number) => {
      const play = plays.getStore();
      if (ms === requestTimeoutMs && play !== undefined) play.timeOut = act;
      return setTimeout(act, ms);
    }) as typeof setTimeout);
    for (const kind of ['black-hole', 'stall-headers', 'stall-body', 'drip'] as const) {
      const { play: stall } = rowOf(kind);
      vi.spyOn(rowOf(kind), 'play').mockImplementation(async (wire, fault) => {
        await stall(wire, fault);
        plays.getStore()?.timeOut();
      });
    }
    const { play: refuse } = rowOf('refused');
    vi.spyOn(rowOf('refused'), 'play').mockImplementation((wire, fault) => {
      const play = plays.getStore();
      if (play !== undefined) play.listensAt = play.clock.monotonic() + (fault.forMs ?? 0);
      return refuse(wire, fault);
    });
  });
  afterAll(() => vi.restoreAllMocks());
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const listens = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return listens;
}

export interface Played {
  code: number;
  out: string;
  err: string;
  /** The number of requests to the endpoint that reached the mock. */
  attempts: number;
  /** The time on the fake clock. */
  elapsedMs: number;
  /** The number of runs that the command created. */
  runs: number;
  /** The number of API keys that the command created. */
  keys: number;
  secrets: readonly string[];
}

/** Plays one command against its own mock with these faults. The file has called `timeOutStalledRequests`. */
export function play(...args: Parameters<typeof playOn>): Promise<Played> {
  const clock = fakeClock();
  return plays.run({ clock, timeOut: () => {}, listensAt: null }, () => playOn(...args));
}

/** Creates a run. Not with `fetch`: in Node 20, a timer of its idle connections can throw outside of every call. */
export async function createRun({ url, apiKey }: { url: string; apiKey: string }): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const sent = request(`${url}/api/ci/runs`, { method: 'POST', agent: false, headers });
  sent.end(JSON.stringify({ projectSlug: 'shop', processSlug: 'checkout' }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return ((await json(response)) as { runId: string }).runId;
}

async function playOn(
  argv: (runId: string) => readonly string[],
  faults: readonly Fault[],
  { endpoint, options = {} }: { endpoint: EndpointName; options?: MockOptions },
): Promise<Played> {
  const own = plays.getStore() as Play;
  const { clock } = own;
  const { sleep } = clock;
  const mock = await startMock({ clock, duration: 15_000, ...options });
  // A mock that was down listens again a moment after its time.
  clock.sleep = async (ms, signal) => {
    await sleep(ms, signal);
    if (own.listensAt === null || clock.monotonic() < own.listensAt) return;
    own.listensAt = null;
    await until(() => isListening(mock.port));
  };
  try {
    const runId = await createRun(mock);
    const before = { requests: mock.requests.length, keys: mock.state.keys.size, runs: mock.state.runs.size };
    for (const fault of faults) mock.faults.add(fault);
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
    const result = await cli([...argv(runId), '--request-timeout', `${requestTimeoutMs}ms`], { clock, env });
    return {
      ...result,
      attempts: mock.requests.slice(before.requests).filter((request) => request.endpoint === endpoint)
        .length,
      elapsedMs: clock.monotonic(),
      runs: mock.state.runs.size - before.runs,
      keys: mock.state.keys.size - before.keys,
      secrets: [mock.apiKey, mock.token],
    };
  } finally {
    await mock.close();
  }
}
