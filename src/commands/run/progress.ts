import { describeOutcome, describeRun } from '../../ci/reports/wording.ts';
import { count } from '../../count.ts';
import { formatDuration } from '../../duration.ts';
import { knownRuns, type PlanEvent, type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import { decidingRuns } from '../../gate/report.ts';
import type { NamedGateReport } from '../../gate/result-types.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Reporter } from '../../library/reporter.ts';
import type { Context } from '../context.ts';
import { liveReporter } from './live.ts';
import { buildLines, heartbeatMs, outageLines } from './repeated-lines.ts';

function endOf({ result, reason, runs }: NamedGateReport): string {
  if (result === 'skipped') return `skipped: ${reason}`;
  if (reason !== null) return `stopped: ${reason}`;
  return decidingRuns({ runs })
    .map((run) => describeOutcome(run))
    .join('; ');
}

interface OfRun {
  gate?: string;
  runId: string;
}

/** Returns the state and the words of the lines. `live`: a view shows the reads. */
function createLog({ io, output }: Context, gates: readonly PlannedGate[], live: boolean) {
  const { excerpt, paint } = output;
  const now = io.clock.monotonic;
  const byName = new Map(gates.map((gate) => [gate.name, gate]));
  const startedAt = new Map<string, WatchedRun['startedAt']>();
  /** Returns the name of a run, or null if it only has an id. */
  const nameOf = ({ gate = unnamed, runId }: OfRun) => {
    const runs = knownRuns(byName.get(gate) as PlannedGate);
    return runs.find((run) => run.runId === undefined || run.runId === runId)?.name ?? null;
  };
  return {
    live,
    excerpt,
    paint,
    now,
    startedAt,
    /** The last line about the state of each run. */
    shown: new Map<string, { state: string; at: number }>(),
    creates: outageLines(io),
    reads: outageLines(io),
    buildLine: buildLines(io, output),
    hubIsLost: false,
    nameOf,
    /** Names a run in a line that does not need its id. */
    shortName: (event: OfRun) => excerpt(nameOf(event) ?? event.runId, 80),
    fullName: (event: OfRun) => describeRun({ name: nameOf(event), runId: event.runId }, excerpt),
    /** Returns the time since a run's start. */
    elapsed: (runId: string) => formatDuration(now() - (startedAt.get(runId) ?? now())),
  };
}

type Log = ReturnType<typeof createLog>;

/** A line, or null for none. `alert` and `warn`: with `--quiet`, too. */
type Line = string | { alert: string } | { warn: string; remedy?: string | undefined } | null;

type Rows = { [Type in PlanEvent['type']]?: (event: Extract<PlanEvent, { type: Type }>, log: Log) => Line };

const rows: Rows = {
  watch({ runs }, { startedAt }) {
    for (const run of runs) startedAt.set(run.runId, run.startedAt);
    return null;
  },
  created(event, { creates, nameOf, excerpt }) {
    const { gate, runId, appUrl, reattached } = event;
    creates.end(gate);
    const what = reattached
      ? 'attached to the run that was started earlier'
      : reattached === null
        ? 'run'
        : 'created run';
    // The line begins with the name of the gate, if there are several.
    const name = gate === undefined ? nameOf(event) : null;
    const parts = [name && `(${excerpt(name, 200)})`, appUrl && excerpt(appUrl, 500)];
    return [`${what}: ${excerpt(runId, 80)}`, ...parts.filter(Boolean)].join(' ');
  },
  retry({ gate, error, waitMs, leftMs, leftRequests }, { creates, excerpt }) {
    if (!creates.isDue(gate)) return null;
    const limit = leftRequests === undefined ? formatDuration(leftMs) : count(leftRequests, 'more request');
    return `creating the run failed: ${excerpt(error.message)}; retrying in ${formatDuration(waitMs)}, for up to ${limit}`;
  },
  discarded: ({ runId, verdict, reason }, { excerpt }) => ({
    alert: `discarded run ${excerpt(runId, 80)} (${verdict}): it had already ended at its first status read, and ${reason}`,
  }),
  'next-run'({ runId, failed, blocked, retry, retries }) {
    const run = describeRun({ name: null, runId });
    return {
      alert: `${run} failed (${failed} failed, ${blocked} blocked): starting retry ${retry} of ${retries}`,
    };
  },
  read(event, { live, now, shown, reads, elapsed, shortName, excerpt }) {
    const { runId, failed, blocked, woken } = event;
    reads.end(runId);
    if (live) return woken ? `${shortName(event)}: woken by a webhook` : null;
    const state = event.state ?? '';
    const last = shown.get(runId);
    const changed = last?.state !== state;
    if (!changed && !woken && now() - last.at < heartbeatMs) return null;
    shown.set(runId, { state, at: now() });
    const news = `${changed ? '' : 'still '}${excerpt(state, 40)} after ${elapsed(runId)}`;
    const counts = `${failed ?? '?'} failed, ${blocked ?? '?'} blocked`;
    return `${shortName(event)}: ${news} (${counts}${woken ? '; woken by a webhook' : ''})`;
  },
  trouble(event, { reads, elapsed, shortName, excerpt }) {
    const { runId, error, nextMs } = event;
    if (nextMs === null || !reads.isDue(runId)) return null;
    const next = `retrying in ${formatDuration(nextMs)} (${elapsed(runId)} since the start)`;
    return `${shortName(event)}: ${excerpt(error.message)}; ${next}`;
  },
  deployed: (event, { buildLine }) => buildLine(event),
  environment({ step, key, baseUrl, error, runs }, { excerpt }) {
    const what = `environment ${key}`;
    const url = excerpt(baseUrl, 500);
    if (step === 'created') return `created ${what} (${url})`;
    if (step === 'found') return `using ${what} (${url}), which this job created earlier`;
    if (step === 'deleted') return `deleted ${what}`;
    if (step !== 'kept') return null;
    const by = runs.length === 0 ? 'a run that this job started earlier' : excerpt(runs.join(', '), 200);
    const why = error === null ? `${by} may still use it` : excerpt(error.message);
    const [when, others] =
      error === null
        ? ['when no run uses it', '']
        : ['later', '; rungate env prune deletes everything that gates left behind'];
    return {
      warn: `${what} was not deleted: ${why}`,
      remedy: `${when}, run: rungate env delete ${key}${others}`,
    };
  },
  'unknown-state'(event, { fullName, paint, excerpt }) {
    const state = `is in the unknown state "${excerpt(event.state, 60)}"; rungate treats the run as not ended`;
    return { alert: `${paint('warn', 'warning:')} ${fullName(event)} ${state}` };
  },
  hub({ error }, log) {
    // Each gate has its own link with the one hub.
    if (log.hubIsLost === (error !== null)) return null;
    log.hubIsLost = error !== null;
    if (error === null) return 'the hub is available again';
    return {
      warn: `the hub cannot be used: ${log.excerpt(error.message)}; rungate polls without it`,
      remedy: error.hint && log.excerpt(error.hint, 400),
    };
  },
  stopping({ by, orphaned }) {
    const [why, another] = orphaned
      ? [' because the process that started rungate has ended', 'a']
      : [` on ${by}`, 'a second'];
    return { alert: `stopping${why}; ${another} signal ends rungate at once` };
  },
  cancelled(event, { fullName, excerpt }) {
    const { runId, error } = event;
    if (error === null) return { alert: `asked the service to cancel ${fullName(event)}` };
    const later = `to cancel it later, run: rungate run cancel ${excerpt(runId, 80)}`;
    return { alert: `${fullName(event)} could not be cancelled: ${excerpt(error.message)}; ${later}` };
  },
  note: ({ message }, { excerpt }) => excerpt(message),
  gate: ({ report }, { excerpt }) => (report.result === 'waiting' ? null : excerpt(endOf(report), 600)),
};

/** A line for each change of state and one a minute, which names the gate if there are several. */
export function progressLines(context: Context, gates: readonly PlannedGate[], live = false): Reporter {
  const { output } = context;
  const log = createLog(context, gates, live);
  const write = (event: PlanEvent) => {
    const line = (rows[event.type] as (event: PlanEvent, log: Log) => Line)(event, log);
    if (line === null) return;
    // All gates have the same hub.
    const gate = event.gate === undefined || event.type === 'hub' ? '' : `${event.gate}: `;
    if (typeof line === 'string') void output.note(`${gate}${line}`);
    else if ('alert' in line) void output.alert(`${gate}${line.alert}`);
    else void output.warn(line.warn, line.remedy);
  };
  return {
    begin() {
      if (live) return;
      const ended = new Set(gates.filter((gate) => gate.ended).map(({ name }) => name));
      for (const { name, needs } of gates) {
        const open = needs.filter((need) => !ended.has(need));
        if (open.length > 0 && !ended.has(name)) void output.note(`${name}: waiting for ${open.join(', ')}`);
      }
    },
    ...Object.fromEntries(Object.keys(rows).map((type) => [type, write])),
  };
}

/** Returns the reporters of a wait: on a terminal a view that changes in place, and in any case lines. */
export async function progressReporters(
  context: Context,
  gates: readonly PlannedGate[],
): Promise<Reporter[]> {
  const { motion } = context.output;
  if (!motion.possible) return [progressLines(context, gates)];
  await motion.load();
  return [liveReporter(context, gates), progressLines(context, gates, true)];
}
