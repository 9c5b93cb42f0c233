// A whole day with a hub, and faults: rows for docs/project/fleet.md, in virtual time.
import { atMost, mean } from './harness.mjs';

/** Gates that start in each hour of a working day; 10,000 in all. */
const gatesByHour = [
  ...[100, 100, 100, 100, 100, 100, 200, 400, 700, 900, 1000, 800],
  ...[600, 800, 1200, 900, 700, 400, 300, 200, 100, 100, 50, 50],
];

/** Returns the lines of the table; the aims that are missed are added to `missed`. */
export async function dayTable(simulation, { seed, repeats }, missed) {
  const { minute, second, randomFrom, simulateGates, slidingMinute } = simulation;
  const seconds = (ms) => (ms / second).toFixed(1);
  const minutes = (ms) => (ms / minute).toFixed(1);

  const dayOf = (random) =>
    gatesByHour.flatMap((count, hour) =>
      Array.from({ length: count }, () => (hour + random()) * 60 * minute),
    );
  const usual = [minute, minute];
  const short = [30 * second, 50 * second];
  const rows = [
    { name: '10,000 in a day', size: 10_000, once: true, day: true },
    { name: 'runs of 60 s', runMs: usual },
    { name: 'hub gone for 60 s', runMs: usual, trouble: { fault: 'no hub', forMs: minute } },
    { name: 'hub gone', runMs: usual, trouble: { fault: 'no hub', forMs: Number.POSITIVE_INFINITY } },
    {
      name: 'proxy: requests up to 2 s late, streams cut after 30 s',
      ...{ runMs: usual, proxy: { delayMs: 2 * second, cutMs: 30 * second } },
    },
    { name: 'service: 500 for 60 s', runMs: usual, trouble: { fault: 500, forMs: minute } },
    { name: 'service: 429 for 60 s', runMs: usual, trouble: { fault: 429, forMs: minute } },
    { name: 'runs of 30 to 50 s', runMs: short },
    { name: 'the same, with start events', runMs: short, startEvents: true },
  ];

  const heads = [
    ...[
      'gates',
      '',
      'false failures',
      'mean delay, s',
      '95 % delay, s',
      'longest delay, s',
      'since readable, s',
    ],
    ...['mean wait for the run, min', 'longest, min', 'requests a run', '429s', 'of gates with a run'],
  ];
  const lines = [heads, heads.map((_, at) => (at === 1 ? '---' : '---:'))];
  for (const { name, size = 50, once, day, ...gates } of rows) {
    const count = once ? 1 : repeats;
    const totals = [];
    for (let nth = 0; nth < count; nth += 1)
      totals.push(
        await simulateGates({
          ...{ size, seed: seed + nth, hub: 'reliable', timeoutMs: 60 * minute, ...gates },
          ...{ maxAttempts: Number.POSITIVE_INFINITY, startsMs: day && dayOf(randomFrom(seed + nth)) },
          limiter: slidingMinute({ counting: true, retryAfter: false }),
        }),
      );
    const all = (key) => totals.flatMap((total) => total[key]);
    const sum = (key) => totals.reduce((before, total) => before + total[key], 0);
    const [delays, waits] = [all('delays'), all('createWaits')];
    lines.push([
      ...[size, name, sum('failures'), seconds(mean(delays)), seconds(atMost(delays, 0.95))],
      ...[seconds(atMost(delays, 1)), seconds(mean(all('delaysSinceReadable')))],
      ...[minutes(mean(waits)), minutes(atMost(waits, 1)), (sum('requests') / (size * count)).toFixed(1)],
      ...[Math.round(sum('limited') / count), Math.round(sum('limitedWithPlace') / count)],
    ]);
    const aim = { 'no hub': 20, 429: Number.POSITIVE_INFINITY }[gates.trouble?.fault] ?? 2;
    if (sum('failures') > 0) missed.push(`${name}: ${sum('failures')} false failures`);
    if (sum('limitedWithPlace') > 0) missed.push(`${name}: ${sum('limitedWithPlace')} responses with 429`);
    if (!(mean(all('delaysSinceReadable')) <= aim * second))
      missed.push(`${name}: mean delay ${seconds(mean(all('delaysSinceReadable')))} s`);
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`);
}
