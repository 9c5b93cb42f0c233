import type { EndpointName } from '../../src/contract/index.ts';
import type { FaultKind } from '../../src/mock/faults/fault-kinds.ts';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { cli, trigger } from '../cli/harness.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

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

export const subjects: readonly Subject[] = [
  {
    name: 'run trigger --wait',
    endpoint: 'run.trigger',
    argv: () => [...trigger, '--wait', '--json', ...short],
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

/** Returns a fake clock that also waits 30 ms of real time, which a mock that is down needs to come back. */
function patientClock(): FakeClock {
  const clock = fakeClock();
  const { sleep } = clock;
  return Object.assign(clock, {
    async sleep(ms: number, signal?: AbortSignal) {
      await sleep(ms, signal);
      await new Promise((resolve) => setTimeout(resolve, 30));
    },
  });
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

/** Plays one command against its own mock with these faults. */
export async function play(
  argv: (runId: string) => readonly string[],
  faults: readonly Fault[],
  {
    endpoint,
    options = {},
    patient = false,
    requestTimeout = '500ms',
  }: { endpoint: EndpointName; options?: MockOptions; patient?: boolean; requestTimeout?: string },
): Promise<Played> {
  const clock = patient ? patientClock() : fakeClock();
  const mock = await startMock({ clock, duration: 15_000, ...options });
  try {
    const created = await fetch(`${mock.url}/api/ci/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': mock.apiKey },
      body: JSON.stringify({ projectSlug: 'shop', processSlug: 'checkout' }),
    });
    const { runId } = (await created.json()) as { runId: string };
    const before = { requests: mock.requests.length, keys: mock.state.keys.size, runs: mock.state.runs.size };
    for (const fault of faults) mock.faults.add(fault);
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
    const result = await cli([...argv(runId), '--request-timeout', requestTimeout], { clock, env });
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
