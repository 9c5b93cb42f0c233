import type { Exchange } from '../client/caller.ts';
import { limitWait, retryKind } from '../client/retry.ts';
import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import {
  ConfigError,
  CredentialError,
  HttpError,
  NetworkError,
  RungateError,
  UsageError,
} from '../errors.ts';
import { isWrongAddress } from '../transport/network-error.ts';
import type { Emit } from './events.ts';
import { foreignLimit, isForeign } from './failed-read.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { type Budget, turnToCreate } from './fleet/turns.ts';
import type { RunService } from './service.ts';

export interface CreateTools {
  service: RunService;
  clock: Clock;
  /** A number from 0 up to 1. */
  random: () => number;
  /** Aborted when a person or the CI stops the gate. */
  signal: AbortSignal;
  emit?: Emit | undefined;
  hub?: HubLink | undefined;
  /** The requests of all gates in this process. */
  budget?: Budget | undefined;
  /** The service has accepted the credential before. */
  accepted?: boolean | undefined;
}

/** The times of a start on the monotonic clock: the last one for creating the run, and the end of the timeout. */
export interface StartTimes {
  latest: number;
  deadline: number;
}

/** The state of a request that creates a run, and of its repetitions. */
export interface Sending {
  /** Requests sent so far. */
  requests: number;
  /** The time of the first request that may have arrived, on the monotonic clock. */
  sentAt: number;
  /** No response has arrived yet. */
  underWay: boolean;
  /** The service may have acted on an earlier request. */
  mayExist: boolean;
  /** How long the rate limit has delayed the request, in milliseconds. */
  limitedMs: number;
}

/** The limit of one request, if `--request-timeout` is longer. */
const longestRequestMs = 120_000;
/** How long an outage may last from its first failure. The waits for a rate limit or a grant do not count. */
const outageMs = 5 * 60_000;
const longestWaitMs = 30_000;
/** The number of requests to an address that is probably wrong. */
const wrongAddressLimit = 4;

/** Returns whether the service certainly did not act on a request. */
export function surelyRefused(error: unknown): boolean {
  if (error instanceof NetworkError) return error.unsent;
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof CredentialError)
    return true;
  return error instanceof HttpError && error.status < 500 && error.status !== 408 && error.status !== 409;
}

/** A deadline is that of one request here. */
function retryKindOf(error: RungateError, key: string): ReturnType<typeof retryKind> {
  if (error instanceof NetworkError && error.fault === 'deadline') return 'again';
  return retryKind(error, { method: 'POST', headers: { 'idempotency-key': key }, repeatable: true });
}

/** Adds to the last error how often the request was sent, or which wait the service requests. */
function lastError(error: RungateError, leftMs = Number.POSITIVE_INFINITY): RungateError {
  const { requests = 1, elapsedMs = 0 } = error.facts;
  const requestedMs = error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0;
  const why =
    requestedMs >= leftMs
      ? `the service requests a wait of ${formatDuration(requestedMs)}, but rungate retries for only ${formatDuration(leftMs)} more`
      : `rungate sent the request ${requests} times in ${formatDuration(elapsedMs)}`;
  error.hint = error.hint === undefined ? why : `${error.hint}; ${why}`;
  return error;
}

/**
 * Sends the request that creates a run until the service accepts it, a repetition would not help, or the time is up. Each
 * repetition has the same key and bytes, and waits for its turn in the limit and for the hub's grant.
 * @param sending changes in place
 * @param abandon ends the request; the signal of the tools only ends the waits
 * @throws RungateError, or the reason of the signal
 */
export async function sendCreate(
  body: TriggerBody,
  idempotencyKey: string,
  { latest, deadline }: StartTimes,
  sending: Sending,
  abandon: AbortSignal,
  tools: CreateTools,
): Promise<Exchange> {
  const { service, clock, random, signal, emit, hub, accepted } = tools;
  const startedAt = clock.monotonic();
  let outageEnd = Number.POSITIVE_INFINITY;
  let [failures, refusals, limitedMs, wrongAddresses, foreign] = [0, 0, 0, 0, 0];
  for (;;) {
    const began = clock.monotonic();
    const timeoutMs = Math.max(1, Math.min(longestRequestMs, deadline - began));
    const sentAt = sending.mayExist ? sending.sentAt : began;
    Object.assign(sending, { requests: sending.requests + 1, sentAt, underWay: true });
    try {
      return await service.trigger(body, { idempotencyKey, maxRequests: 1, timeoutMs, signal: abandon });
    } catch (error) {
      const now = clock.monotonic();
      Object.assign(sending, { underWay: false, mayExist: sending.mayExist || !surelyRefused(error) });
      if (!(error instanceof RungateError)) throw error;
      error.facts = { ...error.facts, requests: sending.requests, elapsedMs: now - startedAt };
      const kind = retryKindOf(error, idempotencyKey);
      wrongAddresses = isWrongAddress(error) ? wrongAddresses + 1 : 0;
      foreign = isForeign(error) ? foreign + 1 : 0;
      const mayPass = kind !== 'no' || (foreign > 0 && (accepted || sending.mayExist));
      if (!mayPass || wrongAddresses >= wrongAddressLimit || foreign >= foreignLimit) throw error;
      const limited = kind === 'limit';
      if (!limited && failures === 0) outageEnd = now + outageMs;
      const end = limited ? latest : Math.min(latest, outageEnd);
      const requestedMs = error instanceof HttpError ? error.retryAfterMs : undefined;
      const leastMs = Math.min(1000 * 2 ** failures, longestWaitMs);
      const waitMs = limited
        ? limitWait({ refusals, waitedMs: limitedMs, requestedMs, leftMs: end - now }, random)
        : Math.max(leastMs, requestedMs ?? 0) + (random() * leastMs) / 2;
      if (now + waitMs >= end) throw lastError(error, end - now);
      const leftRequests = wrongAddresses === 0 ? undefined : wrongAddressLimit - wrongAddresses;
      emit?.({ type: 'retry', error, waitMs, leftMs: end - now, leftRequests });
      if (limited) {
        hub?.limited(requestedMs ?? 0);
        sending.limitedMs += waitMs;
      }
      await clock.sleep(waitMs, signal);
      const waited = clock.monotonic();
      const inTime = await turnToCreate(latest, tools);
      signal.throwIfAborted();
      const again = clock.monotonic();
      if (!inTime) throw lastError(error);
      outageEnd += again - (limited ? began : waited);
      if (limited) {
        refusals += 1;
        limitedMs += again - began;
      } else failures += 1;
    }
  }
}
