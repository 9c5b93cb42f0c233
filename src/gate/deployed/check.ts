import type { Clock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import type { MismatchError } from '../../errors.ts';
import type { HintNames } from '../../hint-names.ts';
import type { Emit } from '../events.ts';
import type { Policy } from '../policy.ts';
import type { Outcome } from '../poll.ts';
import {
  type DeployedObservation,
  type Expected,
  isConfirmed,
  isDeployed,
  judged,
  matchOf,
  neverDeployed,
  nothingSeen,
  type Phase,
  type Reading,
  reported,
  type Seen,
  withReading,
} from './observations.ts';

/** The deployed build in the result of a gate. */
export interface DeployedReport {
  /** The URL of the version page, without its query. */
  url: string;
  pointer: string | null;
  expected: string;
  /** Whether the runs tested only the expected build; null if that is unknown. */
  matches: boolean | null;
  /** The first read, every change, and the last read. */
  observations: DeployedObservation[];
}

/** Checks which build is deployed while a gate creates a run and waits for it. */
export interface DeployedCheck {
  /**
   * Resolves with null when the expected build is deployed, so that the run may be created, and with an error if it does not
   * appear in time. @throws the signal's reason when that is aborted
   */
  untilDeployed(signal: AbortSignal): Promise<MismatchError | null>;
  /** Reads the page once, with a status read. Several status reads at once share one. Resolves after an abort, too. */
  observe(signal: AbortSignal): Promise<void>;
  /** Reads the page three times after the runs have their outcomes. @throws the signal's reason when that is aborted */
  confirm(signal: AbortSignal): Promise<void>;
  /** Returns the outcome of a run, given what the reads have shown; null if a stop prevented the reads after the verdict. */
  judge(own: Outcome, policy: Policy): Outcome | null;
  /** Returns what all runs have shown, those of `again` included. */
  report(): DeployedReport;
  /** Returns a check for another run, which waits for the build for `leftMs` at most. */
  again(leftMs: number): DeployedCheck;
  /** Returns the check of another gate, which waits for the build together with this one. */
  ofGate(): DeployedCheck;
}

export interface DeployedCheckOptions {
  expected: Expected;
  pointer?: string | undefined;
  /** How long to wait for the build before the create, in milliseconds. */
  timeoutMs: number;
  /** The timeout of one attempt of a request to the service: a read takes no longer. */
  requestTimeoutMs?: number | undefined;
  /** Reads the page once. Rejects only if it is aborted, or for an error that no later read can fix. */
  read(options: { signal: AbortSignal; timeoutMs: number }): Promise<Reading>;
  clock: Clock;
  emit?: Emit | undefined;
  names: HintNames;
}

const everyMs = 1000;
/** The timeout of one read: a page that is slower than this is not a version page. */
const usualReadMs = 10_000;
/** A read that begins just before the deadline gets this time. */
const leastReadMs = 1000;
/** How long failed reads after the verdicts are repeated. */
const confirmMs = 30_000;

export function createDeployedCheck(options: DeployedCheckOptions): DeployedCheck {
  const { expected, pointer, timeoutMs, requestTimeoutMs, read, clock, emit, names } = options;
  let seen: Seen = nothingSeen;
  let reading: Promise<void> | undefined;
  let deployed: Promise<MismatchError | null> | undefined;
  /** The checks of later runs. */
  const later: DeployedCheck[] = [];
  /** The gates whose runs have their outcomes, and those of them that have read the page since. */
  let [ended, confirmed] = [0, 0];

  /** Returns whether the page showed a version. */
  async function look(phase: Phase, deadline: number, signal: AbortSignal): Promise<boolean> {
    const left = deadline - clock.monotonic();
    const limit = Math.min(usualReadMs, requestTimeoutMs ?? usualReadMs);
    const result = await read({ signal, timeoutMs: Math.min(limit, Math.max(leastReadMs, left)) });
    seen = withReading(seen, phase, result, clock.now());
    const { text = null, matches = false } = seen.last ?? {};
    const error = 'error' in result ? result.error : null;
    const agreed = phase === 'before' && isDeployed(seen);
    emit?.({ type: 'deployed', phase, text, matches, agreed, error });
    return error === null;
  }

  /** Reads once a second until `isDone`. Returns false if the time is up first. No wait is shortened. */
  async function lookUntil(
    isDone: (readable: boolean) => boolean,
    phase: Phase,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const deadline = clock.monotonic() + ms;
    for (;;) {
      if (isDone(await look(phase, deadline, signal))) return true;
      if (clock.monotonic() + everyMs > deadline) return false;
      await clock.sleep(everyMs, signal);
    }
  }

  async function waitForBuild(signal: AbortSignal): Promise<MismatchError | null> {
    if (await lookUntil(() => isDeployed(seen), 'before', timeoutMs, signal)) return null;
    return neverDeployed(seen, expected, formatDuration(timeoutMs), names);
  }

  /** Returns the check of one gate. The gates share the reads, but each needs its own ones after its verdict. */
  function ofGate(): DeployedCheck {
    let after = 0;
    let complete = false;
    const own = (): Seen => ({ ...seen, after });
    return {
      untilDeployed(signal) {
        deployed ??= waitForBuild(signal);
        return deployed;
      },
      observe(signal) {
        reading ??= look('during', Number.POSITIVE_INFINITY, signal)
          .then(
            () => {},
            (error: unknown) => {
              if (!signal.aborted) throw error;
            },
          )
          .finally(() => {
            reading = undefined;
          });
        return reading;
      },
      async confirm(signal) {
        ended += 1;
        const isDone = (readable: boolean) => {
          if (readable) after += 1;
          return isConfirmed(own());
        };
        await lookUntil(isDone, 'after', confirmMs, signal);
        complete = true;
        if (after > 0) confirmed += 1;
      },
      // A stop may come before the reads after the verdicts. Another build is certain without them.
      judge: (outcome, policy) =>
        complete || seen.other !== null ? judged(outcome, own(), policy, expected) : null,
      report() {
        const reports = later.map((check) => check.report());
        const own = matchOf({ ...seen, after: ended === confirmed ? confirmed : 0 });
        const all = [own, ...reports.map(({ matches }) => matches)];
        const observations = [...reported(seen), ...reports.flatMap((other) => other.observations)];
        return {
          url: expected.page,
          pointer: pointer ?? null,
          expected: expected.version,
          matches: all.includes(false) ? false : all.includes(null) ? null : true,
          observations: observations.toSorted((a, b) => a.at.localeCompare(b.at)),
        };
      },
      again(leftMs) {
        const next = createDeployedCheck({ ...options, timeoutMs: Math.min(timeoutMs, leftMs) });
        later.push(next);
        return next;
      },
      ofGate,
    };
  }

  return ofGate();
}
