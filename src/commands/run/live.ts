import type { Policy } from '../../gate/policy.ts';
import { shownAs } from '../../gate/report.ts';
import type { WatchedRun } from '../../gate/wait.ts';
import type { Io } from '../../host/io.ts';
import type { Terminal } from '../../host/terminal.ts';
import { hyperlink, knowsLinks } from '../../output/live/hyperlink.ts';
import type { LiveModel, LiveRun, LiveStyle } from '../../output/live/model.ts';
import { beatMs, openScreen, type Screen } from '../../output/live/screen.ts';
import { liveLines } from '../../output/live/view.ts';
import type { Output } from '../../output/output.ts';
import { excerpt } from '../../sanitize.ts';

/** What of the wait's rules shows in the view. */
export interface LiveRules {
  maxAttempts: number;
  policy: Policy;
}

/** The view of a wait on a terminal. */
export interface GateLive {
  /** Shows these runs from now on. They change in place. */
  watch(runs: readonly WatchedRun[]): void;
  draw(): void;
  /** Nothing is read any more. */
  stopping(): void;
  stop(): Promise<void>;
}

interface Moment extends LiveRules {
  now: number;
  stopping: boolean;
  /** Takes out what must not be seen. */
  conceal(text: string): string;
}

/** A run as the view shows it. Pure. */
export function liveRun(run: WatchedRun, { now, stopping, maxAttempts, policy, conceal }: Moment): LiveRun {
  const { seen, attempts, trouble } = run.progress;
  const verdict = run.outcome?.verdict;
  const going = verdict === undefined;
  const of = Number.isFinite(maxAttempts) ? `/${maxAttempts}` : '';
  return {
    name: excerpt(conceal(run.runId), 200),
    // An address that is cut, or has a secret in it, leads nowhere.
    url: run.appUrl !== null && conceal(run.appUrl) === run.appUrl ? excerpt(run.appUrl, 2000) : null,
    phase: verdict === undefined ? 'going' : shownAs({ verdict, gate: policy[verdict] }),
    state: run.outcome?.verdict ?? excerpt(conceal(seen?.state ?? '-'), 80),
    trouble: going && trouble !== null,
    failed: seen?.failed ?? null,
    blocked: seen?.blocked ?? null,
    attempt: `${attempts}${of}`,
    elapsedMs: (run.endedAt ?? now) - run.startedAt,
    nextMs: going && !stopping ? Math.max(0, run.due - now) : null,
  };
}

/** Terminals that have a few hundred characters, and no more. */
function hasSymbols({ env, platform }: Io): boolean {
  if (platform !== 'win32') return env.TERM !== 'linux';
  return env.WT_SESSION !== undefined || env.TERM_PROGRAM !== undefined || env.TERM !== undefined;
}

export function gateLive(io: Io, terminal: Terminal, output: Output, rules: LiveRules): GateLive {
  const style: LiveStyle = {
    paint: output.paint,
    link: knowsLinks(io.env) ? hyperlink : null,
    symbols: hasSymbols(io),
  };
  const began = io.clock.monotonic();
  let stopping = false;
  let screen: Screen | undefined;
  let runs: readonly WatchedRun[] = [];

  const model = (): LiveModel => {
    const now = io.clock.monotonic();
    const moment = { ...rules, now, stopping, conceal: output.conceal };
    return {
      runs: runs.map((run) => liveRun(run, moment)),
      elapsedMs: now - began,
      beat: Math.floor(now / beatMs),
    };
  };
  return {
    watch(watched) {
      if (watched.length === 0) return;
      runs = watched;
      screen ??= openScreen(terminal, io, (size) => liveLines(model(), size, style));
      screen.draw();
    },
    draw: () => screen?.draw(),
    stopping() {
      stopping = true;
    },
    stop: async () => screen?.close(),
  };
}
