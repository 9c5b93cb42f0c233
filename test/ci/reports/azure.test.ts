import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { azureCommands } from '../../../src/ci/reports/log-commands.ts';
import { shownAs } from '../../../src/gate/policy.ts';
import { decidingRuns } from '../../../src/gate/report.ts';
import { azureCommand, linesOf } from './readers.ts';
import { everything, gate, hostileGate, run } from './samples.ts';

const variables = ['RUN_ID', 'VERDICT', 'RESULT', 'EXIT_CODE', 'FAILED', 'BLOCKED', 'APP_URL'].map(
  (name) => `RUNGATE_${name}`,
);

describe('logging commands for Azure', () => {
  it('are an issue for each run that did not pass, and a variable for each output', () => {
    expect(azureCommands(everything).join('\n')).toMatchInlineSnapshot(`
      "##vso[task.logissue type=error]rungate: run run_2 failed: 2 failed, 1 blocked%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: run run_3 blocked: 0 failed, 3 blocked%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=warning]rungate: run run_4 was cancelled before it finished%3B the gate lets it pass%3B --on cancelled=fail makes it fail%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: run run_4 was cancelled before it finished%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: run run_5 had not ended after 1 h and 4 status reads (state running)%3B increase --timeout%3B --cancel-on-timeout cancels a run that times out%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: run run_6 could not be observed: GET /api/runs/run_6: 401%3B check RUNGATE_API_KEY
      ##vso[task.logissue type=error]rungate: run run_10 did not test only the expected build: https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7" (0 failed, 0 blocked)%3B start the gate after the roll-out%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: web: shop / web was skipped: it needs api, which failed
      ##vso[task.logissue type=error]rungate: run run_7 had not ended when rungate was stopped%3B https://app.example.test/runs/run_1
      ##vso[task.logissue type=error]rungate: a run may have been created%3B find it by its idempotency key key-1
      ##vso[task.setvariable variable=RUNGATE_RUN_ID;isOutput=true]run_2
      ##vso[task.setvariable variable=RUNGATE_VERDICT;isOutput=true]failed
      ##vso[task.setvariable variable=RUNGATE_RESULT;isOutput=true]fail
      ##vso[task.setvariable variable=RUNGATE_EXIT_CODE;isOutput=true]1
      ##vso[task.setvariable variable=RUNGATE_FAILED;isOutput=true]2
      ##vso[task.setvariable variable=RUNGATE_BLOCKED;isOutput=true]1
      ##vso[task.setvariable variable=RUNGATE_APP_URL;isOutput=true]https://app.example.test/runs/run_1"
    `);
  });

  it.each(['$(System.AccessToken)', '$[variables.x]', '${{ x }}', 'https://a/\n', 'a\u001b[0m'])(
    'leave a variable empty if Azure would change its value %j',
    (appUrl) => {
      const line = azureCommands(gate([run({ appUrl })])).at(-1);
      expect(line).toBe('##vso[task.setvariable variable=RUNGATE_APP_URL;isOutput=true]');
    },
  );

  test('are exactly the intended ones for hostile texts, and never complete the task', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const lines = linesOf(azureCommands(report).join('\n'));
        const commands = lines.map(azureCommand);
        const issues = decidingRuns(report)
          .map(shownAs)
          .filter((shown) => shown !== 'pass');
        expect(commands.map((command) => command?.name)).toEqual([
          ...issues.map(() => 'task.logissue'),
          ...variables.map(() => 'task.setvariable'),
        ]);
        expect(commands.slice(0, issues.length).map((command) => command?.properties)).toEqual(
          issues.map((shown) => ({ type: shown === 'warn' ? 'warning' : 'error' })),
        );
        expect(commands.slice(issues.length).map((command) => command?.properties)).toEqual(
          variables.map((variable) => ({ variable, isOutput: 'true' })),
        );
        for (const command of commands)
          expect(azureCommand(command?.data ?? '')?.name ?? '').not.toMatch(/^task\.complete/);
      }),
      { numRuns: 150 },
    );
  });
});
