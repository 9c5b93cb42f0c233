import { describe, expect, it } from 'vitest';
import { azureCommands, githubAnnotations } from '../../../src/ci/reports/log-commands.ts';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { gitlabDotenv } from '../../../src/ci/reports/outputs.ts';
import { azureCommand, githubCommand, gitlabVariables } from './readers.ts';
import { retried } from './samples.ts';

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

  it("GitLab's variables", () => {
    expect(gitlabVariables(gitlabDotenv(retried.flaky))).toContainEqual(['RUNGATE_VERDICT', 'flaky']);
  });
});
