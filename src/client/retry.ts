import { HttpError, NetworkError, UnexpectedResponseError } from '../errors.ts';
import type { PreparedRequest } from '../transport/transport.ts';

/** `limit`: wait for the rate limit; `again`: a retry may succeed; `no`: a retry would not help, or could do harm. */
export type RetryKind = 'limit' | 'again' | 'no';

type Retryable = Pick<PreparedRequest, 'method' | 'headers' | 'repeatable'>;

/** Returns whether the same request may get another response later. A 425 refuses only a request that came too early. */
export const isPassing = (status: number): boolean =>
  [408, 425].includes(status) || (status >= 500 && status !== 501 && status !== 505);

const seconds = /^\d+(\.\d+)?$/;
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns `Retry-After` in milliseconds, never rounded down: seconds, with fractions, or an HTTP date. A date in the past is 0,
 * and anything else undefined.
 * @param now wall-clock milliseconds since the epoch
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (seconds.test(text)) {
    const ms = Math.ceil(Number(text) * 1000);
    return Number.isFinite(ms) ? ms : undefined;
  }
  const dateMs = parseHttpDate(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - now);
}

/** NaN for anything but an HTTP date. */
export function parseHttpDate(text: string): number {
  return httpDate.test(text) ? Date.parse(text) : Number.NaN;
}

/** `Date` has whole seconds, and the response took some time to arrive. */
const sameTimeMs = 2000;

/**
 * Returns the current time of the clock behind a `Retry-After` date: the response's `Date` if it differs from our time.
 * Otherwise a service with a wrong clock would make rungate wait for the difference, or not at all.
 */
export function clockOf(headers: Readonly<Record<string, string>>, now: number): number {
  const dateMs = parseHttpDate(headers.date?.trim() ?? '');
  return Math.abs(dateMs - now) > sameTimeMs ? dateMs : now;
}

/**
 * Returns the wait before a retry, in milliseconds, with full jitter: from 0 to 500 ms · 2^n, at most 20 s.
 * @param n failed requests before this wait, minus one: 0 for the first wait
 */
export function backoff(n: number, random: () => number): number {
  return random() * Math.min(20_000, 500 * 2 ** n);
}

/** A request that the rate limit has just refused. Times in milliseconds. */
export interface Refused {
  /** The number of 429s before this one. */
  refusals: number;
  /** The time that earlier 429s have cost the call. */
  waitedMs: number;
  /** The wait that `Retry-After` requests. */
  requestedMs: number | undefined;
  /** The time left until the call may wait no longer. */
  leftMs: number;
}

/** A service that requests a shorter wait and then refuses again does not know when it will accept a request. */
const credibleMs = 1000;
/** Limits count by the minute, so a client that is still refused after this time is one of many. */
const crowdedAfterMs = 45_000;

/**
 * Returns the wait after a 429, in milliseconds: at least the requested wait, plus a random part of a window. The window
 * is short for the first minute. After that it is 8 minutes and grows with the time waited so far, because some limits
 * count the requests that they refuse: a fleet gets through only when its gates together send fewer than the limit.
 * It is at most a third of the time left, so that several requests fit into it, and never exceeds it.
 */
export function limitWait(
  { refusals, waitedMs, requestedMs, leftMs }: Refused,
  random: () => number,
): number {
  const requested =
    requestedMs !== undefined && (refusals === 0 || requestedMs >= credibleMs) ? requestedMs : undefined;
  const [usual, window] =
    refusals === 0
      ? [15_000, Math.min(requested ?? 15_000, 15_000)]
      : waitedMs < crowdedAfterMs
        ? [45_000, 30_000]
        : [30_000, Math.min(Math.max(8 * 60_000, 1.25 * waitedMs), Math.max(4 * 60_000, leftMs / 3))];
  const least = requested ?? usual;
  return least + random() * Math.max(0, Math.min(window, leftMs - least));
}

/** Returns whether the service is still processing the first request with this key, so that its response will come soon. */
function inProgress(error: HttpError, request: Retryable): boolean {
  const keyed = request.method === 'POST' && request.headers['idempotency-key'] !== undefined;
  const text = JSON.stringify([error.error, error.details]);
  return keyed && error.status === 409 && /in[ _-]progress/i.test(text);
}

export function retryKind(error: unknown, request: Retryable): RetryKind {
  const again = request.repeatable ? 'again' : 'no';
  if (error instanceof NetworkError) {
    // A bad certificate and a passed deadline do not recover.
    if (error.fault === 'tls' || error.fault === 'deadline') return 'no';
    return error.unsent ? 'again' : again;
  }
  if (error instanceof HttpError) {
    if (error.status === 429) return 'limit';
    const passes = isPassing(error.status) || error.retryAfterMs !== undefined;
    return passes || inProgress(error, request) ? again : 'no';
  }
  return error instanceof UnexpectedResponseError && error.unreadable ? again : 'no';
}

/** Returns whether the response may lead to what the request has created: a 303 does, and many services send a 302 instead. */
export const mayLeadToResult = (error: unknown): boolean =>
  error instanceof HttpError && (error.status === 302 || error.status === 303);

/** Returns whether the request may have taken effect although its response was lost. */
export function responseLost(error: unknown): boolean {
  if (error instanceof NetworkError) return error.fault === 'broken';
  // A proxy, or Cloudflare, has sent the request on.
  if (error instanceof HttpError) return [502, 504, 520, 522, 524].includes(error.status);
  return error instanceof UnexpectedResponseError && error.unreadable;
}
