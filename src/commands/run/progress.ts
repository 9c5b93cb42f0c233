import { formatDuration } from '../../duration.ts';
import { RungateError } from '../../errors.ts';
import type { GateObserver } from '../../gate/gate.ts';
import type { WatchedRun } from '../../gate/wait.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import type { LiveRules } from './live.ts';

/** How often a log without news is told that we are still there. */
const heartbeatMs = 60_000;

function counts(run: WatchedRun): string {
  const { seen } = run.progress;
  return `${seen?.failed ?? '?'} failed, ${seen?.blocked ?? '?'} blocked`;
}

function attempt(run: WatchedRun, maxAttempts: number): string {
  const of = Number.isFinite(maxAttempts) ? `/${maxAttempts}` : '';
  return `attempt ${run.progress.attempts}${of}`;
}

export interface GateProgress extends GateObserver {
  stop(): void;
}

/**
 * Tells a person what happens, on stderr. On a terminal a view that changes in place; elsewhere a line for each change
 * of state, and a heartbeat a minute. `rules` is null where nothing is waited for.
 */
export async function gateProgress(io: Io, output: Output, rules: LiveRules | null): Promise<GateProgress> {
  const moving = rules !== null && output.motion.possible;
  // Loaded where there is a terminal alone: a gate in a CI has no use for it.
  const live = moving ? (await import('./live.ts')).gateLive(io, output, rules) : null;
  if (moving) await output.motion.load();
  const { clock } = io;
  const maxAttempts = rules?.maxAttempts ?? Number.POSITIVE_INFINITY;
  const told = new Map<string, { state: string; at: number }>();
  const say = (line: string, loud = false) => void (loud ? output.alert(line) : output.note(line));
  const { excerpt } = output;
  const why = (error: unknown) => excerpt(error instanceof RungateError ? error.message : String(error));
  const name = (run: { runId: string }) => excerpt(run.runId, 80);

  return {
    stop: () => live?.stop(),
    onWatch: (runs) => live?.watch(runs),
    onCreated(run, reattached) {
      const url = run.appUrl === null ? '' : ` ${excerpt(run.appUrl, 500)}`;
      say(
        `${reattached ? 'attached to the run that was started before' : 'created run'}: ${name(run)}${url}`,
      );
    },
    onCreateRetry: (error, waitMs) =>
      say(`creating the run: ${why(error)}; trying again in ${formatDuration(waitMs)}`),
    onDiscarded: ({ runId }) =>
      say(
        `run ${excerpt(runId, 80)} had already ended when it was first read, so it may belong to another job: discarded`,
        true,
      ),
    onRead(run) {
      if (live !== null) return live.draw();
      const state = run.progress.seen?.state ?? '';
      const last = told.get(run.runId);
      const now = clock.monotonic();
      const changed = last?.state !== state;
      if (!changed && now - last.at < heartbeatMs) return;
      told.set(run.runId, { state, at: now });
      const still = changed ? '' : 'still ';
      const elapsed = changed ? '' : ` after ${formatDuration(now - run.startedAt)}`;
      say(
        `${name(run)}: ${still}${excerpt(state, 40)}${elapsed} (${counts(run)}; ${attempt(run, maxAttempts)})`,
      );
    },
    onTrouble(run, error, waitMs) {
      const next = waitMs === null ? '' : `; trying again in ${formatDuration(Math.max(0, waitMs))}`;
      if (waitMs !== null) say(`${name(run)}: ${why(error)}${next} (${attempt(run, maxAttempts)})`);
    },
    onUnknownState: (run, state) =>
      say(
        `${output.paint('warn', 'warning:')} ${name(run)} is in the state "${excerpt(state, 60)}", which rungate does not know; it counts as not ended`,
        true,
      ),
    onStopping(signal) {
      live?.stopping();
      say(`stopping on ${signal}; a second signal ends rungate at once`, true);
    },
    onCancelled(run, error) {
      const id = excerpt(run, 80);
      if (error === null) say(`asked the service to cancel run ${id}`, true);
      else
        say(
          `run ${id} could not be cancelled: ${why(error)}; to do it later: rungate run cancel ${id}`,
          true,
        );
    },
  };
}
