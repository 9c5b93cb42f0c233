import type { StopSignal } from '../../src/errors.ts';
import { itemSeed, seededRandom } from '../../src/mock/random.ts';
import type { Course } from '../slice/service.ts';
import type { Fate } from './service.ts';

/** The fate of one command, and the changes before it. */
export interface Act {
  pauseMs: number;
  /** The wall clock jumps by this before the command, and so long after its start. */
  jumpMs: number;
  jumpDuring: { afterMs: number; byMs: number } | null;
  /** The folder with the state is deleted before it. */
  loses: boolean;
  /** It repeats the first command although it has the one that goes on. */
  repeats: boolean;
  /** The CI job is run again, on the same machine or on another one. */
  reRun: 'same machine' | 'fresh machine' | null;
  kill: { step: number } | { afterMs: number } | null;
  signal: { afterMs: number; name: StopSignal } | null;
}

export interface SimulatedGate {
  name: string;
  needs: string[];
  advisory: boolean;
  courses: Course[];
}

/** A world and everything that happens in it. Times in milliseconds. */
export interface World {
  seed: number;
  /** GitLab does not count re-runs of a job. */
  place: 'shell' | 'github' | 'gitlab';
  sliceMs: number | null;
  timeoutMs: number;
  retries: number;
  failFast: boolean;
  /** `--on timeout=warn` */
  warns: boolean;
  gates: SimulatedGate[];
  saysReplayed: boolean;
  latencies: number[];
  /** The share of requests with a fault, and the faults. */
  faultRate: number;
  fates: Fate[];
  /** How long a new run cannot be found. */
  invisibleMs: number;
  outages: { from: number; to: number }[];
  disk: { from: number; to: number; code: 'EROFS' | 'ENOSPC' }[];
  acts: Act[];
}

function drawer(seed: number) {
  const random = seededRandom(itemSeed(seed, 0));
  const below = (end: number) => Math.floor(random() * end);
  const between = (least: number, most: number) => least + below(most - least + 1);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const chance = (share: number) => random() < share;
  const several = <T>(least: number, most: number, make: () => T): T[] =>
    Array.from({ length: between(least, most) }, make);
  return { below, between, one, chance, several };
}

type Draw = ReturnType<typeof drawer>;

const fates: readonly Fate[] = [
  ...(['lost', 'dropped', 'late-503', '503', '429', 'slow', 'odd state'] as const),
  ...(['401 page', '403 page', '404 page', '502 page', '200 page', 'redirect'] as const),
];
const ends: readonly Course['end'][] = [
  ...(['passed', 'passed', 'passed', 'failed', 'failed', 'blocked', 'cancelled', 'never'] as const),
];
const minuteMs = 60_000;
/** After a day, gates that have ended are forgotten. */
const longestJumpMs = 20 * 60 * minuteMs;

function drawGates({ between, one, chance, several }: Draw): SimulatedGate[] {
  const count = one([1, 1, 1, 1, 2, 3, 4]);
  const names = ['web', 'api', 'docs', 'shop'].slice(0, count);
  return names.map((name, at) => ({
    name,
    needs: names.slice(0, at).filter(() => chance(0.35)),
    advisory: count > 1 && chance(0.15),
    courses: several(1, 3, () => ({ end: one(ends), seconds: one([1, between(1, 30), between(20, 100)]) })),
  }));
}

function drawAct({ between, one, chance, below }: Draw, inCi: boolean): Act {
  const jump = () => one([-1, 1]) * one([between(1, 90) * 1000, between(1, 180) * minuteMs, longestJumpMs]);
  return {
    pauseMs: one([0, between(1, 60), between(1, 400)]) * 1000,
    jumpMs: chance(0.12) ? jump() : 0,
    jumpDuring: chance(0.08) ? { afterMs: between(1, 30_000), byMs: jump() } : null,
    loses: chance(0.06),
    repeats: chance(0.3),
    reRun: inCi && chance(0.4) ? one(['same machine', 'fresh machine'] as const) : null,
    kill: chance(0.35)
      ? one([{ step: between(1, 30) }, { step: between(1, 30) }, { afterMs: below(60_000) }])
      : null,
    signal: chance(0.2)
      ? { afterMs: below(60_000), name: one(['SIGTERM', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const) }
      : null,
  };
}

/** Returns the world of a seed. A third of the worlds has no accidents at all, or only those of the service. */
export function worldOf(seed: number): World {
  const draw = drawer(seed);
  const { below, between, one, chance, several } = draw;
  const place = one(['shell', 'shell', 'github', 'gitlab'] as const);
  const window = (longest: number) => {
    const from = below(200_000);
    return { from, to: from + one([between(1, longest), between(1, longest), Number.POSITIVE_INFINITY]) };
  };
  const isQuiet = chance(0.15);
  return {
    seed,
    place,
    sliceMs: chance(place === 'shell' ? 0.8 : 0.3) ? between(5, 60) * 1000 : null,
    timeoutMs: one([30, 60, 120]) * 1000,
    retries: one([0, 0, 1, 2]),
    failFast: chance(0.2),
    warns: chance(0.1),
    gates: drawGates(draw),
    saysReplayed: chance(0.6),
    latencies: several(1, 5, () => one([between(1, 50), between(1, 900), between(1, 4_000)])),
    faultRate: one([0, 0, 0.05, 0.2, 0.5]),
    fates: several(1, 4, () => one(fates)),
    invisibleMs: chance(0.2) ? between(1, 20_000) : 0,
    outages: chance(0.15) ? [{ ...window(90_000) }] : [],
    disk: !isQuiet && chance(0.12) ? [{ ...window(120_000), code: one(['EROFS', 'ENOSPC'] as const) }] : [],
    acts: isQuiet ? [] : several(1, 5, () => drawAct(draw, place !== 'shell')),
  };
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

/** Returns the world as lines for people, without what happens to its commands: the log of its steps tells that. */
export function describeWorld(world: World): string[] {
  const { seed, place, sliceMs, timeoutMs, retries, gates, disk, outages } = world;
  const share = `${Math.round(world.faultRate * 100)} % of requests have a fault: ${world.fates.join(', ')}`;
  return [
    `seed ${seed}: ${place}, ${sliceMs === null ? 'no slices' : `slices of ${seconds(sliceMs)}`}, timeout ${seconds(timeoutMs)}, ${retries} retries${world.failFast ? ', fail-fast' : ''}${world.warns ? ', a timeout warns' : ''}`,
    ...gates.map(
      ({ name, needs, advisory, courses }) =>
        `gate ${name}${needs.length > 0 ? ` (needs ${needs.join(', ')})` : ''}${advisory ? ', advisory' : ''}: ${courses.map((course) => `${course.end} after ${course.seconds} s`).join(', then ')}`,
    ),
    `service: ${world.saysReplayed ? 'says' : 'does not say'} what it repeats; new runs are invisible for ${seconds(world.invisibleMs)}; ${share}; requests and responses take ${world.latencies.join(', ')} ms in turns`,
    ...outages.map(({ from, to }) => `outage from ${seconds(from)} to ${seconds(to)}`),
    ...disk.map(({ from, to, code }) => `disk: ${code} from ${seconds(from)} to ${seconds(to)}`),
  ];
}
