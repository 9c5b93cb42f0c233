import { afterEach, describe, expect, it } from 'vitest';
import { junitReport } from '../../../src/ci/reports/junit.ts';
import { azureCommands, githubAnnotations } from '../../../src/ci/reports/log-commands.ts';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { gateOutputs } from '../../../src/ci/reports/outputs.ts';
import { headline, hintOf } from '../../../src/ci/reports/wording.ts';
import type { Context } from '../../../src/commands/context.ts';
import { printClosing } from '../../../src/commands/run/closing.ts';
import { liveRun } from '../../../src/commands/run/live.ts';
import { printGate } from '../../../src/commands/run/result.ts';
import { NetworkError } from '../../../src/errors.ts';
import { finish } from '../../../src/gate/end.ts';
import { errorData } from '../../../src/gate/error-data.ts';
import { type OutcomeTools, outcomeOf } from '../../../src/gate/plan/outcomes.ts';
import { type PlannedGate, unnamed } from '../../../src/gate/plan/plan.ts';
import {
  type Action,
  actions,
  type Overrides,
  type Policy,
  resolvePolicy,
  type Verdict,
  verdicts,
} from '../../../src/gate/policy.ts';
import { newRun, unobserved } from '../../../src/gate/reads.ts';
import { unknownRun } from '../../../src/gate/report.ts';
import type { GateReport, RunReport } from '../../../src/gate/result-types.ts';
import type { End, GateState, RunState, Why } from '../../../src/gate/state.ts';
import { watch } from '../../../src/gate/watched-run.ts';
import type { EndEvent } from '../../../src/library/reporter.ts';
import type { Flags } from '../../../src/options/table.ts';
import type { Output } from '../../../src/output/output.ts';
import { gateStatement } from '../../../src/receipt/gate-statement.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';
import { rulesOf } from '../../gate/rules.ts';
import { commit } from '../../receipt/table.ts';

