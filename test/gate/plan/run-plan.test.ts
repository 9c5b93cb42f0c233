import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { StopCause } from '../../../src/errors.ts';
import type { GatesReport } from '../../../src/gate/result-types.ts';
import { graphs } from './samples.ts';
import { type Course, mostInAMinute, world } from './world.ts';

const good: Course = { end: 'passed', seconds: 60, create: 'ok', reads: [], cancel: 'ok' };

const course: fc.Arbitrary<Course> = fc.record({
  end: fc.oneof(
    { weight: 4, arbitrary: fc.constant('passed' as const) },
    { weight: 3, arbitrary: fc.constantFrom<Course['end']>('failed', 'blocked', 'cancelled', 'stuck') },
  ),
  seconds: fc.integer({ min: 5, max: 400 }),
  create: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Course['create']>('ok', 'slow') },
    { weight: 1, arbitrary: fc.constantFrom<Course['create']>('422', '503', 'lost') },
  ),
  reads: fc.array(fc.constantFrom(200, 200, 200, 429, 500, 404, 401), { maxLength: 5 }),
  cancel: fc.constantFrom<Course['cancel']>('ok', 'ok', 'refused', 'hangs'),
});

const scene = graphs.chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    courses: fc
      .tuple(
        ...nodes.map(({ name }) =>
          fc.tuple(fc.constant(name), fc.array(course, { minLength: 1, maxLength: 3 })),
        ),
      )
      .map((pairs) => Object.fromEntries(pairs)),
    failFast: fc.boolean(),
    retries: fc.nat(2),
    strict: fc.boolean(),
    stop: fc.option(
      fc.record({
        at: fc.nat(900_000),
        by: fc.constantFrom<StopCause>('SIGTERM', 'SIGINT', 'SIGHUP'),
      }),
    ),
  }),
);

const codes: Record<string, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const reportOf = ({ settled }: Awaited<ReturnType<typeof world>>): GatesReport => {
  const done = settled as { report?: GatesReport; error?: unknown } | null;
  if (done?.report === undefined) throw new Error(`no report: ${String(done?.error)}`);
  return done.report;
};

it('gates of any graph, with any outcomes, faults and signals, keep every promise', async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (options) => {
      const seen = await world(options);
      const report = reportOf(seen);
      const { runs, events, creates, reads } = seen;
      const text = JSON.stringify(report);

      // Every gate is in the result once.
      expect(report.gates.map(({ name }) => name).toSorted()).toEqual(
        options.nodes.map(({ name }) => name).toSorted(),
      );
      // Exit 0 needs a pass or a warning of every gate that is not advisory.
      for (const { result, advisory } of report.gates)
        if (report.exitCode === 0) expect(advisory || result === 'pass' || result === 'warn').toBe(true);
      expect(report.result === 'fail').toBe(report.exitCode !== 0);
      // A gate passes only if a run of it has passed.
      for (const one of report.gates) {
        if (one.result !== 'pass') continue;
        const own = runs.filter(({ gate, course: { end } }) => gate === one.name && end === 'passed');
        expect(own.some(seen.hasEnded)).toBe(true);
      }
      // Every run has ended, or was cancelled, or is in the output, by its id or by its key.
      for (const run of runs)
        if (!seen.hasEnded(run)) expect(text.includes(run.id) || text.includes(`"${run.key}"`)).toBe(true);
      for (const node of options.nodes) {
        const own = runs.filter(({ gate }) => gate === node.name);
        // Each gate runs at most once per re-run, and its runs do not overlap.
        expect(own.length).toBeLessThanOrEqual(options.retries + 1);
        for (const [at, run] of own.entries())
          if (at > 0) expect(own[at - 1]?.endsAt).toBeLessThanOrEqual(run.createdAt);
        // No gate begins before its needs are met.
        for (const need of own.length === 0 ? [] : node.needs) {
          const end = events.find((event) => event.type === 'gate' && event.gate === need);
          expect(end?.type === 'gate' && ['pass', 'warn'].includes(end.report.result)).toBe(true);
          expect(end?.at).toBeLessThanOrEqual(own[0]?.createdAt ?? 0);
        }
      }
      expect(mostInAMinute(reads)).toBeLessThanOrEqual(60);
      expect(mostInAMinute(creates)).toBeLessThanOrEqual(20);
      // A stop takes 5 s, and decides the exit code.
      const stopped = events.find(({ type }) => type === 'stopping');
      if (stopped !== undefined) expect(seen.endedAt - stopped.at).toBeLessThanOrEqual(5_000);
      const cut = report.gates.some(({ reason }) => reason?.startsWith('rungate was stopped by'));
      if (cut)
        expect(report).toMatchObject({
          exitCode: codes[options.stop?.by ?? ''],
          interruptedBy: options.stop?.by,
        });
      else expect(Object.values(codes)).not.toContain(report.exitCode);
    }),
    { numRuns: 120 },
  );
});

