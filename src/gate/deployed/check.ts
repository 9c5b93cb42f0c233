import type { Clock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import type { MismatchError, Say } from '../../errors.ts';
import type { Emit } from '../events.ts';
import type { GateHooks } from '../gate.ts';
import type { DeployedReport } from '../result-types.ts';
import {
  awaitedText,
  type ExpectedBuild,
  isConfirmed,
  isDeployed,
  judged,
  matchOf,
  neverDeployed,
  nothingSeen,
  type PageReading,
  type Phase,
  reported,
  type SeenBuild,
  withReading,
} from './reads.ts';

export interface DeployedCheck extends GateHooks {
  /** Returns what all runs have shown, those of `again` included. */
  report(): { deployed: DeployedReport };
}

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
  emit?: Emit | undefined;
  say: Say;
}

const everyMs = 1000;
/** The timeout of one read: a page that is slower than this is not a version page. */
const usualReadMs = 10_000;
/** A read that begins just before the deadline gets this time. */
const leastReadMs = 1000;
/** How long failed reads after the verdicts are repeated. */
const confirmMs = 30_000;

/** Returns the hooks that check which build is deployed while a gate creates a run and waits for it. */
export function createDeployedCheck(options: DeployedCheckOptions): DeployedCheck {
  const { expected, pointer, timeoutMs, requestTimeoutMs, read, clock, emit, say } = options;
  let seen = options.seen ?? nothingSeen;
  let reading: Promise<void> | undefined;
  let deployed: Promise<MismatchError | null> | undefined;
  /** The checks of later runs. */
  const later: DeployedCheck[] = [];
  /** The gates whose runs have their outcomes, and those of them that have read the page since. */
  let [ended, confirmed] = [0, 0];

  async function look(phase: Phase, deadline: number, signal: AbortSignal): Promise<boolean> {
    const left = deadline - clock.monotonic();
    const limit = Math.min(usualReadMs, requestTimeoutMs ?? usualReadMs);
    const result = await read({ signal, timeoutMs: Math.min(limit, Math.max(leastReadMs, left)) });
    seen = withReading(seen, phase, result, clock.now());
    const { text = null, matches = false } = seen.last ?? {};
    const error = 'error' in result ? result.error : null;
    const agreed = phase === 'before' && isDeployed(seen);
    const version = matches ? seen.build : null;
    emit?.({ type: 'deployed', phase, text, version, matches, agreed, error });
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
    const limit = formatDuration(timeoutMs);
    emit?.({ type: 'note', message: `waiting for ${awaitedText(expected)}, for up to ${limit}` });
    if (await lookUntil(() => isDeployed(seen), 'before', timeoutMs, signal)) return null;
    return neverDeployed(seen, expected, limit).word(say);
  }

  /** Returns the check of one gate. The gates share the reads, but each needs its own ones after its verdict. */
  function ofGate(): DeployedCheck {
    let after = 0;
    let complete = false;
    const seenByGate = (): SeenBuild => ({ ...seen, after });
    return {
      beforeCreate(signal) {
        deployed ??= waitForBuild(signal);
        return deployed;
      },
      withRead(signal) {
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
      async afterVerdicts(signal) {
        ended += 1;
        const isDone = (readable: boolean) => {
          if (readable) after += 1;
          return isConfirmed(seenByGate());
        };
        await lookUntil(isDone, 'after', confirmMs, signal);
        complete = true;
        if (after > 0) confirmed += 1;
      },
      // A stop may come before the reads after the verdicts. Another build is certain without them.
      judge: (outcome, policy) =>
        complete || seen.other !== null ? judged(outcome, seenByGate(), policy, expected) : null,
      report() {
        const reports = later.map((check) => check.report().deployed);
        const matchSoFar = matchOf({ ...seen, after: ended === confirmed ? confirmed : 0 });
        const all = [matchSoFar, ...reports.map(({ matches }) => matches)];
        const reads = [...reported(seen), ...reports.flatMap((other) => other.reads)];
        const builds = new Set([
          seen.build ?? expected.versions.join(' or '),
          ...reports.map((other) => other.expected),
        ]);
        const deployed = {
          url: expected.page,
          pointer: pointer ?? null,
          expected: [...builds].join(' or '),
          matches: all.includes(false) ? false : all.includes(null) ? null : true,
          reads: reads.toSorted((a, b) => a.at.localeCompare(b.at)),
        };
        return { deployed };
      },
      again(leftMs) {
        const next = createDeployedCheck({
          ...options,
          seen: undefined,
          timeoutMs: Math.min(timeoutMs, leftMs),
        });
        later.push(next);
        return next;
      },
      ofGate,
    };
  }

  return ofGate();
}
