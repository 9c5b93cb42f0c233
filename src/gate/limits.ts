import { formatDuration } from '../duration.ts';
import { type ConfigError, UsageError } from '../errors.ts';

/** How often and for how long a wait reads a run; times in milliseconds. */
export interface Limits {
  intervalMs: number;
  timeoutMs: number;
  /** Status reads; Infinity when only the time counts. */
  maxAttempts: number;
}

/** The rhythm and the limit of the interface's own reference loop (section 4.3), and an hour. */
export const usualLimits: Limits = { intervalMs: 10_000, timeoutMs: 3_600_000, maxAttempts: 60 };

/** The shortest wait that a service may ask for, in milliseconds: less would be reads without a pause. */
export function shortestWaitMs(local: boolean): number {
  return local ? 50 : 1000;
}

/** The shortest interval that the interface allows (section 4.3: every 10 to 30 s), in milliseconds. */
const documentedMs = 10_000;

/**
 * What there is to say of an interval that somebody chose: nothing for a service on this machine.
 * @param name what the user calls it
 * @throws Refusal below 1 s
 */
export function intervalNote(
  name: string,
  intervalMs: number,
  local: boolean,
  Refusal: typeof UsageError | typeof ConfigError = UsageError,
): string | null {
  if (local || intervalMs >= documentedMs) return null;
  const rule = 'the service asks to be polled every 10 to 30 s';
  if (intervalMs >= 1000) return `${name} is ${formatDuration(intervalMs)}: ${rule}`;
  throw new Refusal(`${name} is too short: ${formatDuration(intervalMs)}`, {
    hint: `use 1 s or more, better 10 s: ${rule}`,
  });
}

/** The limits in force. Who sets a time means it: the usual number of reads would end the wait long before. */
export function resolveLimits(given: { [Limit in keyof Limits]?: Limits[Limit] | undefined }): Limits {
  const { intervalMs, timeoutMs, maxAttempts } = given;
  const reads = timeoutMs === undefined ? usualLimits.maxAttempts : Number.POSITIVE_INFINITY;
  return {
    intervalMs: intervalMs ?? usualLimits.intervalMs,
    timeoutMs: timeoutMs ?? usualLimits.timeoutMs,
    maxAttempts: maxAttempts ?? reads,
  };
}
