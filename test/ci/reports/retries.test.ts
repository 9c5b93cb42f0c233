import { describe, expect, it } from 'vitest';
import { azureCommands, githubAnnotations, teamcityMessages } from '../../../src/ci/reports/log-commands.ts';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { gitlabDotenv } from '../../../src/ci/reports/outputs.ts';
import { azureCommand, githubCommand, gitlabVariables, teamcityMessage } from './readers.ts';
import { gate, retried, samples } from './samples.ts';

const firstRun = 'first run: run run_1 failed: 2 failed, 0 blocked';
const passed = 'passed only on retry 1, after a failed run: 0 failed, 0 blocked';

describe('the reports of a flaky gate warn, and have both runs:', () => {
  it('the Markdown', () => {
    const text = markdownReport(retried.flaky);
    expect(text).toContain('### ⚠️ rungate: gate passed with 1 warning');
    expect(text).toContain('| ⚠️ | `shop / checkout` (`run_2`) | flaky |');
    expect(text).toContain(`- \`shop / checkout\` (run \`run_2\`) ${passed}`);
    expect(text).toContain('  - first run: run `run_1` failed: 2 failed, 0 blocked [open](');
  });

  it("GitHub's annotation", () => {
    const [line = ''] = githubAnnotations(retried.flaky);
    expect(githubCommand(line)).toMatchObject({ name: 'warning', data: expect.stringContaining(firstRun) });
  });

  it("Azure's issue", () => {
    const [line = ''] = azureCommands(retried.flaky);
    expect(azureCommand(line)).toMatchObject({ data: expect.stringContaining(firstRun) });
    expect(line).toContain('type=warning');
  });

  it("TeamCity's ignored test", () => {
    const messages = teamcityMessages(retried.flaky).map((line) => teamcityMessage(line));
    const ignored = messages.find((message) => message?.name === 'testIgnored');
    expect(JSON.stringify(ignored)).toContain(firstRun);
    expect(JSON.stringify(ignored)).toContain('shop / checkout');
    const [first = 0, second = 0] = retried.flaky.runs.map((run) => run.elapsedSeconds);
    expect(JSON.stringify(messages)).toContain(`"duration":"${(first + second) * 1000}"`);
  });

  it("GitLab's variables", () => {
    expect(gitlabVariables(gitlabDotenv(retried.flaky))).toContainEqual(['RUNGATE_VERDICT', 'flaky']);
  });
});

it('fails the test of TeamCity if flaky fails the gate', () => {
  const names = teamcityMessages(retried.flakyFails).map((line) => teamcityMessage(line)?.name);
  expect(names).toContain('testFailed');
  expect(names).toContain('buildProblem');
});

it('has a suite of TeamCity for each gate', () => {
  const suites = [
    { name: 'api', report: gate([samples.passed]) },
    { name: 'web', report: retried.flaky },
  ];
  const all = gate([samples.passed, ...retried.flaky.runs]);
  const messages = teamcityMessages({ ...all, suites });
  expect(messages.filter((line) => line.includes('testSuite'))).toEqual([
    "##teamcity[testSuiteStarted name='api']",
    "##teamcity[testSuiteFinished name='api']",
    "##teamcity[testSuiteStarted name='web']",
    "##teamcity[testSuiteFinished name='web']",
  ]);
});
