import { describe, expect, test } from 'vitest';
import { limiters, minute, simulateGates, slidingMinute } from '../../bench/fleet-simulation.ts';
import { aims, withHub } from './fleet-play.ts';

// More gates: test/long/fleet-load.test.ts.

test.each(limiters)('50 gates pass within the default limits on a limiter that $name', async (limiter) => {
  const total = await simulateGates({
    ...{ size: 50, seed: 1, limiter: slidingMinute(limiter) },
    ...{ timeoutMs: 60 * minute, maxAttempts: 60 },
  });
  expect(total.failures).toBe(0);
});

describe.each(aims)('gates with a hub whose deliveries are %s', (hub, meanSeconds, slowSeconds) => {
  test.each([1, 10])('%i of them pass without a 429, within the aims for the delay', async (size) => {
    const total = await withHub(hub, size, [1, 2, 3]);
    expect(total).toMatchObject({ failures: 0, limited: 0 });
    expect(total.meanSeconds).toBeLessThanOrEqual(meanSeconds);
    expect(total.slowSeconds).toBeLessThanOrEqual(slowSeconds);
  });
});
