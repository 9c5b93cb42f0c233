import type { Clock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import type { NameOf, RungateError } from '../../errors.ts';
import type { PageShown } from '../effect-tools.ts';
import type { Emit } from '../events.ts';
import type { DeployedReport } from '../result-types.ts';
import {
  awaitedText,
  buildProblem,
  type ExpectedBuild,
  isDeployed,
  neverDeployed,
  nothingSeen,
  type PageReading,
  type Phase,
  reported,
  type SeenBuild,
  withReading,
} from './reads.ts';

export interface DeployedCheckOptions {
  expected: ExpectedBuild;
  pointer?: string | undefined;
  /** The reads of earlier slices of the gate. */
  seen?: SeenBuild | undefined;
  /** How long to wait for the build before the run is created, in milliseconds. */
  timeoutMs: number;
  /** The timeout of one request to the service: a read takes no longer. */
  requestTimeoutMs?: number | undefined;
  /** Reads the page once. Rejects only if it is aborted, or for an error that no later read can fix. */
  read(options: { signal: AbortSignal; timeoutMs: number }): Promise<PageReading>;
  clock: Clock;
  nameOf: NameOf;
  emit?: Emit | undefined;
}

/** The timeout of one read: a page that is slower than this is not a version page. */
const usualReadMs = 10_000;
/** A read that begins just before the deadline gets this time. */
const leastReadMs = 1000;

/** Reads the version page, and keeps what it has shown, for messages and the report. */
export function watchPage(options: DeployedCheckOptions) {
  const { expected, pointer, timeoutMs, requestTimeoutMs, read, clock, nameOf, emit } = options;
  /** Those of the runs before a retry. */
  const all: SeenBuild[] = [];
  let seen = options.seen ?? nothingSeen;

  return {
    timeoutMs,

    /** Reads the page once. `leftMs`: the time until the wait for the build ends. */
    async read(phase: Phase, leftMs: number, signal: AbortSignal): Promise<PageShown> {
      // A retry waits for the build again, which may be another, if no run of another gate needs the one before.
      if (phase === 'before' && seen.last !== null && seen.last.phase !== 'before') {
        all.push(seen);
        seen = nothingSeen;
      }
      if (phase === 'before' && seen.last === null) {
        const message = `waiting for ${awaitedText(expected)}, for up to ${formatDuration(timeoutMs)}`;
        emit?.({ type: 'note', message });
      }
      const limit = Math.min(usualReadMs, requestTimeoutMs ?? usualReadMs);
      const result = await read({ signal, timeoutMs: Math.min(limit, Math.max(leastReadMs, leftMs)) });
      seen = withReading(seen, phase, result, clock.now());
      const { text = null, matches = false } = seen.last ?? {};
      const error = 'error' in result ? result.error : null;
      const agreed = phase === 'before' && isDeployed(seen);
      emit?.({ type: 'deployed', phase, text, version: matches ? seen.build : null, matches, agreed, error });
      if (error !== null || !matches) return { build: error === null ? 'other' : null, error };
      return { build: phase === 'before' && seen.inARow === 1 ? 'first' : 'expected', error };
    },

    seen: () => seen,

    /** Returns the error of a gate that created no run, because the build did not appear in time. */
    never: (waitedMs: number): RungateError =>
      neverDeployed(seen, expected, formatDuration(waitedMs), nameOf),

    /** Returns why another build, or an unknown one, was tested. */
    problem: (): RungateError => buildProblem(seen, expected),

    /** @param isConfirmed whether each run that has ended was confirmed; null without one */
    report(isConfirmed: boolean | null): DeployedReport {
      const reads = [...all, seen];
      const isOther = reads.some(({ other }) => other !== null);
      const builds = new Set(reads.map(({ build }) => build ?? expected.versions.join(' or ')));
      return {
        url: expected.page,
        pointer: pointer ?? null,
        expected: [...builds].join(' or '),
        matches: isOther ? false : isConfirmed === true ? true : null,
        reads: reads.flatMap(reported).toSorted((a, b) => a.at.localeCompare(b.at)),
      };
    },
  };
}

export type WatchedPage = ReturnType<typeof watchPage>;
