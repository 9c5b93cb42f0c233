import { minute, type Outage, second, simulateGates, slidingMinute } from '../../bench/fleet-simulation.ts';

/** Returns the largest number of times within a minute. */
const mostInAMinute = (times: readonly number[]) =>
  Math.max(0, ...times.map((at, index) => times.slice(index).filter((other) => other < at + 60_000).length));

const size = 20;
const faults: readonly (readonly [string, Outage['fault']])[] = [
  ['500', '500'],
  ['reset', 'reset'],
  ['reset after commit', 'lost'],
  ['no response', 'stall'],
];

export interface PlayedOutage {
  name: string;
  hub: boolean;
  /** The gates with the verdict of their run. */
  right: number;
  /** The most requests of one gate in the minute after its first. */
  perGate: number;
  /** The most requests of all gates in any minute. */
  perMinute: number;
  /** When the last gate had its verdict. */
  lastMs: number;
}

async function play(
  [name, fault]: (typeof faults)[number],
  untilMs: number,
  hub: boolean,
): Promise<PlayedOutage> {
  const total = await simulateGates({
    ...{ size, seed: 1, limiter: slidingMinute({ counting: true, retryAfter: false }) },
    ...{
      timeoutMs: (hub ? 10 : 60) * minute,
      maxAttempts: Number.POSITIVE_INFINITY,
      outage: { fault, untilMs },
    },
    ...(hub && { hub: 'reliable' }),
  });
  const inFirstMinute = total.createdAt.map(
    (times) => times.filter((at) => at < (times[0] ?? 0) + minute).length,
  );
  return {
    name: `${name} for ${untilMs / second} s${hub ? ', with a hub' : ''}`,
    hub,
    right: size - total.failures,
    perGate: Math.max(...inFirstMinute),
    perMinute: mostInAMinute(total.createdAt.flat().toSorted((a, b) => a - b)),
    lastMs: total.last,
  };
}

/** Plays twenty gates that start within ten seconds, each outage without and with a hub. */
export function playOutages(): Promise<PlayedOutage[]> {
  const cases = faults.flatMap((fault) =>
    [12, 60].flatMap((seconds) => [false, true].map((hub) => [fault, seconds * second, hub] as const)),
  );
  return Promise.all(cases.map((one) => play(...one)));
}

export const outageHead = ['outage', 'right verdicts', 'per gate', 'per minute', 'last verdict after'];

export const outageRow = ({ name, right, perGate, perMinute, lastMs }: PlayedOutage) => [
  name,
  `${right} of ${size}`,
  String(perGate),
  String(perMinute),
  `${Math.round(lastMs / 6000) / 10} min`,
];
