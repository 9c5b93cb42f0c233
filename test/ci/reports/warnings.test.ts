import { describe, expect, it } from 'vitest';
import { azureCommands, githubAnnotations } from '../../../src/ci/reports/log-commands.ts';
import { gateOutputs, gitlabDotenv } from '../../../src/ci/reports/outputs.ts';
import { headline } from '../../../src/ci/reports/wording.ts';
import { shownAs, verdicts } from '../../../src/gate/policy.ts';
import { shownGate } from '../../../src/gate/report.ts';
import { gate, run, samples } from './samples.ts';

const letPass = Object.fromEntries(
  (['failed', 'blocked', 'cancelled'] as const).map((verdict) => [
    verdict,
    { ...samples[verdict], action: 'pass' as const },
  ]),
);

describe('a run', () => {
  it.each(verdicts)(
    'with the verdict %s is shown as passed only if it passed, and as failed if it fails the gate',
    (verdict) => {
      expect(shownAs({ verdict, action: 'fail' })).toBe('fail');
      expect(shownAs({ verdict, action: 'warn' })).toBe('warn');
      expect(shownAs({ verdict, action: 'pass' })).toBe(verdict === 'passed' ? 'pass' : 'warn');
    },
  );

  it('without a verdict is shown as a warning', () => {
    expect(shownAs({ verdict: null, action: 'pass' })).toBe('warn');
  });
});

describe('a gate', () => {
  it.each([
    ['passed if every run passed', gate([run(), run()]), 'pass', 'gate passed'],
    [
      'a warning if one run did not pass',
      gate([run(), letPass.failed ?? run()]),
      'warn',
      'gate passed with 1 warning',
    ],
    ['failed if it failed', gate([samples.failed]), 'fail', 'gate failed (exit 1)'],
    [
      'failed if a report is missing',
      gate([run()], { exitCode: 78 }),
      'fail',
      'the runs passed the gate, but a report could not be written (exit 78)',
    ],
  ] as const)('is shown as %s', (_what, report, shown, expected) => {
    expect(shownGate(report)).toBe(shown);
    expect(headline(report)).toBe(expected);
  });
});

describe.each(Object.entries(letPass))('a %s run that the policy lets pass', (verdict, one) => {
  const report = gate([run(), one]);

  it('is a warning with its verdict in every report', () => {
    expect(report).toMatchObject({ result: 'pass', exitCode: 0 });
    expect(gateOutputs(report)).toMatchObject({ result: 'pass', exitCode: '0', verdict });
    const [annotation, ...more] = githubAnnotations(report);
    expect(more).toEqual([]);
    expect(annotation).toMatch(/^::warning title=rungate%3A the gate lets it pass::/);
    expect(annotation).toContain(`run ${one.runId} `);
    expect(azureCommands(report)[0]).toMatch(/^##vso\[task\.logissue type=warning\]rungate: run /);
    expect(azureCommands(report)).toContain(
      `##vso[task.setvariable variable=RUNGATE_VERDICT;isOutput=true]${verdict}`,
    );
    expect(gitlabDotenv(report)).toMatch(new RegExp(`^RUNGATE_VERDICT=${verdict}$`, 'm'));
  });
});
