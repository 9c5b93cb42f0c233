import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timeline } from '../../bench/fleet-simulation.ts';
import { NetworkError } from '../../src/errors.ts';
import type { Emit } from '../../src/gate/events.ts';
import type { ReadResult } from '../../src/gate/poll.ts';
import type { RunService } from '../../src/gate/service.ts';
import { nextRead, waitForRuns } from '../../src/gate/wait.ts';
import { watch } from '../../src/gate/watched-run.ts';

const run = (due: number, outcome: unknown = null) => ({ due, outcome });

describe('the next read', () => {
  const [a, b, c] = [run(30), run(10), run(20)];
  const done = run(0, 'passed');
  test.each([
    ['is of the run that has been due for longest', [a, b, c], [], { run: b, at: 10 }],
    ['is not of a run that is being read', [a, b, c], [b], { run: c, at: 20 }],
    ['is not of a run that has an outcome', [done, a], [], { run: a, at: 30 }],
    ['does not exist while every run is being read', [a, b], [a, b], null],
    ['does not exist once every run has an outcome', [done], [], null],
  ])('%s', (_, runs, reading, expected) => {
    expect(
      nextRead(runs, new Map(reading.map((one) => [one, true])), {
        past: [],
        limited: runs.length > 1,
      }),
    ).toEqual(expected);
  });

  test('never exceeds 60 reads in any minute, whichever reads overlap', () => {
    const runs = fc.array(fc.nat(5000), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(runs, fc.array(fc.record({ took: fc.nat(40_000), wait: fc.nat(3000) })), (dues, reads) => {
        const all = dues.map((due) => run(due));
        const past: number[] = [];
        for (const { took, wait } of reads) {
          const next = nextRead(all, new Map(), { past, limited: true });
          if (next === null) return;
          past.push(Math.max(next.at, past.at(-1) ?? 0));
          next.run.due = next.at + took + wait;
        }
        for (const [index, at] of past.entries())
          expect((past[index + 60] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThanOrEqual(60_000);
      }),
    );
  });
});

/** Returns a clock whose time only passes when nothing else is left to do. */
function virtualTime() {
  const events = timeline();
  let time = 0;
  return {
    clock: {
      now: () => time,
      monotonic: () => time,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
          events.push(time + ms, resolve);
        }),
    },
    async play(until: Promise<unknown>) {
      let over = false;
      until.finally(() => {
        over = true;
      });
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        if (over) return;
        const event = events.pop();
        if (event === undefined) return expect.fail('nothing is left to happen, and the wait is not over');
        time = event.at;
        event.act();
      }
    },
  };
}

const seen = (kind: 'running' | 'ended'): Exclude<ReadResult, { error: unknown }> => ({
  reading:
    kind === 'running'
      ? {
          kind,
          state: 'in_progress',
          known: true,
          failed: 0,
          blocked: 0,
          appUrl: null,
          retryAfterSeconds: null,
        }
      : { kind, state: 'completed', failed: 0, blocked: 0, appUrl: null },
});

test('a read that stalls for 30 s does not delay the reads of other runs', async () => {
  const { clock, play } = virtualTime();
  const reads: string[] = [];
  const service = {
    async read(runId: string) {
      reads.push(`${runId} at ${clock.monotonic() / 1000} s`);
      if (runId === 'slow' && clock.monotonic() === 0) {
        await clock.sleep(30_000);
        throw new NetworkError('broken', 'no response within 30 s');
      }
      return seen(clock.monotonic() < 20_000 ? 'running' : 'ended');
    },
  } as unknown as RunService;
  const runs = ['slow', 'b', 'c'].map((id) => watch(id, 0));
  const rules = {
    intervalMs: 10_000,
    shortestMs: 1000,
    maxAttempts: 60,
    deadline: 600_000,
    createdAt: null,
  };
  const ended: string[] = [];
  const { signal } = new AbortController();
  const emit: Emit = (event) => {
    if (event.type === 'read' && event.nextMs === null) ended.push(event.runId);
  };
  const waiting = waitForRuns(runs, rules, { service, clock, random: () => 0, signal, emit });
  await play(waiting);
  await waiting;
  expect(reads.slice(0, 7)).toEqual([
    ...['slow at 0 s', 'b at 0 s', 'c at 0 s', 'b at 10 s', 'c at 10 s', 'b at 20 s', 'c at 20 s'],
  ]);
  expect(ended).toEqual(['b', 'c', 'slow']);
  expect(runs.map(({ outcome }) => outcome?.verdict)).toEqual(['passed', 'passed', 'passed']);
});

test('an abort ends all reads under way', async () => {
  const { clock } = virtualTime();
  const stop = new AbortController();
  let aborted = 0;
  const service = {
    read: (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(signal.reason);
        });
        setImmediate(() => stop.abort(new Error('stopped')));
      }),
  } as unknown as RunService;
  const runs = ['a', 'b', 'c'].map((id) => watch(id, 0));
  const rules = {
    intervalMs: 10_000,
    shortestMs: 1000,
    maxAttempts: 60,
    deadline: 600_000,
    createdAt: null,
  };
  await waitForRuns(runs, rules, {
    service,
    clock: { ...clock, sleep: async () => {} },
    random: () => 0,
    signal: stop.signal,
  });
  expect(aborted).toBe(3);
  expect(runs.map(({ outcome }) => outcome)).toEqual([null, null, null]);
});