const folder = mkdtempSync(join(tmpdir(), 'rungate-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a job that is killed at any time and re-run runs no gate twice at once', async () => {
  // On another machine, a run that was started with a random key cannot be found, so the service says what it repeats.
  const machines = fc.constantFrom(['same', true], ['same', false], ['other', true]);
  await fc.assert(
    fc.asyncProperty(scene, fc.nat(600_000), machines, async (options, killAt, [machine, saysReplayed]) => {
      const journals = machine === 'same' ? mkdtempSync(join(folder, 'job-')) : null;
      const seen = await world({
        ...options,
        stop: null,
        killAt,
        saysReplayed: saysReplayed === true,
        journals,
      });
      const report = reportOf(seen);
      for (const { result, advisory } of report.gates)
        if (report.exitCode === 0) expect(advisory || result === 'pass' || result === 'warn').toBe(true);
      for (const { name } of options.nodes) {
        const own = seen.runs.filter(({ gate }) => gate === name);
        const ends = own.map(({ endsAt, cancelledAt }) => Math.min(endsAt, cancelledAt ?? endsAt));
        for (const [at, run] of own.entries())
          if (at > 0) expect(ends[at - 1]).toBeLessThanOrEqual(run.createdAt);
      }
    }),
    { numRuns: 60 },
  );
});

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

  it('after the last verdict does not change the exit code', async () => {
    // The timeout is after 60 s, and the cancellation that follows it gets no response.
    const courses = { a: [{ ...good, end: 'stuck', cancel: 'hangs' }] } as const;
    const stop = { at: 65_000, by: 'SIGTERM' } as const;
    const seen = await world({ nodes: nodes.slice(0, 1), courses, timeoutMs: 60_000, stop });
    expect(seen.events.map(({ type }) => type)).toContain('stopping');
    expect(seen.endedAt).toBeLessThanOrEqual(70_000);
    expect(reportOf(seen)).toMatchObject({
      exitCode: 3,
      gates: [{ reason: null, runs: [{ verdict: 'timeout' }] }],
    });
    expect(reportOf(seen).interruptedBy).toBeUndefined();
  });

  it('while a gate connects to the hub creates no run of that gate', async () => {
    const seen = await world({ nodes, courses: {}, hubMs: 2_000, stop: { at: 1_000, by: 'SIGINT' } });
    expect(seen.runs).toEqual([]);
    expect(reportOf(seen)).toMatchObject({ exitCode: 130, interruptedBy: 'SIGINT' });
    expect(seen.links.open).toBe(0);
  });
});

it('a gate does not take the run of another gate for its own', async () => {
  const nodes = ['a', 'b'].map((name) => ({ name, needs: [], advisory: false }));
  const seen = await world({ nodes, courses: { a: [good], b: [good] }, oneRun: true });
  const [a, b] = reportOf(seen).gates;
  expect(a).toMatchObject({ result: 'pass' });
  expect(b).toMatchObject({
    result: 'fail',
    exitCode: 5,
    error: { message: 'the service returned run run-a-0 for gate b, but that is the run of gate a' },
  });
  expect(seen.runs.every(({ cancelledAt }) => cancelledAt === null)).toBe(true);
});

it('an error of rungate cancels the other runs and is thrown', async () => {
  const nodes = ['a', 'b'].map((name) => ({ name, needs: [], advisory: false }));
  const broken = { ...good, reads: null as unknown as number[] };
  const seen = await world({ nodes, courses: { a: [broken], b: [good] } });
  expect(seen.settled).toMatchObject({ error: expect.any(TypeError) });
  expect(seen.runs.find(({ gate }) => gate === 'b')?.cancelledAt).not.toBeNull();
});
