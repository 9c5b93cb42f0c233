import { describe, expect, it } from 'vitest';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { gitlabDotenv } from '../../../src/ci/reports/outputs.ts';
import { gitlabVariables } from './readers.ts';
import { retried } from './samples.ts';

const passed = 'passed only on retry 1, after a failed run: 0 failed, 0 blocked';

describe('the reports of a flaky gate warn, and have both runs:', () => {
  it('the Markdown', () => {
    const text = markdownReport(retried.flaky);
    expect(text).toContain('### ⚠️ rungate: gate passed with 1 warning');
    expect(text).toContain('| ⚠️ | `shop / checkout` (`run_2`) | flaky |');
    expect(text).toContain(`- \`shop / checkout\` (run \`run_2\`) ${passed}`);
    expect(text).toContain('  - first run: run `run_1` failed: 2 failed, 0 blocked [open](');
  });

  it("GitLab's variables", () => {
    expect(gitlabVariables(gitlabDotenv(retried.flaky))).toContainEqual(['RUNGATE_VERDICT', 'flaky']);
  });
});
