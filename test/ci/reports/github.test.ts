import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { githubAnnotations } from '../../../src/ci/reports/log-commands.ts';
import { gateOutputs, githubOutputs } from '../../../src/ci/reports/outputs.ts';
import { shownAs } from '../../../src/gate/policy.ts';
import { decidingRuns } from '../../../src/gate/report.ts';
import { githubCommand, githubFile, linesOf } from './readers.ts';
import { everything, gate, hostileGate, run, samples } from './samples.ts';

describe('outputs for GitHub', () => {
  it('are one block each, between delimiters', () => {
    expect(githubOutputs(gate([samples.failed]), 'rungate_4f')).toMatchInlineSnapshot(`
      "run-id<<rungate_4f
      run_2
      rungate_4f
      verdict<<rungate_4f
      failed
      rungate_4f
      result<<rungate_4f
      fail
      rungate_4f
      exit-code<<rungate_4f
      1
      rungate_4f
      failed<<rungate_4f
      2
      rungate_4f
      blocked<<rungate_4f
      1
      rungate_4f
      app-url<<rungate_4f
      https://app.example.test/runs/run_1
      rungate_4f
      "
    `);
  });

  it('are refused if a value contains the delimiter', () => {
    expect(() => githubOutputs(gate([run({ appUrl: 'https://a.example/EOF' })]), 'EOF')).toThrow('delimiter');
  });

  test('are read back exactly for hostile texts, and no others with them', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const read = githubFile(githubOutputs(report, 'rungate_51f0c1d2'));
        const { runId, verdict, exitCode, failed, blocked, appUrl } = gateOutputs(report);
        expect(read).toEqual([
          ['run-id', runId],
          ['verdict', verdict],
          ['result', report.result],
          ['exit-code', exitCode],
          ['failed', failed],
          ['blocked', blocked],
          ['app-url', appUrl],
        ]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('annotations for GitHub', () => {
  it('are one for each run that did not pass, the worst first', () => {
    expect(githubAnnotations(gate([samples.passed]))).toEqual([]);
    expect(githubAnnotations(everything).join('\n')).toMatchInlineSnapshot(`
      "::error title=rungate%3A gate failed (exit 1)::run run_2 failed: 2 failed, 1 blocked%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::run run_3 blocked: 0 failed, 3 blocked%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::run run_4 was cancelled before it finished%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::run run_5 had not ended after 1 h and 4 status reads (state running)%0Aincrease --timeout; --cancel-on-timeout cancels a run that times out%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::run run_6 could not be observed: GET /api/runs/run_6: 401%0Acheck RUNGATE_API_KEY
      ::error title=rungate%3A gate failed (exit 1)::run run_10 did not test only the expected build: https://shop.example.test/version showed "8f2e6b0", not "3c1d9a7" (0 failed, 0 blocked)%0Astart the gate after the roll-out%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::web: shop / web was skipped: it needs api, which failed
      ::error title=rungate%3A gate failed (exit 1)::run run_7 had not ended when rungate was stopped%0Ahttps://app.example.test/runs/run_1
      ::error title=rungate%3A gate failed (exit 1)::a run may have been created; find it by its idempotency key key-1
      ::warning title=rungate%3A the gate lets it pass::run run_4 was cancelled before it finished%0Athe gate lets it pass; --on cancelled=fail makes it fail%0Ahttps://app.example.test/runs/run_1"
    `);
  });

  it('are at most ten of each level, the tenth with the number of the others', () => {
    const lines = githubAnnotations(gate(Array.from({ length: 25 }, () => samples.failed)));
    expect(lines).toHaveLength(10);
    expect(lines[9]).toMatch(/::16 more runs not shown$/);
    expect(githubAnnotations(gate(Array.from({ length: 10 }, () => samples.failed)))[9]).toMatch(/run_2/);
  });

  test('are exactly one command each for hostile texts', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const lines = linesOf(githubAnnotations(report).join('\n'));
        const commands = lines.map(githubCommand);
        expect(lines).toHaveLength(decidingRuns(report).filter((run) => shownAs(run) !== 'pass').length);
        for (const command of commands) {
          expect(['error', 'warning']).toContain(command?.name);
          expect(Object.keys(command?.properties ?? {})).toEqual(['title']);
          expect(command?.properties.title).toMatch(
            /^rungate: (gate failed|gate stopped|stopped by SIGTERM|the gate lets it pass$)/,
          );
          // The decoded text is harmless too if another program prints it.
          for (const line of linesOf(command?.data ?? '')) expect(githubCommand(line)).toBeNull();
        }
      }),
      { numRuns: 150 },
    );
  });
});
