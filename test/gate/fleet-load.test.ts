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
