import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { alignedTable } from '../docs/aligned-table.ts';
import { type Played, playPlain, playSlices, type Task, tasks } from './tasks.ts';

/** Plays each task once: a task and the page need it. */
const played = new Map<Task, Promise<Played>>();
function slices(task: Task): Promise<Played> {
  const result = played.get(task) ?? playSlices(task);
  played.set(task, result);
  return result;
}

describe('a loop that runs only the commands in next', () => {
  it.each(tasks)('gets the right verdict: $name', async (task) => {
    const { code, verdict, runs, minutes, calls } = await slices(task);
    expect({ code, verdict, runs }).toEqual({ code: task.code, verdict: task.verdict, runs: task.runs });
    expect(minutes).toBeLessThanOrEqual(task.endsBy ?? 10.25);
    expect(calls / Math.max(1, minutes)).toBeLessThanOrEqual(1.5);
  });
});

const runsOf = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`;
const cell = ({ code, verdict, runs, calls, minutes, isRight }: Played) =>
  `${isRight ? `**${code}** ${verdict}` : code === null ? 'no verdict' : `${code} ${verdict}`}, ${runsOf(runs)}, ${calls}×, ${minutes.toFixed(1)} min`;

interface Column {
  name: string;
  play: (task: Task) => Promise<Played>;
}

const columns: readonly Column[] = [
  { name: '`gate --slice 45s`', play: slices },
  { name: '`gate`, SIGKILL', play: (task) => playPlain(task, 'SIGKILL') },
  { name: '`gate`, SIGTERM', play: (task) => playPlain(task, 'SIGTERM') },
];

const page = readFileSync(new URL('../../docs/project/reliability.md', import.meta.url), 'utf8');
const part = /(?<=<!-- table -->\n\n).*(?=\n<!-- end of table -->)/s;

// `npm run docs:reliability` is this test with --update: it writes the file that it otherwise compares.
it('writes the table of slices into docs/project/reliability.md, unchanged', async () => {
  const totals = columns.map(() => ({ right: 0, runs: 0, calls: 0 }));
  const rows: string[][] = [];
  for (const task of tasks) {
    const row = [task.name];
    for (const [at, { play }] of columns.entries()) {
      const result = await play(task);
      const total = totals[at] as (typeof totals)[number];
      total.right += Number(result.isRight);
      total.runs += result.runs;
      total.calls += result.calls;
      row.push(cell(result));
    }
    rows.push(row);
  }
  const sums = totals.map(
    ({ right, runs, calls }) => `**${right} of ${tasks.length} right**, ${runsOf(runs)}, ${calls}×`,
  );
  const table = alignedTable([['gate', ...columns.map(({ name }) => name)], ...rows, ['all', ...sums]]);
  expect(page).toMatch(part);
  await expect(page.replace(part, () => `${table}\n`)).toMatchFileSnapshot(
    '../../docs/project/reliability.md',
  );
});
