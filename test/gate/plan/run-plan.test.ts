import { describe, expect, it } from 'vitest';
import type { GatesReport } from '../../../src/gate/result-types.ts';
import { type Course, mostInAMinute, world } from './world.ts';

const good: Course = { end: 'passed', seconds: 60, create: 'ok', reads: [], cancel: 'ok' };

const reportOf = ({ settled }: Awaited<ReturnType<typeof world>>): GatesReport => {
  const done = settled as { report?: GatesReport; error?: unknown } | null;
  if (done?.report === undefined) throw new Error(`no report: ${String(done?.error)}`);
  return done.report;
};

describe('twenty gates with needs', () => {
  /** Five chains of four. */
  const nodes = Array.from({ length: 20 }, (_, at) => ({
    name: `g${at}`,
    needs: at % 4 === 0 ? [] : [`g${at - 1}`],
    advisory: false,
  }));

  it.each([
    ['in chains', nodes],
    ['at once', nodes.map((node) => ({ ...node, needs: [] }))],
  ])('%s keep within the limits, and take at most 1.2 of the longest path', async (_what, graph) => {
    const secondsOf = (at: number) => 240 + ((at * 37) % 120);
    const courses = Object.fromEntries(
      graph.map(({ name }, at) => [name, [{ ...good, seconds: secondsOf(at) }]]),
    );
    const seen = await world({ nodes: graph, courses });
    expect(reportOf(seen)).toMatchObject({ result: 'pass', exitCode: 0 });
    expect(mostInAMinute(seen.reads)).toBeLessThanOrEqual(60);
    expect(mostInAMinute(seen.creates)).toBeLessThanOrEqual(20);
    const ends = new Map<string, number>();
    for (const [at, { name, needs }] of graph.entries())
      ends.set(name, secondsOf(at) + Math.max(0, ...needs.map((need) => ends.get(need) ?? 0)));
    expect(seen.endedAt / 1000).toBeLessThanOrEqual(1.2 * Math.max(...ends.values()));
  });
});

describe('a stop', () => {
  const nodes = [
    { name: 'a', needs: [], advisory: false },
    { name: 'b', needs: [], advisory: true },
    { name: 'c', needs: ['a'], advisory: false },
  ];

  it('cancels every run, skips the gates that have not begun, and gives the exit code', async () => {
    const courses = { a: [good], b: [{ ...good, create: 'slow' as const }], c: [good] };
    const seen = await world({ nodes, courses, stop: { at: 1_000, by: 'SIGTERM' } });
    const report = reportOf(seen);
    expect(report).toMatchObject({
      result: 'fail',
      exitCode: 143,
      interruptedBy: 'SIGTERM',
      cancellation: 'requested',
    });
    expect(report.gates.map(({ result, reason }) => [result, reason])).toEqual([
      ['fail', 'rungate was stopped by SIGTERM'],
      ['warn', 'rungate was stopped by SIGTERM'],
      ['skipped', 'rungate was stopped by SIGTERM'],
    ]);
    expect(seen.runs).toHaveLength(2);
    expect(seen.runs.every(({ cancelledAt }) => cancelledAt !== null)).toBe(true);
  });

  it('while a gate connects to the hub creates no run of that gate', async () => {
    const seen = await world({ nodes, courses: {}, hubMs: 2_000, stop: { at: 1_000, by: 'SIGINT' } });
    expect(seen.runs).toEqual([]);
    expect(reportOf(seen)).toMatchObject({ exitCode: 130, interruptedBy: 'SIGINT' });
    expect(seen.links.open).toBe(0);
  });
});

it('an error of rungate cancels the other runs and is thrown', async () => {
  const nodes = ['a', 'b'].map((name) => ({ name, needs: [], advisory: false }));
  const broken = { ...good, reads: null as unknown as number[] };
  const seen = await world({ nodes, courses: { a: [broken], b: [good] } });
  expect(seen.settled).toMatchObject({ error: expect.any(TypeError) });
  expect(seen.runs.find(({ gate }) => gate === 'b')?.cancelledAt).not.toBeNull();
});
