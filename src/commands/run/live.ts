import { stripVTControlCharacters } from 'node:util';
import type { Policy } from '../../gate/policy.ts';
import { shownAs } from '../../gate/report.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Io } from '../../host/io.ts';
import { hyperlink, supportsLinks } from '../../output/live/hyperlink.ts';
import type { LiveModel, LiveRun, LiveStyle } from '../../output/live/model.ts';
import { liveLines } from '../../output/live/view.ts';
import { hasSymbols } from '../../output/motion.ts';
import type { Output } from '../../output/output.ts';
import { excerpt } from '../../sanitize.ts';

/** The rules of the wait that the view shows. */
export interface LiveRules {
  maxAttempts: number;
  policy: Policy;
}

/** The view of a wait on a terminal. */
export interface GateLive {
  /** Shows these runs from now on. They change in place. */
  watch(runs: readonly WatchedRun[]): void;
  draw(): void;
  /** Shows that the gate stops: no status read follows. */
  stopping(): void;
  stop(): void;
}

export interface Moment extends LiveRules {
  now: number;
  stopping: boolean;
  /** Redacts secrets. */
  redact(text: string): string;
}

/** Returns a run as the view shows it. Pure. */
export function liveRun(run: WatchedRun, { now, stopping, maxAttempts, policy, redact }: Moment): LiveRun {
  const { seen, attempts, trouble } = run.progress;
  const verdict = run.outcome?.verdict;
  const going = verdict === undefined;
  const of = attempts <= maxAttempts && Number.isFinite(maxAttempts) ? `/${maxAttempts}` : '';
  const id = excerpt(redact(run.runId), 200);
  const name = excerpt(redact(run.subject.name ?? run.runId), 200);
  return {
    name,
    retry: run.retry,
    id: name === id ? null : id,
    // A redacted or shortened address would not work as a link.
    url: run.appUrl !== null && redact(run.appUrl) === run.appUrl ? excerpt(run.appUrl, 2000) : null,
    phase: verdict === undefined ? 'going' : shownAs({ verdict, gate: policy[verdict] }),
    state: run.outcome?.verdict ?? excerpt(redact(seen?.state ?? '-'), 80),
    trouble: going && trouble !== null,
    failed: seen?.failed ?? null,
    blocked: seen?.blocked ?? null,
    attempt: `${attempts}${of}`,
    elapsedMs: (run.endedAt ?? now) - run.startedAt,
    nextMs: going && !stopping ? Math.max(0, run.due - now, run.turn - now) : null,
  };
}

/** Shows the rows that `rowsOf` returns, until it is stopped. Nothing is shown before the first call of `show`. */
export function liveRows(
  io: Io,
  { motion, paint, redact }: Output,
  rowsOf: (moment: Omit<Moment, keyof LiveRules>) => LiveRun[],
) {
  // ora clears too many lines if it counts the characters of a link as text.
  const link: LiveStyle['link'] = (url, text) => {
    const linked = hyperlink(url, text);
    return stripVTControlCharacters(linked) === stripVTControlCharacters(text) ? linked : text;
  };
  const style: LiveStyle = { paint, link: supportsLinks(io.env) ? link : null, symbols: hasSymbols(io) };
  const began = io.clock.monotonic();
  let stopping = false;
  let hide: (() => void) | undefined;

  const model = (): LiveModel => {
    const now = io.clock.monotonic();
    return { runs: rowsOf({ now, stopping, redact }), elapsedMs: now - began };
  };
  return {
    show() {
      hide ??= motion.show((size) => liveLines(model(), size, style));
      motion.draw();
    },
    draw: motion.draw,
    stopping() {
      stopping = true;
    },
    stop: () => hide?.(),
  };
}

export function gateLive(io: Io, output: Output, rules: LiveRules): GateLive {
  let runs: readonly WatchedRun[] = [];
  const view = liveRows(io, output, (moment) => runs.map((run) => liveRun(run, { ...rules, ...moment })));
  return {
    ...view,
    watch(watched) {
      if (watched.length === 0) return;
      runs = watched;
      view.show();
    },
  };
}
