import { isKnown } from './auth.ts';
import type { ReceivedRequest } from './exchange.ts';
import { MockError } from './response.ts';
import type { State } from './state.ts';

/** The service's limit that applies to a request, besides the one for all requests. */
export type RequestKind = 'read' | 'create' | 'other';

/** Requests per minute. */
export const documentedLimits = { all: 100, read: 60, create: 20 };
type LimitName = keyof typeof documentedLimits;
export const windowMs = 60_000;

export interface CountedRequest {
  readonly at: number;
  readonly kind: RequestKind;
}

/**
 * Decides one request by the requests of the sliding minute before it, oldest first. A refused request is not
 * counted, so a client that waits as long as the response says gets through.
 */
export function decideRate(
  log: readonly CountedRequest[],
  kind: RequestKind,
  now: number,
  limits = documentedLimits,
) {
  const recent = log.filter(({ at }) => now - at < windowMs);
  const useOf = (name: LimitName) => {
    const counted = name === 'all' ? recent : recent.filter((spent) => spent.kind === name);
    const limit = limits[name];
    const resetMs = (counted[0]?.at ?? now) + windowMs - now;
    return { name, limit, remaining: limit - counted.length, resetMs };
  };
  const all = useOf('all');
  const specific = kind === 'other' ? all : useOf(kind);
  const allowed = all.remaining > 0 && specific.remaining > 0;
  // Of two exceeded limits, report the one with the longer wait; otherwise the closer one.
  const longer = specific.resetMs > all.resetMs ? specific : all;
  const closer = specific.remaining < all.remaining ? specific : all;
  const reported = all.remaining <= 0 && specific.remaining <= 0 ? longer : closer;
  return {
    /** The closest limit, or the exceeded one: its name, its size and the milliseconds until it allows another request. */
    ...reported,
    allowed,
    remaining: allowed ? reported.remaining - 1 : 0,
    /** For the next decision: the requests of the last minute, including this one if it is allowed. */
    log: allowed ? [...recent, { at: now, kind }] : recent,
  };
}

function requestKind({ method, route }: ReceivedRequest): RequestKind {
  if (method === 'GET') return 'read';
  return !(route instanceof MockError) && /\.(?:create|trigger|attach)$/.test(route.name)
    ? 'create'
    : 'other';
}

/** Counts a request and returns the rate limit headers of its response. Throws a MockError 429 beyond a limit. */
export type RateLimiter = (exchange: ReceivedRequest) => Readonly<Record<string, string>>;

const counted: Record<LimitName, string> = { all: 'requests', read: 'reads', create: 'create operations' };

/** Enforces the documented limits for the account, and for each address without a valid credential. */
export function documentedLimiter(state: State): RateLimiter {
  const logs = new Map<string, readonly CountedRequest[]>();
  return (exchange) => {
    const caller = isKnown(exchange.headers, state.credentials) ? 'account' : exchange.address;
    const before = logs.get(caller) ?? [];
    const decision = decideRate(before, requestKind(exchange), state.clock.monotonic());
    const { allowed, name, limit, remaining } = decision;
    logs.set(caller, decision.log);
    const seconds = String(Math.ceil(decision.resetMs / 1000));
    const headers = {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': seconds,
    };
    if (allowed) return headers;
    const details = `${limit} ${counted[name]} a minute are allowed; retry in ${seconds} s`;
    throw new MockError(429, 'Rate limit exceeded', details, { ...headers, 'retry-after': seconds });
  };
}
