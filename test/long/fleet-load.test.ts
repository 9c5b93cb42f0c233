import { describe, expect, test } from 'vitest';
import { limiters, minute, simulateGates, slidingMinute } from '../../bench/fleet-simulation.ts';
import { aims, withHub } from '../gate/fleet-play.ts';

// Real gates in virtual time: bench/fleet-simulation.ts. Fewer of them: test/gate/fleet-load.test.ts.

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

test('300 gates pass on a limiter that always requests one second', async () => {
  const exact = slidingMinute({ counting: true, retryAfter: false });
  const total = await simulateGates({
    ...{ size: 300, seed: 1, timeoutMs: 120 * minute, maxAttempts: Number.POSITIVE_INFINITY },
    limiter: (kind, now) => ({ ...exact(kind, now), retryAfter: 1 }),
  });
  expect(total.failures).toBe(0);
  expect(total.peak).toBeLessThanOrEqual(150);
});

describe.each(aims)('gates with a hub whose deliveries are %s', (hub, meanSeconds, slowSeconds) => {
  test.each([200, 1000])(
    '%i of them pass without a 429, within the aims for delay and reads',
    async (size) => {
      const total = await withHub(hub, size, [1, 2, 3]);
      expect(total).toMatchObject({ failures: 0, limited: 0 });
      expect(total.meanSeconds).toBeLessThanOrEqual(meanSeconds);
      expect(total.slowSeconds).toBeLessThanOrEqual(slowSeconds);
      expect(total.readsPerRun).toBeLessThanOrEqual(4);
    },
  );
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
