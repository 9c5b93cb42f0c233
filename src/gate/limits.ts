/** How often and for how long a wait reads a run; times in milliseconds. */
export interface Limits {
  intervalMs: number;
  timeoutMs: number;
  /** Status reads; Infinity when only the time counts. */
  maxAttempts: number;
}

/** The rhythm and the limit of the interface's own reference loop (section 4.3), and an hour. */
export const usualLimits: Limits = { intervalMs: 10_000, timeoutMs: 3_600_000, maxAttempts: 60 };

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
