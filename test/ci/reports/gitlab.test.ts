import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { gateOutputs, gitlabDotenv, shownRun } from '../../../src/ci/reports/outputs.ts';
import { gitlabVariables } from './readers.ts';
import { gate, hostileGate, run, samples } from './samples.ts';

describe('the dotenv artefact', () => {
  it('has a line for each known value', () => {
    expect(gitlabDotenv(gate([samples.failed]))).toMatchInlineSnapshot(`
      "RUNGATE_RESULT=fail
      RUNGATE_EXIT_CODE=1
      RUNGATE_VERDICT=failed
      RUNGATE_FAILED=2
      RUNGATE_BLOCKED=1
      RUNGATE_RUN_ID=run_2
      RUNGATE_APP_URL=https://app.example.test/runs/run_1
      RUNGATE_STATE=completed
      RUNGATE_IDEMPOTENCY_KEY=key-1
      "
    `);
  });

  it.each([
    'https://a.example/$HOME',
    'a b',
    "a'b",
    'a"b',
    'a\nRUNGATE_RESULT=pass',
    'a;id',
    'a&id',
    '`id`',
    'ä',
    'a\\b',
    '',
  ])('leaves out the value %j, which GitLab or a shell would change', (appUrl) => {
    expect(gitlabDotenv(gate([run({ appUrl })]))).not.toContain('RUNGATE_APP_URL');
  });

  it('stays below 5 KB and keeps the short values', () => {
    const text = gitlabDotenv(gate([run({ appUrl: `https://a.example/${'x'.repeat(6000)}` })]));
    expect(text).not.toContain('APP_URL');
    expect(text).toContain('RUNGATE_IDEMPOTENCY_KEY=key-1');
  });

  test('is read back as the same variables for hostile texts', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const read = gitlabVariables(gitlabDotenv(report));
        const outputs = gateOutputs(report);
        const one = shownRun(report);
        const written: Record<string, string> = {
          RUNGATE_RESULT: outputs.result,
          RUNGATE_EXIT_CODE: outputs.exitCode,
          RUNGATE_VERDICT: outputs.verdict,
          RUNGATE_FAILED: outputs.failed,
          RUNGATE_BLOCKED: outputs.blocked,
          RUNGATE_RUN_ID: outputs.runId,
          RUNGATE_APP_URL: outputs.appUrl,
          RUNGATE_STATE: one?.state ?? '',
          RUNGATE_IDEMPOTENCY_KEY: one?.idempotencyKey ?? '',
        };
        expect(new Set(read.map(([key]) => key)).size).toBe(read.length);
        for (const [key, value] of read) expect(value).toBe(written[key]);
        expect(read.slice(0, 2).map(([key]) => key)).toEqual(['RUNGATE_RESULT', 'RUNGATE_EXIT_CODE']);
      }),
      { numRuns: 150 },
    );
  });
});