describe('verdicts', () => {
  let on: Stage;
  afterEach(() => on.close());

  it('the hint of a warning names an option that helps, whatever the policy was', async () => {
    on = await stage({ outcome: 'cancelled' });
    const given = [...trigger, '--wait', '--strict', '--on', 'cancelled=warn'];
    const { code, err } = await on.rungate(...given);
    expect(code).toBe(0);
    const [, option = ''] = /→ the gate lets it pass; (--.*) makes it fail/.exec(err) ?? [];
    expect((await on.rungate(...given, ...option.split(' '))).code).toBe(4);
    const onTerminal = on.with({ isTTY: true, env: { NO_COLOR: '1' } });
    const quiet = await onTerminal(...given, '--quiet');
    expect(quiet.err).toMatch(/! WARNING: [\s\S]*\n! gate passed with 1 warning\n$/);
  });

  it('several runs exit by the most severe verdict', async () => {
    on = await stage({ outcome: ['passed', 'stuck', 'blocked', 'failed', 'cancelled'], duration: 1000 });
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await on.rungate(...trigger)).out.trim());
    const { code, out } = await on.rungate('run', 'wait', ...ids, '--json', '--strict', '--timeout', '5m');
    const report = JSON.parse(out);
    expect([code, report.exitCode]).toEqual([1, 1]);
    const verdicts = ['passed', 'timeout', 'blocked', 'failed', 'cancelled'];
    expect(report.runs).toMatchObject(ids.map((runId, at) => ({ runId, verdict: verdicts[at] })));
  });

  it('several runs exit with 5 if one is unknown', async () => {
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

describe('every output', () => {
  const { exitCode: _, ...lost } = errorData(
    new NetworkError('refused', 'no server listens', { hint: 'check the address' }),
  );

  function runWith(verdict: Exclude<Verdict, 'flaky'>): RunState {
    const state = verdict === 'cancelled' ? 'cancelled' : 'completed';
    return newRun('run_1', {
      ...{ since: 0, due: 0, reads: 2, endedAt: 30_000, appUrl: 'https://app.example.test/1' },
      seen: { state, failed: verdict === 'failed' ? 1 : 0, blocked: 0 },
      outcome: { ...unobserved(null), verdict, ended: true },
    });
  }

  /** Returns the report of a gate whose policy gives the verdict an action, which no option can give `passed`. */
  function reportOf(verdict: Verdict, action: Action): { policy: Policy; report: GateReport } {
    const policy = { ...resolvePolicy(), [verdict]: action };
    const [last, past] = verdict === 'flaky' ? (['passed', ['failed']] as const) : ([verdict, []] as const);
    const error: Why | null =
      last === 'unobserved' ? { ...lost, exitCode: 7 } : last === 'mismatch' ? 'other-build' : null;
    const state = {
      rules: { policy, retries: 1 },
      run: runWith(last),
      past: past.map((one) => ({
        run: runWith(one),
        verdict: one,
        mine: true,
        late: false,
        trust: 'random',
      })),
      key: null,
    } as unknown as GateState & { end: End };
    finish(state, last, 60_000, error);
    const gate = { name: '', needs: [], advisory: false, runIds: ['run_1'] } as unknown as PlannedGate;
    const tools = {
      live: () => ({}),
      parts: () => ({}),
      nameOf: String,
      now: () => 60_000,
    } as unknown as OutcomeTools;
    const { report } = outcomeOf(gate, [['', state]], null, tools);
    return { policy, report: report as GateReport };
  }

  async function printed(report: GateReport): Promise<string[]> {
    const lines: string[] = [];
    const print = async (line: string) => void lines.push(line);
    const output = {
      isLog: true,
      oneScreen: false,
      paint: (_tone: string, text: string) => text,
      excerpt: String,
      note: print,
      alert: print,
      refused: async () => {},
    };
    const end = { report, runs: () => report, exitCode: report.exitCode } as EndEvent;
    await printGate(end, { io: { out: {}, env: {} }, output } as unknown as Context);
    return lines;
  }

  const levels = { warning: 'warn', error: 'fail' } as const;
  const levelIn = (line = '', pattern: RegExp) =>
    levels[pattern.exec(line)?.[1] as keyof typeof levels] ?? 'pass';

  /** How each output shows the run of a gate, or the gate: `pass`, `warn` or `fail`. */
  async function shownBy(verdict: Verdict, action: Action): Promise<Record<string, string>> {
    const { policy, report } = reportOf(verdict, action);
    const run = report.runs.at(-1) as GateReport['runs'][number];
    const markdown = markdownReport(report);
    const markIn = (pattern: RegExp) =>
      ({ '✅': 'pass', '⚠️': 'warn', '❌': 'fail' })[pattern.exec(markdown)?.[1] ?? ''] ?? 'none';
    const log = (await printed(report)).find((line) => line.includes('run_1')) ?? '';
    const facts = { build: { commitSha: commit }, subjects: [], apiUrl: 'https://a.example', policy };
    const statement = gateStatement(report, facts, String);
    const results = { PASSED: 'pass', WARNED: 'warn', FAILED: 'fail' } as const;
    const title = headline(report);
    const moment = { now: 0, stopping: false, maxAttempts: 1, policy, redact: String };
    return {
      'the exit code': report.exitCode === 0 ? 'not fail' : 'fail',
      'the exit code in the outputs': gateOutputs(report).exitCode === '0' ? 'not fail' : 'fail',
      Markdown: markIn(/^\| (\S+) \|/m),
      'the heading of Markdown': markIn(/^### (\S+) /),
      'the notes of Markdown': markdown.includes('\n- run') ? 'not pass' : 'pass',
      GitHub: levelIn(githubAnnotations(report)[0], /^::(\w+) /),
      Azure: levelIn(azureCommands(report)[0], /logissue type=(\w+)/),
      'the log': { '✓': 'pass', '!': 'warn', '✗': 'fail' }[log[0] ?? ''] ?? 'none',
      'the headline':
        title === 'gate passed' ? 'pass' : /^gate passed with 1 warning$/.test(title) ? 'warn' : title,
      'the hint': hintOf(run) === null ? 'any' : 'not pass',
      JUnit: /<(?:failure|error|skipped) /.test(junitReport(report)) ? 'not pass' : 'not fail',
      ...(statement !== null && { 'the receipt': results[statement.predicate.result] }),
      ...(verdict !== 'flaky' && { 'the live view': liveRun(watch('run_1', 0, { verdict }), moment).phase }),
    };
  }

  const cases = verdicts.flatMap((verdict) => actions.map((action) => [verdict, action] as const));

  describe.each(cases)('a run with the verdict %s and the action %s', (verdict, action) => {
    const shown = action === 'pass' && verdict !== 'passed' ? 'warn' : action;

    it('is shown alike by every output', async () => {
      const all = await shownBy(verdict, action);
      const fits: Record<string, boolean> = {
        [shown]: true,
        any: true,
        'not pass': shown !== 'pass',
        'not fail': shown !== 'fail',
      };
      if (all['the headline']?.startsWith('gate failed (exit ')) all['the headline'] = 'fail';
      expect(Object.entries(all).filter(([, one]) => fits[one] !== true)).toEqual([]);
    });
  });
});

describe('the last lines', () => {
  /** Returns the lines after a gate whose last run has not ended in time. */
  async function linesAfter(
    runId: string,
    flags: Flags,
    name = unnamed,
    settings = {},
    on: Overrides = {},
    earlier: readonly RunReport[] = [],
    reads: readonly object[] = [],
  ) {
    const lines: string[] = [];
    const run = unknownRun({ runId, name: 'shop / web', state: 'in_progress', verdict: 'timeout' });
    const gate = {
      ...{ name, needs: [], advisory: false, settings, runIds: [] },
      rules: rulesOf({ policy: resolvePolicy({ strict: true, on }), timeoutMs: 60_000 }),
    };
    const runs = [...earlier, run];
    const parts = { schemaVersion: 1, result: 'fail', exitCode: 3 } as const;
    const report = name === unnamed ? { ...parts, runs } : { ...parts, gates: [{ name, runs }] };
    const end = {
      report: { ...report, deployed: { reads } },
      exitCode: 3,
      runs: () => ({ ...parts, runs }),
    } as unknown as EndEvent;
    const output = {
      alert: async (line: string) => void lines.push(line),
      excerpt: (text: string) => text,
    } as unknown as Output;
    const context = {
      flags,
      output,
      io: { platform: 'linux', env: {}, program: ['node', '/app/bin/rungate.js'] },
    } as unknown as Context;
    await printClosing(end, [gate], context);
    return lines;
  }

  const commit = '0123456789'.repeat(4);

  describe('the command that goes on waiting', () => {
    it('takes no id of the service for an option', async () => {
      expect(await linesAfter('--api-url=https://evil.test', {})).toEqual([
        'to continue waiting: npx rungate run wait --strict --timeout 1m -- --api-url=https://evil.test',
      ]);
    });

    it('quotes an id for the shell', async () => {
      expect(await linesAfter("$(id)'`x`", {})).toEqual([
        "to continue waiting: npx rungate run wait '$(id)'\\''`x`' --strict --timeout 1m",
      ]);
    });

    it('is about the commit of --commit-sha, and writes no receipt about another', async () => {
      const url = { value: 'https://shop.test/version', origin: 'flag' };
      const flags = { commitSha: commit, receipt: 'receipt.json', deployedUrl: url.value };
      expect(await linesAfter('run_1', flags, unnamed, { 'deployed.url': url })).toEqual([
        `to continue waiting: npx rungate run wait run_1 --strict --timeout 1m --deployed-url ${url.value} --deployed-is ${commit}`,
      ]);
      expect(await linesAfter('run_1', { receipt: 'receipt.json' })).toEqual([
        'to continue waiting: npx rungate run wait run_1 --strict --timeout 1m --receipt receipt.json',
      ]);
    });

    it('is missing if the gate has failed already, because an earlier run failed and flaky=fail', async () => {
      const failed = unknownRun({ runId: 'run_0', verdict: 'failed', decides: false });
      expect(await linesAfter('run_1', {}, unnamed, {}, { flaky: 'fail' }, [failed])).toEqual([]);
      expect(await linesAfter('run_1', {}, unnamed, {}, {}, [failed])).toHaveLength(1);
    });

    it('does not show the query of the version page, which may have a secret', async () => {
      const [line] = await linesAfter('run_1', { deployedUrl: 'https://shop.test/version?token=abc' });
      expect(line).toMatch(/ --deployed-url 'https:\/\/shop\.test\/version\?…'$/);
    });
  });
});
