import { formatDuration } from '../duration.ts';
import { RungateError } from '../errors.ts';
import type { GateObserver } from '../gate/gate.ts';
import type { WatchedRun } from '../gate/wait.ts';
import type { Io } from '../output/io.ts';
import type { Output } from '../output/output.ts';
import { createSpinner } from '../output/spinner.ts';
import { excerpt } from '../sanitize.ts';

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

function why(error: unknown): string {
  return excerpt(error instanceof RungateError ? error.message : String(error));
}

export interface GateProgress extends GateObserver {
  stop(): void;
}

/**
 * Tells a person what happens, on stderr. On a terminal one line that changes in place; elsewhere a line for
 * each change of state, and a heartbeat a minute.
 */
export async function gateProgress(io: Io, output: Output, maxAttempts: number): Promise<GateProgress> {
  const spinner = output.quiet ? null : await createSpinner(io);
  const { clock } = io;
  const told = new Map<string, { state: string; at: number }>();
  const say = (line: string, loud = false) => {
    spinner?.clear();
    void (loud ? output.alert(line) : output.note(line));
  };
  const name = (run: { runId: string }) => excerpt(run.runId, 80);

  const animate = (run: WatchedRun, runs: readonly WatchedRun[]) => {
    spinner?.show(() => {
      const left = runs.filter((one) => one.outcome === null);
      const now = clock.monotonic();
      const elapsed = formatDuration(now - run.startedAt);
      const next = formatDuration(Math.max(0, Math.min(...left.map((one) => one.due)) - now));
      if (left.length > 1)
        return `${left.length} of ${runs.length} runs going · ${elapsed} · next poll in ${next}`;
      const one = left[0] ?? run;
      const state = excerpt(one.progress.seen?.state ?? '', 40);
      return `${name(one)} ${state} · ${counts(one)} · ${attempt(one, maxAttempts)} · ${elapsed} · next poll in ${next}`;
    });
  };

  return {
    stop: () => spinner?.stop(),
    onCreated(run, reattached) {
      const url = run.appUrl === null ? '' : ` ${excerpt(run.appUrl, 500)}`;
      say(
        `${reattached ? 'attached to the run that was started before' : 'created run'}: ${name(run)}${url}`,
      );
    },
    onCreateRetry: (error, waitMs) =>
      say(`creating the run: ${why(error)}; trying again in ${formatDuration(waitMs)}`),
    onRead(run, runs) {
      animate(run, runs);
      const state = run.progress.seen?.state ?? '';
      const last = told.get(run.runId);
      const now = clock.monotonic();
      const changed = last?.state !== state;
      if (spinner !== null || (!changed && now - last.at < heartbeatMs)) return;
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
    onStopping: (signal) => say(`stopping on ${signal}; a second signal ends rungate at once`, true),
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
