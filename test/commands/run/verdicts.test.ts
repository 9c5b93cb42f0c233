import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on.close());

async function gate(options: MockOptions, ...flags: string[]) {
  on = await stage({ duration: 25_000, ...options });
  const result = await on.rungate(...trigger, '--wait', '--json', ...flags);
  return { ...result, report: JSON.parse(result.out) };
}

describe('the exit code follows the verdict and the policy', () => {
  it.each([
    ['passed', [], 0, 'pass', 'passed'],
    ['failed', [], 1, 'fail', 'failed'],
    ['blocked', [], 2, 'fail', 'blocked'],
    ['stuck', [], 3, 'fail', 'timeout'],
    ['cancelled', [], 0, 'warn', 'cancelled'],
    ['cancelled', ['--strict'], 4, 'fail', 'cancelled'],
    ['cancelled', ['--strict', '--on', 'cancelled=pass'], 0, 'pass', 'cancelled'],
    ['cancelled', ['--no-strict'], 0, 'warn', 'cancelled'],
    ['failed', ['--on', 'failed=warn'], 0, 'warn', 'failed'],
    ['failed', ['--on', 'failed=warn,blocked=warn'], 0, 'warn', 'failed'],
    ['blocked', ['--on', 'failed=warn,blocked=warn'], 0, 'warn', 'blocked'],
    ['failed', ['--on', 'failed=pass'], 0, 'pass', 'failed'],
    ['blocked', ['--on', 'blocked=warn', '--strict'], 0, 'warn', 'blocked'],
    ['stuck', ['--on', 'timeout=warn'], 0, 'warn', 'timeout'],
  ] as const)('%s with %j: exit code %i', async (outcome, flags, code, action, verdict) => {
    const { report, ...result } = await gate({ outcome }, ...flags);
    expect(result.code).toBe(code);
    expect(report).toMatchObject({ schemaVersion: 1, result: action, exitCode: code });
    expect(report.runs).toHaveLength(1);
    expect(report.runs[0]).toMatchObject({ verdict, action: action, reattached: false });
  });

  it('the hint of a warning names an option that helps, whatever the policy was', async () => {
    on = await stage({ outcome: 'cancelled' });
    const given = [...trigger, '--wait', '--strict', '--on', 'cancelled=warn'];
    const { code, err } = await on.rungate(...given);
    expect(code).toBe(0);
    const [, option = ''] = /→ the gate lets it pass; (--.*) makes it fail/.exec(err) ?? [];
    expect((await on.rungate(...given, ...option.split(' '))).code).toBe(4);
  });

  it('RUNGATE_STRICT fails a cancelled run, and --no-strict overrides it', async () => {
    on = await stage({ outcome: 'cancelled' });
    const strict = on.with({ env: { RUNGATE_STRICT: 'true' } });
    expect((await strict(...trigger, '--wait')).code).toBe(4);
    expect((await strict(...trigger, '--wait', '--no-strict')).code).toBe(0);
  });
});

describe('several runs in one process', () => {
  it('exit by the most severe verdict', async () => {
    on = await stage({ outcome: ['passed', 'stuck', 'blocked', 'failed', 'cancelled'], duration: 1000 });
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await on.rungate(...trigger)).out.trim());
    const { code, out } = await on.rungate('run', 'wait', ...ids, '--json', '--strict', '--timeout', '5m');
    const report = JSON.parse(out);
    expect(code).toBe(1);
    expect(report.exitCode).toBe(1);
    expect(report.runs.map((run: { verdict: string }) => run.verdict)).toEqual([
      'passed',
      'timeout',
      'blocked',
      'failed',
      'cancelled',
    ]);
    expect(report.runs.map((run: { runId: string }) => run.runId)).toEqual(ids);
  });

  it('exit with 5 if one run is unknown', async () => {
    on = await stage({ outcome: 'failed', duration: 0 });
    const id = (await on.rungate(...trigger)).out.trim();
    const { code, out } = await on.rungate('run', 'wait', id, 'run_nowhere', '--json');
    expect(code).toBe(5);
    const [known, unknown] = JSON.parse(out).runs;
    expect(known.verdict).toBe('failed');
    expect(unknown).toMatchObject({ verdict: 'unobserved', state: null, failed: null, appUrl: null });
    expect(unknown.error).toMatchObject({ code: 'not_found', status: 404, method: 'GET' });
  });
});
