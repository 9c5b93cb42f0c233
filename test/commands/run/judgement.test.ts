import { describe, expect, it } from 'vitest';
import { junitReport } from '../../../src/ci/reports/junit.ts';
import { azureCommands, githubAnnotations } from '../../../src/ci/reports/log-commands.ts';
import { markdownReport } from '../../../src/ci/reports/markdown.ts';
import { gateOutputs } from '../../../src/ci/reports/outputs.ts';
import { headline, hintOf } from '../../../src/ci/reports/wording.ts';
import type { Context } from '../../../src/commands/context.ts';
import { liveRun } from '../../../src/commands/run/live.ts';
import { printGate } from '../../../src/commands/run/result.ts';
import { scenarios } from '../../../src/commands/selftest/scenarios.ts';
import { NetworkError } from '../../../src/errors.ts';
import { finish } from '../../../src/gate/end.ts';
import { errorData } from '../../../src/gate/error-data.ts';
import { type OutcomeTools, outcomeOf } from '../../../src/gate/plan/outcomes.ts';
import { endedGate, type PlannedGate } from '../../../src/gate/plan/plan.ts';
import {
  type Action,
  actions,
  type Policy,
  resolvePolicy,
  shownAs,
  type Verdict,
  verdicts,
} from '../../../src/gate/policy.ts';
import { newRun, unobserved } from '../../../src/gate/reads.ts';
import type { GateReport } from '../../../src/gate/result-types.ts';
import type { End, GateState, RunState, Why } from '../../../src/gate/state.ts';
import { watch } from '../../../src/gate/watched-run.ts';
import type { EndEvent } from '../../../src/library/reporter.ts';
import { gateStatement } from '../../../src/receipt/gate-statement.ts';
import { commit } from '../../receipt/table.ts';

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
    past: past.map((one) => ({ run: runWith(one), verdict: one, mine: true, late: false, trust: 'random' })),
    key: null,
  } as unknown as GateState & { end: End };
  finish(state, last, 60_000, error);
  const gate = { name: '', needs: [], advisory: false, runIds: ['run_1'] } as unknown as PlannedGate;
  const tools = {
    live: () => ({}),
    parts: () => ({}),
    say: String,
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

  it('makes an advisory gate warn where another one fails', () => {
    const node = { name: 'a', needs: [], advisory: true };
    const { result, exitCode, runs } = endedGate(node, reportOf(verdict, action).report, null);
    const last = runs.at(-1);
    expect(exitCode).toBe(0);
    expect(result).toBe(action === 'fail' ? 'warn' : action);
    expect(last && shownAs(last)).toBe(shown === 'fail' ? 'warn' : shown);
  });
});

it('rungate selftest expects a step to pass only for a verdict that is clean by default', () => {
  for (const { verdict, expected } of scenarios) {
    const action = resolvePolicy({ strict: true })[verdict];
    expect([verdict, shownAs({ verdict, action })]).toEqual([
      verdict,
      expected === 'green' ? 'pass' : 'fail',
    ]);
  }
});
