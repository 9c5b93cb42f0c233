import { ContractError, HttpError, NetworkError } from '../errors.ts';
import type { PreparedRequest } from '../transport/transport.ts';

/** `limit`: wait until the rate limit allows it; `again`: another try may do; `no`: it would not help or could harm. */
export type RetryKind = 'limit' | 'again' | 'no';

type Retryable = Pick<PreparedRequest, 'method' | 'headers' | 'repeatable'>;

const passing: readonly number[] = [408, 500, 502, 503, 504];

const seconds = /^\d+(\.\d+)?$/;
const httpDate =
  /^((Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * `Retry-After` in milliseconds, never cut short: seconds (fractions count) or an HTTP date in any of its three
 * forms; a date in the past is 0. What is neither is undefined.
 * @param now wall-clock milliseconds since the epoch
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (seconds.test(text)) {
    const ms = Math.ceil(Number(text) * 1000);
    return Number.isFinite(ms) ? ms : undefined;
  }
  const at = parseHttpDate(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Milliseconds since the epoch; NaN where it is no HTTP date. */
function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN;
  // The C form of the date carries no zone, and means GMT as the others do.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/** A `Date` comes in whole seconds, and was on its way. */
const sameTimeMs = 2000;

/**
 * What time it is by the clock that a `Retry-After` date was made with: the reply's own `Date` where that is another time
 * than ours. A service whose clock is off would make us wait by the difference, or not at all.
 */
export function clockOf(headers: Readonly<Record<string, string>>, now: number): number {
  const at = parseHttpDate(headers.date?.trim() ?? '');
  return Math.abs(at - now) > sameTimeMs ? at : now;
}

/**
 * The wait before another try, in milliseconds: full jitter, anything from 0 up to 500 ms · 2^n, at most 20 s.
 * @param n failed tries before this wait, less one: 0 for the first wait
 */
export function backoff(n: number, random: () => number): number {
  return random() * Math.min(20_000, 500 * 2 ** n);
}

/** A request that the rate limit has just refused. Times in milliseconds. */
export interface Refused {
  /** 429s before this one. */
  refusals: number;
  /** What earlier 429s have cost the call so far. */
  waitedMs: number;
  /** What `Retry-After` asks for. */
  askedMs: number | undefined;
  /** Until the call may wait no longer. */
  leftMs: number;
}

/** A service that asks for less than this and refuses again does not know when it will accept a request. */
const credibleMs = 1000;
/** Limits are counted by the minute, so a client that is still refused after about that long is one of many. */
const crowdedAfterMs = 45_000;

/**
 * The wait after a 429, in milliseconds: at least what the service asks for, plus a random part of a window. The window
 * is short for the first minute. After that it is 8 minutes and grows with the time waited so far, because some limits
 * count the requests that they refuse: a fleet only gets through when all of it together sends fewer than the limit.
 * It is at most a third of the time left, so that several attempts fit into it, and never passes its end.
 */
export function limitWait({ refusals, waitedMs, askedMs, leftMs }: Refused, random: () => number): number {
  const asked = askedMs !== undefined && (refusals === 0 || askedMs >= credibleMs) ? askedMs : undefined;
  const [usual, window] =
    refusals === 0
      ? [15_000, Math.min(asked ?? 15_000, 15_000)]
      : waitedMs < crowdedAfterMs
        ? [45_000, 30_000]
        : [30_000, Math.min(Math.max(8 * 60_000, 1.25 * waitedMs), Math.max(4 * 60_000, leftMs / 3))];
  const least = asked ?? usual;
  return least + random() * Math.max(0, Math.min(window, leftMs - least));
}

/** A keyed POST whose first sending is still being worked on: its reply will be there in a moment. */
function inProgress(error: HttpError, request: Retryable): boolean {
  const keyed = request.method === 'POST' && request.headers['idempotency-key'] !== undefined;
  const said = JSON.stringify([error.error, error.details]);
  return keyed && error.status === 409 && /in[ _-]progress/i.test(said);
}

/** Whether the failed request may be sent again, and what for. */
export function retryKind(error: unknown, request: Retryable): RetryKind {
  const again = request.repeatable ? 'again' : 'no';
  if (error instanceof NetworkError) {
    // A certificate does not become valid, and a deadline does not come back.
    if (error.fault === 'tls' || error.fault === 'deadline') return 'no';
    return error.unsent ? 'again' : again;
  }
  if (error instanceof HttpError) {
    if (error.status === 429) return 'limit';
    return passing.includes(error.status) || inProgress(error, request) ? again : 'no';
  }
  return error instanceof ContractError && error.unreadable ? again : 'no';
}

/** The request may have taken effect although its reply did not come. */
export function replyLost(error: unknown): boolean {
  if (error instanceof NetworkError) return error.fault === 'broken';
  if (error instanceof HttpError) return error.status === 502 || error.status === 504;
  return error instanceof ContractError && error.unreadable;
}
