import { describe, expect, it } from 'vitest';
import { gateOutputs, shownRun } from '../../../src/ci/reports/outputs.ts';
import { headline } from '../../../src/ci/reports/wording.ts';
import { gate, run, samples } from './samples.ts';

const flaky = run({ runId: 'run_12', verdict: 'flaky', action: 'fail' });

describe('the outputs', () => {
  const { passed, failed, blocked, cancelled, mismatch, stopped } = samples;
  it.each([
    ['the only run', [passed], 0, 'run_1'],
    ['the run with a warning', [passed, cancelled], 0, 'run_4'],
    ['the failed run', [passed, blocked, failed], 1, 'run_2'],
    ['the run of another build', [passed, blocked, mismatch], 8, 'run_10'],
    ['the flaky run that fails its gate', [blocked, flaky], 1, 'run_12'],
    ['the run that had not ended', [failed, stopped], 143, 'run_7'],
    ['the run that had not ended, not a skipped gate', [failed, samples.skipped, stopped], 143, 'run_7'],
  ] as const)('are those of %s', (_what, runs, exitCode, runId) => {
    const interrupted = exitCode === 143 ? ({ interruptedBy: 'SIGTERM' } as const) : {};
    expect(shownRun(gate([...runs], { exitCode, ...interrupted }))?.runId).toBe(runId);
  });

  it.each(['a\nb', '::error::x', 'https://a/##vso[task.complete]', 'a\u202eb', '\u001b[31m'])(
    'leave out an id or an address that a CI system could execute in its log: %j',
    (text) => {
      expect(gateOutputs(gate([run({ runId: text, appUrl: text })]))).toMatchObject({
        runId: '',
        appUrl: '',
      });
    },
  );

  it('have counts as digits, empty if a count is not a number of items', () => {
    const odd = run({ failed: 1.5, blocked: Number.NaN });
    expect(gateOutputs(gate([odd]))).toMatchObject({ failed: '', blocked: '', exitCode: '0' });
    expect(gateOutputs(gate([]))).toMatchObject({ runId: '', verdict: '', result: 'pass' });
  });
});

it.each([
  [gate([samples.cancelled, samples.cancelled]), 'gate passed with 2 warnings'],
  [gate([samples.skipped]), 'gate skipped'],
  [gate([run()], { exitCode: 78 }), 'the runs passed the gate, but a report could not be written (exit 78)'],
  [gate([samples.stopped], { result: 'warn', exitCode: 143 }), 'gate stopped'],
  [gate([samples.stopped], { exitCode: 130, interruptedBy: 'SIGINT' }), 'stopped by SIGINT (exit 130)'],
])('the headline gives the result of the gate (row %#)', (report, expected) => {
  expect(headline(report)).toBe(expected);
});
