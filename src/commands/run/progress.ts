import { describeOutcome, describeRun } from '../../ci/reports/wording.ts';
import { count } from '../../count.ts';
import { formatDuration } from '../../duration.ts';
import { knownRuns, type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import { decidingRuns } from '../../gate/report.ts';
import type { NamedGateReport } from '../../gate/result-types.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Reporter } from '../../library/reporter.ts';
import type { Context } from '../context.ts';
import { buildLines, heartbeatMs, outageLines } from './repeated-lines.ts';

/** The gate of an event; absent if it is the only one, or if the event is about all of them. */
interface OfGate {
  gate?: string;
}

function endOf({ result, reason, runs }: NamedGateReport): string {
  if (result === 'skipped') return `skipped: ${reason}`;
  if (reason !== null) return `stopped: ${reason}`;
  return decidingRuns({ runs })
    .map((run) => describeOutcome(run))
    .join('; ');
}

/** A line for each change of state and one a minute, which names the gate if there are several. `live`: a view shows reads. */
export function progressLines(
  { io, output }: Context,
  gates: readonly PlannedGate[],
  live = false,
): Reporter {
  const { excerpt, paint } = output;
  const { clock } = io;
  const byName = new Map(gates.map((gate) => [gate.name, gate]));
  const shown = new Map<string, { state: string; at: number }>();
  const startedAt = new Map<string, WatchedRun['startedAt']>();
  const buildLine = buildLines(io, output);
  const [creates, reads] = [outageLines(io), outageLines(io)];
  let hubIsLost = false;

  const named = ({ gate }: OfGate, text: string) => (gate === undefined ? text : `${gate}: ${text}`);
  const note = (event: OfGate, text: string) => void output.note(named(event, text));
  /** Shows the line with `--quiet`, too. */
  const alert = (event: OfGate, text: string) => void output.alert(named(event, text));
  /** Returns the time since a run's start. */
  const elapsed = (runId: string) => {
    const now = clock.monotonic();
    return formatDuration(now - (startedAt.get(runId) ?? now));
  };
  /** Returns the name of a run, or null if it only has an id. */
  const nameOf = ({ gate = unnamed, runId }: OfGate & { runId: string }) => {
    const runs = knownRuns(byName.get(gate) as PlannedGate);
    return runs.find((run) => run.runId === undefined || run.runId === runId)?.name ?? null;
  };
  /** Names a run in a line that does not need its id. */
  const shortName = (event: OfGate & { runId: string }) => excerpt(nameOf(event) ?? event.runId, 80);
  const fullName = (event: OfGate & { runId: string }) =>
    describeRun({ name: nameOf(event), runId: event.runId }, excerpt);

  return {
    begin() {
      if (live) return;
      const hasEnded = (name: string) => byName.get(name)?.ended === true;
      for (const { name, needs } of gates) {
        const open = needs.filter((need) => !hasEnded(need));
        if (open.length > 0 && !hasEnded(name)) note({ gate: name }, `waits for ${open.join(', ')}`);
      }
    },
    watch({ runs }) {
      for (const run of runs) startedAt.set(run.runId, run.startedAt);
    },
    created(event) {
      const { runId, appUrl, reattached } = event;
      creates.end(event.gate);
      const what = reattached
        ? 'attached to the run that was started earlier'
        : reattached === null
          ? 'run'
          : 'created run';
      // The line begins with the name of the gate, if there are several.
      const name = event.gate === undefined ? nameOf(event) : null;
      const parts = [
        name === null ? [] : `(${excerpt(name, 200)})`,
        appUrl === null ? [] : excerpt(appUrl, 500),
      ];
      note(event, [`${what}: ${excerpt(runId, 80)}`, ...parts.flat()].join(' '));
    },
    retry(event) {
      const { error, waitMs, leftMs, leftRequests } = event;
      if (!creates.isDue(event.gate)) return;
      const limit = leftRequests === undefined ? formatDuration(leftMs) : count(leftRequests, 'more request');
      note(
        event,
        `creating the run failed: ${excerpt(error.message)}; retrying in ${formatDuration(waitMs)}, for up to ${limit}`,
      );
    },
    discarded(event) {
      const { runId, verdict, reason } = event;
      alert(
        event,
        `discarded run ${excerpt(runId, 80)} (${verdict}): it had already ended at its first status read, and ${reason}`,
      );
    },
    'next-run'(event) {
      const { runId, failed, blocked, retry, retries } = event;
      const run = describeRun({ name: null, runId });
      alert(
        event,
        `${run} failed (${failed} failed, ${blocked} blocked): starting retry ${retry} of ${retries}`,
      );
    },
    read(event) {
      const { runId, failed, blocked, woken } = event;
      reads.end(runId);
      if (live) {
        if (woken) note(event, `${shortName(event)}: woken by a webhook`);
        return;
      }
      const state = event.state ?? '';
      const now = clock.monotonic();
      const last = shown.get(runId);
      const changed = last?.state !== state;
      if (!changed && !woken && now - last.at < heartbeatMs) return;
      shown.set(runId, { state, at: now });
      const what = excerpt(state, 40);
      const news = `${changed ? '' : 'still '}${what} after ${elapsed(runId)}`;
      const counts = `${failed ?? '?'} failed, ${blocked ?? '?'} blocked`;
      const why = woken ? '; woken by a webhook' : '';
      note(event, `${shortName(event)}: ${news} (${counts}${why})`);
    },
    trouble(event) {
      const { runId, error, nextMs } = event;
      if (nextMs === null || !reads.isDue(runId)) return;
      const next = `retrying in ${formatDuration(nextMs)} (${elapsed(runId)} since the start)`;
      note(event, `${shortName(event)}: ${excerpt(error.message)}; ${next}`);
    },
    deployed(event) {
      const line = buildLine(event);
      if (line !== null) note(event, line);
    },
    environment({ step, key, baseUrl, error, runs }) {
      const what = `environment ${key}`;
      const url = excerpt(baseUrl, 500);
      if (step === 'created') return note({}, `created ${what} (${url})`);
      if (step === 'found') return note({}, `using ${what} (${url}), which this job created earlier`);
      if (step === 'deleted') return note({}, `deleted ${what}`);
      if (step !== 'kept') return;
      const by = runs.length === 0 ? 'a run that this job started earlier' : excerpt(runs.join(', '), 200);
      const why = error === null ? `${by} may go on in it` : excerpt(error.message);
      alert({}, `${paint('warn', 'warning:')} ${what} was not deleted: ${why}`);
      const [when, others] =
        error === null
          ? ['when nothing runs in it', '']
          : ['later', '; rungate env prune deletes everything that gates have left'];
      alert({}, `  ${paint('dim', '→')} ${when}, run: rungate env delete ${key}${others}`);
    },
    'unknown-state'(event) {
      const state = `is in the unknown state "${excerpt(event.state, 60)}"; rungate treats it as not ended`;
      alert(event, `${paint('warn', 'warning:')} ${fullName(event)} ${state}`);
    },
    hub({ error }) {
      // Each gate has its own link with the one hub.
      if (hubIsLost === (error !== null)) return;
      hubIsLost = error !== null;
      if (error === null) return note({}, 'the hub is back');
      const why = `the hub cannot be used: ${excerpt(error.message)}; rungate polls by itself`;
      alert({}, `${paint('warn', 'warning:')} ${why}`);
      if (error.hint !== undefined) alert({}, `  ${paint('dim', '→')} ${excerpt(error.hint, 400)}`);
    },
    stopping(event) {
      const [why, another] = event.orphaned
        ? [', since the process that started rungate has ended', 'a']
        : [` on ${event.by}`, 'a second'];
      alert(event, `stopping${why}; ${another} signal ends rungate at once`);
    },
    cancelled(event) {
      const { runId, error } = event;
      if (error === null) return alert(event, `asked the service to cancel ${fullName(event)}`);
      const later = `to cancel it later, run: rungate run cancel ${excerpt(runId, 80)}`;
      alert(event, `${fullName(event)} could not be cancelled: ${excerpt(error.message)}; ${later}`);
    },
    note: (event) => note(event, excerpt(event.message)),
    gate({ report }) {
      if (report.result === 'waiting') return;
      void output.note(excerpt(`${report.name}: ${endOf(report)}`, 600));
    },
  };
}

/** Returns the reporters of a wait: on a terminal a view that changes in place, and in any case lines. */
export async function progressReporters(
  context: Context,
  gates: readonly PlannedGate[],
): Promise<Reporter[]> {
  const { motion } = context.output;
  if (!motion.possible) return [progressLines(context, gates)];
  // Loaded on a terminal only: a gate in CI does not need it.
  const { liveReporter } = await import('./live.ts');
  await motion.load();
  return [liveReporter(context, gates), progressLines(context, gates, true)];
}
