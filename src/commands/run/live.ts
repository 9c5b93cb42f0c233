import { stripVTControlCharacters } from 'node:util';
import { type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import { advised, judge, type Policy, shownAs } from '../../gate/policy.ts';
import { decidingRuns } from '../../gate/report.ts';
import type { NamedGateReport } from '../../gate/result-types.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Reporter } from '../../library/reporter.ts';
import { hyperlink, supportsLinks } from '../../output/live/hyperlink.ts';
import type { LiveModel, LiveRun, LiveStyle } from '../../output/live/model.ts';
import { liveLines } from '../../output/live/view.ts';
import { hasSymbols } from '../../output/motion.ts';
import { excerpt } from '../../sanitize.ts';
import type { Context } from '../context.ts';

interface Moment {
  maxAttempts: number;
  policy: Policy;
  advisory?: boolean;
  now: number;
  stopping: boolean;
  redact(text: string): string;
}

/** Returns a run as the view shows it. Pure. */
export function liveRun(run: WatchedRun, moment: Moment): LiveRun {
  const { now, stopping, maxAttempts, policy, advisory, redact } = moment;
  const { seen, attempts } = run;
  const going = run.verdict === null;
  const { verdict, action } = judge(run.verdict, policy);
  const of = attempts <= maxAttempts && Number.isFinite(maxAttempts) ? `/${maxAttempts}` : '';
  const id = excerpt(redact(run.runId), 200);
  const name = excerpt(redact(run.subject.name ?? run.runId), 200);
  return {
    name,
    retry: run.retry,
    id: name === id ? null : id,
    // A redacted or shortened address would not work as a link.
    url: run.appUrl !== null && redact(run.appUrl) === run.appUrl ? excerpt(run.appUrl, 2000) : null,
    phase: going ? 'going' : shownAs({ verdict, action: advisory === true ? advised(action) : action }),
    state: verdict ?? excerpt(redact(seen?.state ?? '-'), 80),
    trouble: going && run.hasTrouble,
    failed: seen?.failed ?? null,
    blocked: seen?.blocked ?? null,
    reads: `${attempts}${of}`,
    elapsedMs: (run.endedAt ?? now) - run.startedAt,
    nextMs: going && !stopping ? Math.max(0, run.due - now, run.turnAt - now) : null,
  };
}

/** A gate, with its runs so far, and with its report once it has ended. */
interface ShownGate {
  gate: PlannedGate;
  runs: readonly WatchedRun[];
  report: NamedGateReport | null;
}

const noRun = {
  name: '',
  retry: 0,
  id: null,
  url: null,
  trouble: false,
  failed: null,
  blocked: null,
  reads: '',
  elapsedMs: null,
  nextMs: null,
} as const;

/** Returns the rows of a gate in the live view: one for each run, or one that says why it has none. */
function gateRows(
  { gate, runs, report }: ShownGate,
  ended: ReadonlySet<string>,
  rowOf: (run: WatchedRun) => LiveRun,
): LiveRun[] {
  const row = { ...noRun, gate: gate.name };
  if (report?.result === 'skipped') return [{ ...row, phase: 'skipped', state: 'skipped' }];
  if (runs.length > 0) {
    const { retries = 0 } = gate.rules;
    return runs.map((watched) => {
      const run = { ...rowOf(watched), gate: gate.name };
      // The run of a retry is created later, perhaps when the limit of creates permits it.
      if (report === null && run.phase !== 'going' && run.state === 'failed' && run.retry < retries)
        return { ...run, phase: 'waiting' };
      // Only the gate's report says whether a retry that passed is flaky.
      const judged = report?.runs.findLast(({ runId }) => runId === watched.runId);
      return judged?.verdict ? { ...run, phase: shownAs(judged), state: judged.verdict } : run;
    });
  }
  if (report !== null)
    return [{ ...row, phase: report.result, state: decidingRuns(report)[0]?.verdict ?? 'stopped' }];
  const open = gate.needs.filter((need) => !ended.has(need));
  if (open.length > 0) return [{ ...row, phase: 'waiting', state: `needs ${open.join(', ')}` }];
  return [{ ...row, phase: 'waiting', state: 'starting' }];
}

/** Shows gates on a terminal, as one view. The view of the only gate begins with its run. */
export function liveReporter({ io, output }: Context, gates: readonly PlannedGate[]): Reporter {
  const { motion, paint, redact } = output;
  // ora clears too many lines if it counts the characters of a link as text.
  const link: LiveStyle['link'] = (url, text) => {
    const linked = hyperlink(url, text);
    return stripVTControlCharacters(linked) === stripVTControlCharacters(text) ? linked : text;
  };
  const style: LiveStyle = { paint, link: supportsLinks(io.env) ? link : null, symbols: hasSymbols(io) };
  const states = new Map(
    gates.map((gate): [string, ShownGate] => [gate.name, { gate, runs: [], report: null }]),
  );
  const isNamed = !states.has(unnamed);
  const began = io.clock.monotonic();
  let stopping = false;
  let hide: (() => void) | undefined;

  const model = (): LiveModel => {
    const now = io.clock.monotonic();
    const ended = new Set([...states.values()].flatMap(({ gate, report }) => (report ? gate.name : [])));
    const runs = [...states.values()].flatMap((state) => {
      const { advisory, rules } = state.gate;
      const { maxAttempts, policy } = rules;
      const moment = { now, stopping, redact, maxAttempts, policy, advisory };
      const rowOf = (run: WatchedRun) => liveRun(run, moment);
      return isNamed ? gateRows(state, ended, rowOf) : state.runs.map(rowOf);
    });
    return { runs, elapsedMs: now - began };
  };
  const show = () => {
    hide ??= motion.show((size) => liveLines(model(), size, style));
    motion.draw();
  };
  return {
    begin() {
      if (isNamed) show();
    },
    watch({ gate = unnamed, runs }) {
      const state = states.get(gate);
      if (state === undefined || runs.length === 0) return;
      state.runs = runs;
      show();
    },
    read: motion.draw,
    stopping() {
      stopping = true;
    },
    gate({ report }) {
      const state = states.get(report.name);
      if (state !== undefined) state.report = report;
      motion.draw();
    },
    close: () => hide?.(),
  };
}
