import { UsageError } from './errors.ts';

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns the milliseconds of `250ms`, `10s`, `1.5m`, `1h` or `1d`, or null for other text; a bare number is seconds. */
export function readDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h|d)?$/.exec(text.trim());
  if (match === null) return null;
  const ms = Number(match[1]) * unitMs[(match[2] ?? 's') as keyof typeof unitMs];
  return Number.isFinite(ms) ? ms : null;
}

/**
 * Returns a duration above zero, in milliseconds.
 * @param name the option, for the error: `--interval`
 * @throws UsageError for any other text
 */
export function parseDuration(name: string, text: string): number {
  const ms = readDuration(text);
  if (ms === null || ms <= 0) {
    throw new UsageError(`${name}: "${text}" is not a duration`, {
      hint: 'write a number above 0 with ms, s, m, h or d, such as 250ms, 10s, 5m, 1h; a number without a unit is in seconds',
    });
  }
  return ms;
}

/** Formats a duration for people: `850 ms`, `9 s`, `2 min 5 s`, `1 h 3 min`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${ms < 10_000 ? Number((ms / 1000).toFixed(1)) : seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats milliseconds for a file: `90s` rather than `1.5m`, as most people write it. */
export function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}
