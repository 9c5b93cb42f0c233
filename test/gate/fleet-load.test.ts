import { describe, expect, test } from 'vitest';
import { limiters, minute, simulateGates, slidingMinute } from '../../bench/fleet-simulation.ts';
import { stretchAfter } from '../../src/gate/poll.ts';

// Real gates in virtual time: bench/fleet-simulation.ts.
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

describe.each([
  ['reliable', 2, 5],
  ['10 % lost', 15, 120],
] as const)('gates with a hub whose deliveries are %s', (hub, meanSeconds, slowSeconds) => {
  test.each([50, 200])(
    '%i of them pass without a 429, soon after their runs, with four reads a run at most',
    async (size) => {
      const total = await simulateGates({
        ...{ size, seed: 1, hub, timeoutMs: 60 * minute, maxAttempts: 60 },
        limiter: slidingMinute({ counting: true, retryAfter: false }),
      });
      const delays = total.delays.toSorted((a, b) => a - b);
      const mean = delays.reduce((sum, delay) => sum + delay, 0) / size;
      expect(total).toMatchObject({ failures: 0, limited: 0 });
      expect(mean).toBeLessThanOrEqual(meanSeconds * 1000);
      expect(delays[Math.ceil(0.95 * size) - 1]).toBeLessThanOrEqual(slowSeconds * 1000);
      if (size >= 200) expect(total.reads / size).toBeLessThanOrEqual(4);
    },
  );
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
