import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../src/errors.ts';
import type { PlanNode } from '../../../src/gate/plan/graph.ts';
import {
  combineGates,
  endedGate,
  failedStart,
  type PlannedGate,
  skippedGate,
  unstartedGates,
} from '../../../src/gate/plan/plan.ts';
import { unknownRun } from '../../../src/gate/report.ts';
import type { GateReport, NamedGateReport } from '../../../src/gate/result-types.ts';
import { named } from '../../../src/gate/watched-run.ts';

const node = (name: string, advisory = false): PlanNode => ({ name, needs: [], advisory });
const report = (
  result: GateReport['result'],
  exitCode: number,
  more: Partial<GateReport> = {},
): GateReport => ({
  schemaVersion: 1,
  result,
  exitCode,
  runs: [unknownRun({ runId: 'r1', verdict: exitCode === 0 ? 'passed' : 'failed', action: result })],
  ...more,
});
const refused = new HttpError('422', { status: 422 });

describe('the result of a gate', () => {
  it.each<[string, NamedGateReport, string, number | null]>([
    ['passed', endedGate(node('a'), report('pass', 0), null), 'pass', 0],
    ['failed', endedGate(node('a'), report('fail', 1), null), 'fail', 1],
    ['failed and is advisory', endedGate(node('a', true), report('fail', 1), null), 'warn', 0],
    ['has no run', endedGate(node('a'), report('pass', 0, { runs: [] }), null), 'fail', 70],
    ['could not start a run', failedStart(node('a'), named(), refused), 'fail', 5],
    ['could not start a run and is advisory', failedStart(node('a', true), named(), refused), 'warn', 0],
    [
      'was stopped',
      endedGate(
        node('a'),
        report('fail', 143, { interruptedBy: 'SIGTERM', cancellation: 'requested' }),
        'why',
      ),
      'fail',
      null,
    ],
    ['was skipped and is advisory', skippedGate(node('a', true), 'why'), 'skipped', null],
  ])('that %s is right', (_what, gate, result, exitCode) =>
    expect([gate.result, gate.exitCode]).toEqual([result, exitCode]),
  );

  it('of an advisory gate has warnings in place of failed runs', () => {
    const { runs } = endedGate(node('a', true), report('fail', 1), null);
    expect(runs.map((run) => [run.verdict, run.action])).toEqual([['failed', 'warn']]);
  });

  it('without a run says why', () => {
    const { runs, error } = failedStart(node('a'), named('shop / api'), refused);
    expect(error).toMatchObject({ code: 'http_error', status: 422 });
    expect(runs).toMatchObject([{ name: 'shop / api', runId: null, verdict: 'unobserved', action: 'fail' }]);
  });
});

describe('the result of several gates', () => {
  const passed = endedGate(node('a'), report('pass', 0), null);
  const failed = endedGate(node('b'), report('fail', 1), null);
  const blocked = endedGate(node('c'), report('fail', 2), null);
  const skipped = skippedGate(node('d'), 'it needs b, which failed');
  const advised = endedGate(node('e', true), report('fail', 1), null);

  it.each<[string, NamedGateReport[], string, number]>([
    ['an advisory gate failed', [passed, advised], 'warn', 0],
    ['one failed', [passed, failed, skipped], 'fail', 1],
    ['two failed, the more severe counts', [blocked, failed], 'fail', 1],
    ['there is none', [], 'fail', 70],
    ['one was skipped for no reason', [passed, skipped], 'fail', 70],
  ])('is right if %s', (_what, gates, result, exitCode) =>
    expect(combineGates(gates, null)).toMatchObject({ result, exitCode }),
  );

  it('fails if none could begin, even if all are advisory', () => {
    const start = { body: { projectSlug: 'shop', processSlug: 'e' } };
    const report = unstartedGates([{ ...node('e', true), start } as unknown as PlannedGate], refused);
    expect(report).toMatchObject({ result: 'fail', exitCode: 5, gates: [{ name: 'e', result: 'warn' }] });
  });

  it('is never exit 0 with a gate that did not pass, warn or is advisory', () => {
    const some = fc.constantFrom(passed, failed, blocked, skipped, advised, {
      ...failed,
      exitCode: null,
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 6 }), (gates) => {
        const { exitCode, result } = combineGates(gates, null);
        const right = gates.every((one) => ['pass', 'warn'].includes(one.result) || one.advisory);
        expect(exitCode === 0).toBe(right && gates.length > 0);
        expect(result === 'fail').toBe(exitCode !== 0);
      }),
    );
  });
});
