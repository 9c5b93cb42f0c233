import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ceilings } from '../../src/client/rate-limit.ts';
import type { Clock } from '../../src/clock.ts';
import { HttpError, NetworkError } from '../../src/errors.ts';
import { fleetCreates, fleetSlots, slotFrom } from '../../src/gate/fleet/slots.ts';
import { afterRead, firstProgress, type PollRules, type ReadResult } from '../../src/gate/poll.ts';
import { type Stage, stage, trigger } from '../cli/harness.ts';

let on: Stage | undefined;
afterEach(async () => {
  await on?.close();
  on = undefined;
});

const minute = 60_000;
const fleet = fc
  .integer({ min: 1, max: 1000 })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.integer({ min: 0, max: size - 1 }) }));
const epoch = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });

describe('the slots of a gate', () => {
  test('are 1.25 s or more from those of other gates, and together make 48 reads a minute', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), epoch, fc.nat(10_000_000), (size, wall, from) => {
        const all: number[] = [];
        for (let index = 0; index < size; index += 1) {
          const slots = fleetSlots({ size, index }, ceilings.reads, wall);
          for (let at = slotFrom(from, slots); at < from + 3 * minute; at = slotFrom(at + 1, slots))
            all.push(at);
        }
        all.sort((a, b) => a - b);
        const gaps = all.slice(1).map((at, i) => at - (all[i] ?? 0));
        for (const gap of gaps) expect(gap).toBeGreaterThan(1249.9);
        for (const at of all) {
          expect(all.filter((other) => other >= at && other < at + minute).length).toBeLessThanOrEqual(49);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('do not depend on its start: machines with different monotonic clocks agree on them', () => {
    fc.assert(
      fc.property(fleet, epoch, fc.nat(1e9), fc.nat(1e9), (one, wall, a, b) => {
        // Two machines at the same moment, one up since `a` and one since `b`.
        const onA = slotFrom(a, fleetSlots(one, ceilings.reads, wall - a)) - a;
        const onB = slotFrom(b, fleetSlots(one, ceilings.reads, wall - b)) - b;
        const period = 1250 * one.size;
        const apart = Math.abs(onA - onB);
        expect(Math.min(apart, period - apart)).toBeLessThan(0.1);
      }),
    );
  });

  test('are never before the requested time, and at most one period after it', () => {
    fc.assert(
      fc.property(fleet, fc.nat(1e9), epoch, (one, earliest, wall) => {
        const slots = fleetSlots(one, ceilings.reads, wall);
        const at = slotFrom(earliest, slots);
        expect(at).toBeGreaterThan(earliest - 0.01);
        expect(at).toBeLessThan(earliest + slots.everyMs + 0.01);
      }),
    );
  });

  test('for creates are spread so that every create is accepted; a small fleet does not wait', () => {
    expect(fleetCreates({ size: 16, index: 3 }, 0)).toBeUndefined();
    expect(fleetCreates({ size: 17, index: 3 }, 0)).toEqual({ everyMs: 17 * 3750, atMs: 3 * 3750 });
  });
});

const rules: PollRules = {
  intervalMs: 10_000,
  maxAttempts: Number.POSITIVE_INFINITY,
  deadline: Number.POSITIVE_INFINITY,
  triggered: false,
  slots: { everyMs: 12_500, atMs: 1_250 },
};
const running = (retryAfterSeconds: number | null, retryAfterMs = 0): ReadResult => ({
  reading: {
    kind: 'running',
    state: 'in_progress',
    known: true,
    failed: null,
    blocked: null,
    appUrl: null,
    retryAfterSeconds,
  },
  retryAfterMs,
});

/** Returns the time of the next read after one at `now`. */
function next(result: ReadResult, now: number, stretch = 1): number {
  const { decision } = afterRead({ ...firstProgress(), stretch }, result, rules, now, 0.99);
  if ('done' in decision) return expect.fail('expected a wait');
  return now + decision.waitMs;
}

describe('a read in a fleet', () => {
  test.each<[string, ReadResult, number, number]>([
    ['uses the next slot', running(null), 1_250, 13_750],
    ['uses the next slot after a slow response', running(null), 2_450, 13_750],
    ['skips slots before the time that the service requests', running(15), 1_250, 26_250],
    ['waits for a Retry-After header too', running(1, 13_000), 1_250, 26_250],
    ['waits for a slot after a failure too', { error: new NetworkError('refused', 'x') }, 1_300, 13_750],
  ])('%s', (_, result, now, expected) => {
    expect(next(result, now)).toBeCloseTo(expected, 3);
  });

  test('skips more slots with every 429', () => {
    const limited: ReadResult = { error: new HttpError('429', { status: 429 }) };
    expect(next(limited, 1_300, 1)).toBeCloseTo(13_750, 3);
    expect(next(limited, 1_300, 1.5)).toBeCloseTo(26_250, 3);
    expect(next(limited, 1_300, 1.5 ** 3)).toBeGreaterThan(50_000);
    expect(next(limited, 1_300, 1e9)).toBeLessThan(31 * minute);
  });
});

describe('--fleet-size and --fleet-index', () => {
  test('a gate creates and reads in its own slots by the wall clock', async () => {
    on = await stage({ outcome: 'passed', duration: 600_000 });
    const { mock, clock } = on;
    const before = clock.now();
    const run = await on.rungate(...trigger, '--wait', '--fleet-size', '40', '--fleet-index', '7');
    expect(run).toMatchObject({ code: 0 });
    expect(run.err).toContain("this gate's turn");
    const sleeps = clock.sleeps.filter((ms) => ms > 0);
    const create = before + (sleeps[0] ?? 0);
    expect(create % (40 * 3_750)).toBeCloseTo(7 * 3_750, 0);
    const reads: number[] = [];
    for (const ms of sleeps.slice(1)) reads.push((reads.at(-1) ?? create) + ms);
    expect(reads.length).toBeGreaterThan(10);
    for (const at of reads) expect(at % (40 * 1_250)).toBeCloseTo(7 * 1_250, 0);
    expect(mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger')).toHaveLength(1);
  });

  test('a fleet whose turn may take longer than --timeout is refused before anything is sent', async () => {
    on = await stage();
    const files = { '/nowhere/.rungate.json': '{"fleetSize":1000000}' };
    const { code, err } = await on.with({ files })(...trigger, '--wait', '--timeout', '2s');
    expect(code).toBe(64);
    expect(err).toContain('a fleet of 1000000 is too large for the timeout of 2 s');
    expect(err).toContain('longer timeout');
    expect(on.mock.requests).toHaveLength(0);
    expect(on.clock.sleeps).toEqual([]);
  });

  test('a turn takes at most --timeout', async () => {
    on = await stage({ outcome: 'passed' });
    const run = await on.rungate(...trigger, '--wait', '--fleet-size', '960');
    expect(run).toMatchObject({ code: 0 });
    expect(Math.max(...on.clock.sleeps)).toBeLessThanOrEqual(60 * minute);
    expect((await on.rungate(...trigger, '--wait', '--fleet-size', '961')).code).toBe(64);
    expect((await on.rungate(...trigger, '--wait', '--fleet-size', '961', '--timeout', '61m')).code).toBe(0);
  });

  test('a gate that is stopped before its turn creates nothing', async () => {
    on = await stage();
    const { mock, clock } = on;
    let stop: ((signal: 'SIGTERM') => void) | undefined;
    const waiting: Clock = {
      ...clock,
      async sleep(ms, signal) {
        if (ms > 1000) stop?.('SIGTERM');
        await clock.sleep(ms, signal);
      },
    };
    const rungate = on.with({
      clock: waiting,
      onStop: (given) => {
        stop = given;
      },
    });
    const { code } = await rungate(...trigger, '--wait', '--fleet-size', '400', '--fleet-index', '399');
    expect(code).toBe(143);
    expect(mock.requests).toHaveLength(0);
  });

  test('several runs of one gate use one slot each', async () => {
    on = await stage({ outcome: 'passed', duration: 100_000 });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1)
      ids.push((await on.rungate(...trigger, '--quiet')).out.trim().split('\t')[0] ?? '');
    const start = on.clock.sleeps.length;
    const run = await on.rungate('run', 'wait', ...ids, '--fleet-size', '20', '--fleet-index', '3');
    expect(run).toMatchObject({ code: 0 });
    const waits = on.clock.sleeps.slice(start).slice(1);
    for (const ms of waits) expect(ms).toBeGreaterThan(24_999);
  });

  test.each([
    [['--fleet-index', '0'], 'size'],
    [['--fleet-size', '4', '--fleet-index', '4'], 'fleet of 4'],
    [['--fleet-size', '0'], '--fleet-size'],
    [['--fleet-size', 'many'], '--fleet-size'],
    [['--fleet-size', '4', '--fleet-index', '-1'], '--fleet-index'],
    [['--fleet-size', '4', '--fleet-index', '1.5'], '--fleet-index'],
  ])('%j is refused before anything is sent', async (flags, message) => {
    on = await stage();
    const { code, err } = await on.rungate('run', 'wait', 'run_1', ...flags);
    expect(code).toBe(64);
    expect(err).toContain(message);
    expect(on.mock.requests).toHaveLength(0);
  });

  test('they are a usage error without --wait', async () => {
    on = await stage();
    const { code, err } = await on.rungate(...trigger, '--fleet-size', '4', '--fleet-index', '1');
    expect(code).toBe(64);
    expect(err).toContain('--fleet-size and --fleet-index have no effect');
  });

  test('a size without an index leads to a random index', async () => {
    on = await stage({ outcome: 'passed' });
    const { code } = await on.rungate(...trigger, '--wait', '--fleet-size', '4');
    expect(code).toBe(0);
  });
});
