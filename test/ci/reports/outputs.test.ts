import { describe, expect, it } from 'vitest';
import { decidingRun, gateOutputs } from '../../../src/ci/reports/outputs.ts';
import { headline } from '../../../src/ci/reports/wording.ts';
import { gate, run, samples } from './samples.ts';

describe('of several runs, the outputs are those of the one that decided', () => {
  const { passed, failed, blocked, cancelled, timeout, unobserved, stopped } = samples;
  it.each([
    ['the only one', [passed], 0, 'run_1'],
    ['the first, where all passed', [passed, run({ runId: 'run_9' })], 0, 'run_1'],
    ['the one that warns', [passed, cancelled], 0, 'run_4'],
    ['the failed one', [passed, blocked, failed], 1, 'run_2'],
    ['the blocked one', [passed, timeout, blocked], 2, 'run_3'],
    ['the one whose time was up', [passed, timeout], 3, 'run_5'],
    ['the one that could not be observed', [failed, unobserved], 6, 'run_6'],
    ['the one that had not ended', [failed, stopped], 143, 'run_7'],
  ] as const)('%s', (_what, runs, exitCode, runId) => {
    const interrupted = exitCode === 143 ? ({ interruptedBy: 'SIGTERM' } as const) : {};
    expect(decidingRun(gate([...runs], { exitCode, ...interrupted }))?.runId).toBe(runId);
  });

  it.each(['a\nb', '::error::x', 'https://a/##vso[task.complete]', 'a\u202eb', '\u001b[31m'])(
    'an id or an address that could command a log is left out: %j',
    (text) => {
      expect(gateOutputs(gate([run({ runId: text, appUrl: text })]))).toMatchObject({
        runId: '',
        appUrl: '',
      });
    },
  );

  it('a count is digits or nothing', () => {
    const odd = run({ failed: 1.5, blocked: Number.NaN });
    expect(gateOutputs(gate([odd]))).toMatchObject({ failed: '', blocked: '', exitCode: '0' });
    expect(gateOutputs(gate([]))).toMatchObject({ runId: '', verdict: '', gate: 'pass' });
  });
});

it.each([
  [gate([samples.passed]), 'gate passed'],
  [gate([samples.cancelled, samples.passed]), 'gate passed with 1 warning'],
  [gate([samples.cancelled, samples.cancelled]), 'gate passed with 2 warnings'],
  [gate([samples.failed]), 'gate failed (exit 1)'],
  [gate([samples.stopped], { exitCode: 130, interruptedBy: 'SIGINT' }), 'stopped by SIGINT (exit 130)'],
])('the headline says the gate', (report, words) => {
  expect(headline(report)).toBe(words);
});
