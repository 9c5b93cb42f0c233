import {
  type Deliveries,
  type Gates,
  minute,
  simulateGates,
  slidingMinute,
  type Total,
} from '../../bench/fleet-simulation.ts';

/** The aims for gates with a hub, by its deliveries: mean delay and that of the slowest 5 %, in seconds. */
export const aims: readonly [hub: Deliveries, meanSeconds: number, slowSeconds: number][] = [
  ['reliable', 2, 5],
  ['10 % lost', 15, 120],
  ['30 s late', 32, 35],
  ['none', 120, 300],
];

/** Plays gates with a hub, with several seeds. The limits of the gates are those of bench/fleet.mjs. */
export async function withHub(
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
