import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { type Circle, gateOf, type Job, minute, openCircle } from './circle.ts';

let on: Circle;
afterEach(() => on.close());

/** The start of the runner and of npx, which the virtual clock does not have. */
const setUpMs = 20_000;
/** GitHub bills each job in whole minutes. */
const billed = (jobs: readonly Job[]) =>
  jobs.reduce((sum, { lastedMs }) => sum + Math.ceil((setUpMs + lastedMs) / minute), 0);
const monthly = (30 * 24 * 60) / 5;
const shown = (minutes: number) => minutes.toLocaleString('en-US');

it('the page has the minutes of 100 gates of 10 minutes', async () => {
  on = await openCircle({ duration: 10 * minute });
  const waiting = on.start(gateOf, on.settingsOf({ name: 'push' }, {}));
  await on.ended(waiting);
  const first = on.detach();
  await on.ended(first);
  await on.decided();
  const minutes = { waiting: 100 * billed([waiting]), detached: 100 * billed([first, ...on.jobs]) };
  const page = readFileSync(new URL('../../../docs/how-to/detach.md', import.meta.url), 'utf8');
  const inTable = Object.fromEntries(
    [...page.matchAll(/^\| (\w+)[^|]*\| [^|]*?\| ([\d,]+)/gm)].map(([, way, count]) => [way, count]),
  );
  expect(inTable).toMatchObject({
    waiting: shown(minutes.waiting),
    detached: shown(minutes.detached),
    scheduled: shown(100 * billed([first]) + monthly),
  });
});

it('a scheduled job that finds nothing, or a run that goes on, lasts seconds', async () => {
  on = await openCircle({ duration: 10 * minute });
  const jobs = [on.start(['gate', '--resume-pending'])];
  await on.ended(on.detach());
  jobs.push(on.start(['gate', '--resume-pending']));
  for (const job of jobs) await on.ended(job);
  expect(billed(jobs)).toBe(2);
});
