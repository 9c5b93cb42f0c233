import type { LiveRun } from './model.ts';

/** What is shown first where there is no room for all: what goes on, then what went wrong. */
const weight: Readonly<Record<LiveRun['phase'], number>> = { going: 0, fail: 1, warn: 2, pass: 3 };

/**
 * The runs that have room in so many lines, in their own order, and whether there is room for a heading. A line that
 * sums them up comes first.
 */
export function chosen(runs: readonly LiveRun[], height: number): { shown: LiveRun[]; head: boolean } {
  const forRuns = height - 1;
  const head = forRuns > Math.min(runs.length, 2);
  const room = Math.max(0, head ? forRuns - 1 : forRuns);
  if (runs.length <= room) return { shown: [...runs], head };
  const ranked = runs.map((run, index) => ({ run, index }));
  ranked.sort((a, b) => weight[a.run.phase] - weight[b.run.phase] || a.index - b.index);
  const shown = ranked.slice(0, room).sort((a, b) => a.index - b.index);
  return { shown: shown.map(({ run }) => run), head };
}

/** How many runs are in which state: those that go on, then the verdicts in the order in which they came up. */
export function tally(runs: readonly LiveRun[]): string[] {
  const ended = new Map<string, number>();
  for (const { phase, state } of runs) {
    if (phase !== 'going') ended.set(state, (ended.get(state) ?? 0) + 1);
  }
  const going = runs.filter(({ phase }) => phase === 'going').length;
  const verdicts = [...ended].map(([verdict, count]) => `${count} ${verdict}`);
  const first = runs.length === 1 ? 'waiting for 1 run' : `${going} of ${runs.length} runs going`;
  return [first, ...(verdicts.length === 0 ? [] : [verdicts.join(', ')])];
}
