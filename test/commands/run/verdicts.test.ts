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

describe('the report', () => {
  it('has every documented field, and null for unknown facts', async () => {
    const { report } = await gate({ outcome: 'failed' });
    expect(Object.keys(report).sort()).toEqual(['exitCode', 'hint', 'result', 'runs', 'schemaVersion']);
    expect(Object.keys(report.runs[0]).sort()).toEqual(
      [
        'runId',
        'name',
        'project',
        'process',
        'tags',
        'state',
        'verdict',
        'action',
        'failed',
        'blocked',
        'appUrl',
        'attempts',
        'elapsedSeconds',
        'endedAt',
        'idempotencyKey',
        'reattached',
      ].sort(),
    );
    expect(report.runs[0]).toMatchObject({
      runId: expect.stringMatching(/^run_/),
      state: 'completed',
      failed: 2,
      blocked: 0,
      appUrl: expect.stringContaining('/runs/run_'),
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(report.runs[0].elapsedSeconds).toBeGreaterThan(25);
  });

  it.each([
    ['the action', true, 'plain', ''],
    ['the action with a table', true, 'table', 'shop / checkout  passed'],
    ['another CI job', false, 'plain', 'run_'],
  ])('in the log of %s', async (_name, isLog, format, out) => {
    on = await stage({ outcome: 'passed' });
    const flags = format === 'plain' ? [] : ['--format', format];
    const ended = await on.with({ isLog, env: { CI: '1' } })(...trigger, '--wait', ...flags);
    expect(ended.out.slice(0, out.length || undefined)).toBe(out);
    expect(ended.err).toMatch(/^✓ shop \/ checkout \(run run_\w+\) passed: /m);
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

  it('share 60 reads in any minute', async () => {
    on = await stage({ outcome: 'stuck', retryAfterSeconds: 0.1 });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) ids.push((await on.rungate(...trigger)).out.trim());
    await on.rungate('run', 'wait', ...ids, '--timeout', '3m', '-q');
    const reads = on.mock.requests.filter((request) => request.endpoint === 'run.status').map((r) => r.at);
    expect(reads.length).toBeGreaterThan(120);
    for (const [index, at] of reads.entries()) {
      const later = reads[index + 60];
      if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(60_000);
    }
  });
});
