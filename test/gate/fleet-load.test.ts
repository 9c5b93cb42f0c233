import { describe, expect, test, vi } from 'vitest';
import {
  type Deliveries,
  type Gates,
  limiters,
  minute,
  simulateGates,
  slidingMinute,
  type Total,
} from '../../bench/fleet-simulation.ts';
import { stretchAfter } from '../../src/gate/poll.ts';

// Real gates in virtual time: bench/fleet-simulation.ts. A thousand of them take seconds, on a busy machine many.
vi.setConfig({ testTimeout: 120_000 });

describe.each(limiters)('300 gates on a limiter that $name', (limiter) => {
  test('all pass, and send at most 150 requests a minute after the first two minutes', async () => {
    const total = await simulateGates({
      ...{ size: 300, seed: 1, limiter: slidingMinute(limiter) },
      ...{ timeoutMs: 120 * minute, maxAttempts: Number.POSITIVE_INFINITY },
    });
    expect(total.failures).toBe(0);
    expect(total.peak).toBeLessThanOrEqual(150);
    expect(total.last).toBeLessThan(90 * minute);
  });
});

test.each(limiters)('50 gates pass within the default limits on a limiter that $name', async (limiter) => {
  const total = await simulateGates({
    ...{ size: 50, seed: 1, limiter: slidingMinute(limiter) },
    ...{ timeoutMs: 60 * minute, maxAttempts: 60 },
  });
  expect(total.failures).toBe(0);
});

test('300 gates pass on a limiter that always requests one second', async () => {
  const exact = slidingMinute({ counting: true, retryAfter: false });
  const total = await simulateGates({
    ...{ size: 300, seed: 1, timeoutMs: 120 * minute, maxAttempts: Number.POSITIVE_INFINITY },
    limiter: (kind, now) => ({ ...exact(kind, now), retryAfter: 1 }),
  });
  expect(total.failures).toBe(0);
  expect(total.peak).toBeLessThanOrEqual(150);
});

/** Plays gates with a hub, with several seeds. The limits of the gates are those of bench/fleet.mjs. */
async function withHub(
  hub: Deliveries,
  size: number,
  seeds: readonly number[],
  more: Partial<Pick<Gates, 'startEvents' | 'startWithinMs'>> = {},
) {
  const limits = size > 200 ? [120 * minute, Number.POSITIVE_INFINITY] : [60 * minute, 60];
  const [timeoutMs, maxAttempts] = limits as [number, number];
  const totals: Total[] = [];
  for (const [at, seed] of seeds.entries()) {
    const limiter = slidingMinute({ counting: at % 2 === 0, retryAfter: false });
    totals.push(await simulateGates({ size, seed, hub, timeoutMs, maxAttempts, limiter, ...more }));
  }
  const sum = (key: 'failures' | 'limited' | 'reads') => totals.reduce((all, total) => all + total[key], 0);
  const delays = totals.flatMap((total) => total.delays).toSorted((a, b) => a - b);
  return {
    failures: sum('failures'),
    limited: sum('limited'),
    meanSeconds: delays.reduce((all, delay) => all + delay, 0) / delays.length / 1000,
    slowSeconds: (delays[Math.ceil(0.95 * delays.length) - 1] as number) / 1000,
    readsPerRun: sum('reads') / (size * seeds.length),
  };
}

describe.each<[Deliveries, number, number]>([
  ['reliable', 2, 5],
  ['10 % lost', 15, 120],
  ['30 s late', 32, 35],
  ['none', 120, 300],
])('gates with a hub whose deliveries are %s', (hub, meanSeconds, slowSeconds) => {
  test.each([
    [1, [1, 2, 3]],
    [10, [1, 2, 3]],
    [50, [1, 2, 3]],
    [200, [1, 2, 3]],
    [1000, [1, 2, 3]],
  ])('%i of them pass without a 429, within the aims for delay and reads', async (size, seeds) => {
    const total = await withHub(hub, size, seeds);
    expect(total).toMatchObject({ failures: 0, limited: 0 });
    expect(total.meanSeconds).toBeLessThanOrEqual(meanSeconds);
    expect(total.slowSeconds).toBeLessThanOrEqual(slowSeconds);
    if (size >= 200) expect(total.readsPerRun).toBeLessThanOrEqual(4);
  });
});

test.each([
  ['1,000 gates that start in the same millisecond', 1000, { startWithinMs: 0 }],
  ['200 gates whose service also delivers the start of each run', 200, { startEvents: true }],
])('%s pass without a 429, within 2 s after their runs', async (_, size, more) => {
  const total = await withHub('reliable', size, [1], more);
  expect(total).toMatchObject({ failures: 0, limited: 0 });
  expect(total.meanSeconds).toBeLessThanOrEqual(2);
  expect(total.slowSeconds).toBeLessThanOrEqual(5);
  expect(total.readsPerRun).toBeLessThanOrEqual(4);
});

test.each([
  [0, 10_000, 1],
  [9_000, 10_000, 1],
  [60_000, 10_000, 4],
  [60_000, 30_000, 4 / 3],
  [3_600_000, 10_000, 15],
  [3_600_000, 600_000, 1],
])('a create delayed by %i ms stretches an interval of %i ms by %d', (limitedMs, intervalMs, stretch) => {
  expect(stretchAfter(limitedMs, intervalMs)).toBeCloseTo(stretch, 9);
});
