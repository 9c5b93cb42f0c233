import { formatDuration } from '../duration.ts';
import { type ConfigError, UsageError } from '../errors.ts';
import type { Policy } from './policy.ts';

/** The interval and the limits of a wait; times in milliseconds. */
export interface Limits {
  intervalMs: number;
  timeoutMs: number;
  /** Status reads; Infinity if only the timeout limits them. */
  maxAttempts: number;
}

/** The rules of a gate: its policy, its limits and its retries. */
export interface Rules extends Limits {
  policy: Policy;
  /** How many runs to start after the first one, each only if the last run has the verdict `failed`; default 0. */
  retries?: number | undefined;
}

/** The highest number of retries: a test that needs more does not test anything. */
export const mostRetries = 10;

/** The interval and the number of reads of the service's reference loop, and a timeout of an hour. */
export const usualLimits: Limits = { intervalMs: 10_000, timeoutMs: 3_600_000, maxAttempts: 60 };

/** How long a gate waits for the expected build before it creates its run, in milliseconds. */
export const usualDeployedMs = 300_000;

/** Returns the shortest wait that a service may request, in milliseconds. Less would poll without a pause. */
export function shortestWaitMs(local: boolean): number {
  return local ? 50 : 1000;
}

/** The shortest interval that the service allows (it recommends 10 to 30 s), in milliseconds. */
const documentedMs = 10_000;

/**
 * Returns a warning about an interval that is shorter than the documented one, or null. A service on this machine has none.
 * @param name the option or setting that the user has set
 * @throws Refusal below 1 s
 */
export function intervalNote(
  name: string,
  intervalMs: number,
  local: boolean,
  Refusal: typeof UsageError | typeof ConfigError = UsageError,
): string | null {
  if (local || intervalMs >= documentedMs) return null;
  const rule = 'the service recommends a status read every 10 to 30 s';
  if (intervalMs >= 1000) return `${name} is ${formatDuration(intervalMs)}: ${rule}`;
  throw new Refusal(`${name} is too short: ${formatDuration(intervalMs)}`, {
    hint: `use 1 s or more, preferably 10 s, because ${rule}`,
  });
}

/** Returns the limits of a wait. Without a number of reads, only the timeout limits it. */
export function resolveLimits(limits: { [Limit in keyof Limits]?: Limits[Limit] | undefined }): Limits {
  const { intervalMs, timeoutMs, maxAttempts } = limits;
  return {
    intervalMs: intervalMs ?? usualLimits.intervalMs,
    timeoutMs: timeoutMs ?? usualLimits.timeoutMs,
    maxAttempts: maxAttempts ?? Number.POSITIVE_INFINITY,
  };
}

/** The time for a stop, in milliseconds. It takes 5 s at most; the rest is for noticing it (a lost parent shows late) and for the report. */
export const stopBudgetMs = 4_400;

/** So many responses in a row that are not the service's own end a gate, or the creation of its run. */
export const mostForeign = 5;

/** So many connections that failed before the service ever responded show a wrong address. */
export const mostAddress = 4;

/** The longest duration of a last read, in milliseconds. */
export const lastReadMs = 10_000;
