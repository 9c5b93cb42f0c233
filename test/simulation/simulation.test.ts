import { expect, test } from 'vitest';
import { type Counts, type Simulated, simulate } from './play.ts';

/** `npm run simulate` sets these. */
const { SIMULATE_SEED, SIMULATE_SEEDS = '200', SIMULATE_MINUTES } = process.env;
const minuteMs = 60_000;

function describeFailure({ seed, log, violations }: Simulated): string {
  return [...log, '', ...violations, `replay it: npm run simulate -- --seed ${seed}`].join('\n');
}

function add(sum: Counts, { codes, ...one }: Simulated): void {
  for (const name of ['commands', 'kills', 'stops', 'runs', 'faults'] as const) sum[name] += one[name];
  for (const [code, count] of codes) sum.codes.set(code, (sum.codes.get(code) ?? 0) + count);
}

/** Plays the worlds of seeds until there are enough, or the time is over. Returns the failures, which it prints. */
async function play(first: number, isOver: (played: number) => boolean): Promise<number[]> {
  const sum: Counts = { commands: 0, kills: 0, stops: 0, runs: 0, faults: 0, codes: new Map() };
  const failed: number[] = [];
  let played = 0;
  for (let seed = first; !isOver(played); seed += 1) {
    const one = await simulate(seed);
    add(sum, one);
    played += 1;
    if (one.violations.length === 0) continue;
    failed.push(seed);
    console.error(describeFailure(one));
  }
  const { codes, ...counts } = sum;
  const sorted = [...codes].toSorted(([a], [b]) => Number(a) - Number(b));
  console.log({ seeds: played, ...counts, exits: Object.fromEntries(sorted) });
  return failed;
}

const longest = (Number(SIMULATE_MINUTES ?? 0) + 10) * minuteMs;

test('gates keep their promises, whatever happens to commands, machines and the service', {
  timeout: longest,
  retry: 0,
}, async () => {
  if (SIMULATE_SEED !== undefined) {
    const one = await simulate(Number(SIMULATE_SEED));
    console.log(one.log.join('\n'));
    expect(one.violations).toEqual([]);
    return;
  }
  if (SIMULATE_MINUTES !== undefined) {
    const end = Date.now() + Number(SIMULATE_MINUTES) * minuteMs;
    expect(await play(Math.floor(Math.random() * 2 ** 30), () => Date.now() > end)).toEqual([]);
    return;
  }
  expect(await play(1, (played) => played >= Number(SIMULATE_SEEDS))).toEqual([]);
});
