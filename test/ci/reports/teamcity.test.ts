import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { teamcityMessages } from '../../../src/ci/reports/log-commands.ts';
import { decidingRuns } from '../../../src/gate/report.ts';
import { linesOf, teamcityMessage } from './readers.ts';
import { everything, gate, hostileGate, hostileSuites, run, samples } from './samples.ts';

const namesOf = (lines: readonly string[]) => lines.map((line) => teamcityMessage(line)?.name);

describe('service messages for TeamCity', () => {
  it('are a test for each run, a build problem for each run that fails the gate, and the status', () => {
    expect(teamcityMessages(everything).join('\n')).toMatchInlineSnapshot(`
      "##teamcity[testSuiteStarted name='rungate']
      ##teamcity[testStarted name='run_1']
      ##teamcity[testFinished name='run_1' duration='31200']
      ##teamcity[testStarted name='run_2']
      ##teamcity[testFailed name='run_2' message='run run_2 failed: 2 failed, 1 blocked' details='https://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_2' duration='31200']
      ##teamcity[testStarted name='run_3']
      ##teamcity[testFailed name='run_3' message='run run_3 blocked: 0 failed, 3 blocked' details='https://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_3' duration='31200']
      ##teamcity[testStarted name='run_4']
      ##teamcity[testIgnored name='run_4' message='run run_4 was cancelled before it finished']
      ##teamcity[testFinished name='run_4' duration='31200']
      ##teamcity[testStarted name='run_4']
      ##teamcity[testFailed name='run_4' message='run run_4 was cancelled before it finished' details='https://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_4' duration='31200']
      ##teamcity[testStarted name='run_5']
      ##teamcity[testFailed name='run_5' message='run run_5 had not ended after 1 h and 4 status reads (state running)' details='increase --timeout; --cancel-on-timeout cancels a run that times out|nhttps://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_5' duration='3600000']
      ##teamcity[testStarted name='run_6']
      ##teamcity[testFailed name='run_6' message='run run_6 could not be observed: GET /api/runs/run_6: 401' details='check RUNGATE_API_KEY']
      ##teamcity[testFinished name='run_6' duration='31200']
      ##teamcity[testStarted name='run_10']
      ##teamcity[testFailed name='run_10' message='run run_10 did not test only the expected build: https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7" (0 failed, 0 blocked)' details='start the gate after the roll-out|nhttps://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_10' duration='31200']
      ##teamcity[testStarted name='shop / checkout']
      ##teamcity[testFinished name='shop / checkout' duration='31200']
      ##teamcity[testStarted name='shop / smoke, web']
      ##teamcity[testFinished name='shop / smoke, web' duration='31200']
      ##teamcity[testStarted name='web: shop / web']
      ##teamcity[testIgnored name='web: shop / web' message='web: shop / web was skipped: it needs api, which failed']
      ##teamcity[testFinished name='web: shop / web' duration='0']
      ##teamcity[testStarted name='run_7']
      ##teamcity[testFailed name='run_7' message='run run_7 had not ended when rungate was stopped' details='https://app.example.test/runs/run_1']
      ##teamcity[testFinished name='run_7' duration='31200']
      ##teamcity[testStarted name='run with the key key-1']
      ##teamcity[testFailed name='run with the key key-1' message='a run may have been created; find it by its idempotency key key-1' details='']
      ##teamcity[testFinished name='run with the key key-1' duration='31200']
      ##teamcity[testSuiteFinished name='rungate']
      ##teamcity[buildProblem description='rungate: run run_2 failed: 2 failed, 1 blocked']
      ##teamcity[buildProblem description='rungate: run run_3 blocked: 0 failed, 3 blocked']
      ##teamcity[buildProblem description='rungate: run run_4 was cancelled before it finished']
      ##teamcity[buildProblem description='rungate: run run_5 had not ended after 1 h and 4 status reads (state running)']
      ##teamcity[buildProblem description='rungate: run run_6 could not be observed: GET /api/runs/run_6: 401']
      ##teamcity[buildProblem description='rungate: run run_10 did not test only the expected build: https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7" (0 failed, 0 blocked)']
      ##teamcity[buildProblem description='rungate: run run_7 had not ended when rungate was stopped']
      ##teamcity[buildProblem description='rungate: a run may have been created; find it by its idempotency key key-1']
      ##teamcity[buildStatus text='{build.status.text}; rungate: gate failed (exit 1)']"
    `);
  });

  it('contain no failed test if the gate lets the build continue', () => {
    const names = namesOf(teamcityMessages(gate([run({ ...samples.failed, action: 'warn' })])));
    expect(names).toContain('testIgnored');
    expect(names).not.toContain('testFailed');
    expect(names).not.toContain('buildProblem');
  });

  it('contain characters outside ASCII as their codes', () => {
    const [, started = ''] = teamcityMessages(gate([run({ runId: "ä🎉|'[]" })]));
    expect(started).toBe("##teamcity[testStarted name='|0x00E4|0xD83C|0xDF89|||'|[|]']");
    expect(teamcityMessage(started)?.properties.name).toBe("ä🎉|'[]");
  });

  test('are exactly the intended ones for hostile texts', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const lines = linesOf(teamcityMessages(report).join('\n'));
        expect(lines.join('')).toMatch(/^[\x20-\x7e]*$/);
        expect(namesOf(lines)).toEqual([
          'testSuiteStarted',
          ...decidingRuns(report).flatMap((one) => [
            'testStarted',
            ...(one.verdict === 'passed' ? [] : [one.action === 'fail' ? 'testFailed' : 'testIgnored']),
            'testFinished',
          ]),
          'testSuiteFinished',
          ...decidingRuns(report)
            .filter((one) => one.action === 'fail')
            .map(() => 'buildProblem'),
          'buildStatus',
        ]);
        for (const line of lines) {
          const message = teamcityMessage(line);
          if (message?.name === 'testFinished') expect(message.properties.duration).toMatch(/^\d+$/);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('have the names of several gates for any text, and nothing breaks out of them', () => {
    fc.assert(
      fc.property(hostileSuites, (report) => {
        const lines = linesOf(teamcityMessages(report).join('\n'));
        const found = lines.map(teamcityMessage);
        expect(found).not.toContain(null);
        const suites = found.filter((message) => message?.name === 'testSuiteStarted');
        expect(suites.map((message) => message?.properties.name)).toEqual(
          report.suites?.map(({ name }) => name),
        );
      }),
      { numRuns: 100 },
    );
  });
});
