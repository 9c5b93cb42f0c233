import { describeRun } from '../../ci/reports/wording.ts';
import { formatDuration } from '../../duration.ts';
import type { Emit, GateEvent } from '../../gate/events.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import type { GateLive, LiveRules } from './live.ts';

/** The time after which an unchanged run gets another line in the log. */
const heartbeatMs = 60_000;

/** Events that `--quiet` shows as well. */
const loud: readonly GateEvent['type'][] = ['discarded', 'rerun', 'unknown-state', 'stopping', 'cancelled'];

export interface GateProgress {
  emit: Emit;
  onWatch(runs: readonly WatchedRun[]): void;
  stop(): void;
}

/**
 * Shows progress on stderr: on a terminal as a view that changes in place, elsewhere as a line for each change of state and one
 * line a minute. `rules` is null if the command does not wait. `nameOf` returns the name of a run, or null if it only has an id.
 * @param given the view of a command that shows several gates
 */
export async function gateProgress(
  io: Io,
  output: Output,
  rules: LiveRules | null,
  nameOf: (runId: string) => string | null,
  given?: GateLive,
): Promise<GateProgress> {
  const { excerpt } = output;
  const { clock } = io;
  const moving = rules !== null && output.motion.possible;
  // Loaded on a terminal only: a gate in a CI does not need it.
  const live = given ?? (moving ? (await import('./live.ts')).gateLive(io, output, rules) : null);
  if (moving) await output.motion.load();
  let runs: readonly WatchedRun[] = [];
  const shown = new Map<string, { state: string; at: number }>();

  const attempt = (attempts: number) => {
    const most = rules?.maxAttempts ?? Number.POSITIVE_INFINITY;
    return `attempt ${attempts}${attempts <= most && Number.isFinite(most) ? `/${most}` : ''}`;
  };

  /** Names a run in a line that does not need its id. */
  const shortName = (runId: string) => excerpt(nameOf(runId) ?? runId, 80);
  const fullName = (runId: string) => describeRun({ name: nameOf(runId), runId }, excerpt);

  function readLine({
    runId,
    failed,
    blocked,
    attempts,
    woken,
    ...read
  }: Extract<GateEvent, { type: 'read' }>) {
    const state = read.state ?? '';
    const now = clock.monotonic();
    const last = shown.get(runId);
    const changed = last?.state !== state;
    if (!changed && !woken && now - last.at < heartbeatMs) return null;
    shown.set(runId, { state, at: now });
    const startedAt = runs.find((run) => run.runId === runId)?.startedAt ?? now;
    const what = excerpt(state, 40);
    const news = changed ? what : `still ${what} after ${formatDuration(now - startedAt)}`;
    const counts = `${failed ?? '?'} failed, ${blocked ?? '?'} blocked`;
    const why = woken ? '; woken by a webhook' : '';
    return `${shortName(runId)}: ${news} (${counts}; ${attempt(attempts)}${why})`;
  }

  const buildsShown = new Map<string, number>();
  let lastBuild = '';
  /** Returns the line for a read of the version page. Before the create, builds may alternate from read to read. */
  function buildLine({ phase, text, matches, agreed, error }: Extract<GateEvent, { type: 'deployed' }>) {
    const build = error === null ? `the deployed build is "${text}"` : error.message;
    const what = excerpt(build, 400);
    const changed = what !== lastBuild;
    lastBuild = what;
    if (agreed) return `${what}, as expected`;
    if (phase === 'before') {
      if (matches) return null;
      const now = clock.monotonic();
      if (now - (buildsShown.get(what) ?? Number.NEGATIVE_INFINITY) < heartbeatMs) return null;
      buildsShown.set(what, now);
      return `${what}; rungate creates the run when the expected build is deployed`;
    }
    if (!changed) return null;
    if (error !== null) return `${what}; rungate reads it again`;
    return matches ? what : `${output.paint('warn', 'warning:')} ${what}, not the expected one`;
  }

  /** Returns the line for an event, or null if it does not get one. */
  function lineOf(event: GateEvent): string | null {
    const why = 'error' in event ? excerpt(event.error?.message ?? '') : '';
    switch (event.type) {
      case 'turn':
        return `waiting ${formatDuration(event.waitMs)} for this gate's turn in the fleet before it starts its run`;
      case 'created': {
        const what = event.reattached ? 'attached to the run that was started earlier' : 'created run';
        const name = nameOf(event.runId);
        const parts = [
          name === null ? null : `(${excerpt(name, 200)})`,
          event.appUrl === null ? null : excerpt(event.appUrl, 500),
        ];
        return [`${what}: ${excerpt(event.runId, 80)}`, ...parts.filter((part) => part !== null)].join(' ');
      }
      case 'retry':
        return `creating the run failed: ${why}; retrying in ${formatDuration(event.waitMs)}`;
      case 'discarded':
        return `discarded run ${excerpt(event.runId, 80)}: it had already ended at its first status read, so another job may have started it`;
      case 'rerun': {
        const run = describeRun({ name: null, runId: event.runId });
        return `${run} failed (${event.failed} failed, ${event.blocked} blocked): starting retry ${event.retry} of ${event.retries}`;
      }
      case 'read':
        if (live === null) return readLine(event);
        return event.woken ? `${shortName(event.runId)}: woken by a webhook` : null;
      case 'trouble':
        if (event.nextMs === null) return null;
        return `${shortName(event.runId)}: ${why}; retrying in ${formatDuration(event.nextMs)} (${attempt(event.attempts)})`;
      case 'deployed':
        return buildLine(event);
      case 'unknown-state':
        return `${output.paint('warn', 'warning:')} ${fullName(event.runId)} is in the unknown state "${excerpt(event.state, 60)}"; rungate treats it as not ended`;
      case 'hub':
        if (event.error === null) return 'the hub is back';
        return `${output.paint('warn', 'warning:')} the hub cannot be used: ${why}; rungate polls by itself`;
      case 'stopping':
        return `stopping on ${event.by}; a second signal ends rungate at once`;
      case 'cancelled':
        if (event.error === null) return `asked the service to cancel ${fullName(event.runId)}`;
        return `${fullName(event.runId)} could not be cancelled: ${why}; to cancel it later, run: rungate run cancel ${excerpt(event.runId, 80)}`;
      case 'note':
        return excerpt(event.message);
    }
  }

  return {
    emit(event) {
      if (event.type === 'read') live?.draw();
      if (event.type === 'stopping') live?.stopping();
      const line = lineOf(event);
      if (line === null) return;
      const isLoud = loud.includes(event.type) || (event.type === 'hub' && event.error !== null);
      void (isLoud ? output.alert(line) : output.note(line));
      const hint = event.type === 'hub' ? event.error?.hint : undefined;
      if (hint !== undefined) void output.alert(`  ${output.paint('dim', '→')} ${excerpt(hint, 400)}`);
    },
    onWatch(watched) {
      runs = watched;
      live?.watch(watched);
    },
    stop: () => live?.stop(),
  };
}
