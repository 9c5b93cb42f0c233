import { describeRun } from '../../ci/reports/wording.ts';
import { formatDuration } from '../../duration.ts';
import type { GateEvent, Tell } from '../../gate/events.ts';
import type { WatchedRun } from '../../gate/wait.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import type { LiveRules } from './live.ts';

/** A log without news gets a line after this time. */
const heartbeatMs = 60_000;

/** Events that are shown with `--quiet` too. */
const loud: readonly GateEvent['type'][] = ['discarded', 'unknown-state', 'stopping', 'cancelled'];

export interface GateProgress {
  tell: Tell;
  onWatch(runs: readonly WatchedRun[]): void;
  stop(): void;
}

/**
 * Shows a person what happens, on stderr: on a terminal a view that changes in place; elsewhere a line for each change of
 * state, and a heartbeat a minute. `rules` is null where nothing is waited for. `nameOf` returns the name of a run, null if it has
 * none but its id.
 */
export async function gateProgress(
  io: Io,
  output: Output,
  rules: LiveRules | null,
  nameOf: (runId: string) => string | null,
): Promise<GateProgress> {
  const { excerpt } = output;
  const { clock } = io;
  const moving = rules !== null && output.motion.possible;
  // Loaded where there is a terminal alone: a gate in a CI has no use for it.
  const live = moving ? (await import('./live.ts')).gateLive(io, output, rules) : null;
  if (moving) await output.motion.load();
  let runs: readonly WatchedRun[] = [];
  const shown = new Map<string, { state: string; at: number }>();

  const attempt = (attempts: number) => {
    const most = rules?.maxAttempts ?? Number.POSITIVE_INFINITY;
    return `attempt ${attempts}${Number.isFinite(most) ? `/${most}` : ''}`;
  };

  /** A run in a line that need not have its id. */
  const shortName = (runId: string) => excerpt(nameOf(runId) ?? runId, 80);
  const fullName = (runId: string) => describeRun({ name: nameOf(runId), runId }, excerpt);

  function readLine({ runId, failed, blocked, attempts, ...read }: Extract<GateEvent, { type: 'read' }>) {
    const state = read.state ?? '';
    const now = clock.monotonic();
    const last = shown.get(runId);
    const changed = last?.state !== state;
    if (!changed && now - last.at < heartbeatMs) return null;
    shown.set(runId, { state, at: now });
    const startedAt = runs.find((run) => run.runId === runId)?.startedAt ?? now;
    const what = excerpt(state, 40);
    const news = changed ? what : `still ${what} after ${formatDuration(now - startedAt)}`;
    const counts = `${failed ?? '?'} failed, ${blocked ?? '?'} blocked`;
    return `${shortName(runId)}: ${news} (${counts}; ${attempt(attempts)})`;
  }

  /** Null for what needs no line. */
  function lineOf(event: GateEvent): string | null {
    const why = 'error' in event ? excerpt(event.error?.message ?? '') : '';
    switch (event.type) {
      case 'turn':
        return `waiting ${formatDuration(event.waitMs)} for this gate's turn in the fleet to start its run`;
      case 'created': {
        const what = event.reattached ? 'attached to the run that was started before' : 'created run';
        const name = nameOf(event.runId);
        const parts = [
          name === null ? null : `(${excerpt(name, 200)})`,
          event.appUrl === null ? null : excerpt(event.appUrl, 500),
        ];
        return [`${what}: ${excerpt(event.runId, 80)}`, ...parts.filter((part) => part !== null)].join(' ');
      }
      case 'retry':
        return `creating the run: ${why}; trying again in ${formatDuration(event.waitMs)}`;
      case 'discarded':
        return `run ${excerpt(event.runId, 80)} had already ended when it was first read, so it may belong to another job: discarded`;
      case 'read':
        return live === null ? readLine(event) : null;
      case 'trouble':
        if (event.nextMs === null) return null;
        return `${shortName(event.runId)}: ${why}; trying again in ${formatDuration(event.nextMs)} (${attempt(event.attempts)})`;
      case 'unknown-state':
        return `${output.paint('warn', 'warning:')} ${fullName(event.runId)} is in the state "${excerpt(event.state, 60)}", which rungate does not know; it counts as not ended`;
      case 'stopping':
        return `stopping on ${event.by}; a second signal ends rungate at once`;
      case 'cancelled':
        if (event.error === null) return `asked the service to cancel ${fullName(event.runId)}`;
        return `${fullName(event.runId)} could not be cancelled: ${why}; to do it later: rungate run cancel ${excerpt(event.runId, 80)}`;
      case 'note':
        return excerpt(event.message);
    }
  }

  return {
    tell(event) {
      if (event.type === 'read') live?.draw();
      if (event.type === 'stopping') live?.stopping();
      const line = lineOf(event);
      if (line !== null) void (loud.includes(event.type) ? output.alert(line) : output.note(line));
    },
    onWatch(watched) {
      runs = watched;
      live?.watch(watched);
    },
    stop: () => live?.stop(),
  };
}
