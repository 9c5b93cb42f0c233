import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';

/** Requests a minute that the service allows a tenant, as typical limits (interface, section 8). */
export const ceilings = { all: 100, reads: 60, creates: 20 } as const;

const minuteMs = 60_000;

/**
 * Returns the time at which the next read may be sent, so that no minute has more reads than the ceiling.
 * @param past the times of earlier reads, in order, in milliseconds
 * @param due the time at which the next read is needed, in milliseconds
 */
export function nextReadAt(past: readonly number[], due: number, ceiling: number = ceilings.reads): number {
  const oldest = past[past.length - ceiling];
  return oldest === undefined ? due : Math.max(due, oldest + minuteMs);
}

/** The kind of limit that a request counts against, in addition to the overall limit. */
export type Kind = 'read' | 'create' | 'other';

export function kindOf(method: string): Kind {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'POST' ? 'create' : 'other';
}

/** The requests that are left according to the service, and the milliseconds until there are more. */
export interface Left {
  remaining: number;
  resetMs: number;
}

function numberOf(text: string | undefined): number | undefined {
  const found = /^\s*(\d{1,15}(?:\.\d+)?)\s*(?:[,;]|$)/.exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Reads a number of seconds from now. A number as large as a date is one, in seconds or milliseconds since the epoch. */
function untilReset(reset: number | undefined, now: number): number {
  if (reset === undefined) return minuteMs;
  const ms = reset > 1e11 ? reset - now : reset > 1e9 ? reset * 1000 - now : reset * 1000;
  return Math.max(0, ms);
}

/** `"default";r=50;t=30`, one or more of them, or `limit=100, remaining=50, reset=30`. */
function structured(text: string): Left | undefined {
  const parameter = (from: string, name: string) =>
    numberOf(new RegExp(`(?:^|[;,\\s])${name}=(\\d+)`).exec(from)?.[1]);
  const older = parameter(text, 'remaining');
  if (older !== undefined) return { remaining: older, resetMs: untilReset(parameter(text, 'reset'), 0) };
  const limits = text.split(',').flatMap((item) => {
    const remaining = parameter(item, 'r');
    return remaining === undefined ? [] : [{ remaining, resetMs: untilReset(parameter(item, 't'), 0) }];
  });
  return limits.toSorted((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs)[0];
}

/**
 * Reads the limit from the headers of a response: `RateLimit`, `RateLimit-Remaining` and `-Reset` of the IETF drafts, or
 * the same with `X-`. Headers in another format are ignored.
 * @param headers names in lower case
 * @param now wall-clock milliseconds since the epoch
 */
export function rateLimitLeft(headers: Readonly<Record<string, string>>, now: number): Left | undefined {
  const whole = headers.ratelimit === undefined ? undefined : structured(headers.ratelimit);
  if (whole !== undefined) return whole;
  for (const prefix of ['ratelimit', 'x-ratelimit', 'x-rate-limit']) {
    const remaining = numberOf(headers[`${prefix}-remaining`]);
    if (remaining === undefined) continue;
    return { remaining, resetMs: untilReset(numberOf(headers[`${prefix}-reset`]), now) };
  }
  return undefined;
}

/** The longest wait before a request. A service that needs more time can say so with a 429. */
const longestWaitMs = minuteMs;

/**
 * The request budget of one client. The service's headers decide; without them the documented ceilings do, if `documented`
 * is set or after a 429. All times are on one monotonic clock.
 */
export class Pace {
  #documented: boolean;
  readonly #sent = { all: [] as number[], read: [] as number[], create: [] as number[] };
  readonly #stated = new Map<Kind, { remaining: number; resetAt: number }>();

  constructor(documented: boolean) {
    this.#documented = documented;
  }

  /** Returns the time at which a request of this kind may be sent: now, if the budget allows it. */
  nextAt(kind: Kind, now: number): number {
    const stated = this.#stated.get(kind);
    if (stated !== undefined) {
      return stated.remaining > 0 ? now : Math.max(now, Math.min(stated.resetAt, now + longestWaitMs));
    }
    if (!this.#documented) return now;
    const all = nextReadAt(this.#sent.all, now, ceilings.all);
    if (kind === 'other') return all;
    const ceiling = kind === 'read' ? ceilings.reads : ceilings.creates;
    return nextReadAt(this.#sent[kind], all, ceiling);
  }

  sent(kind: Kind, at: number): void {
    for (const name of kind === 'other' ? (['all'] as const) : (['all', kind] as const)) {
      const times = this.#sent[name];
      times.push(at);
      if (times.length > ceilings.all) times.shift();
    }
    const stated = this.#stated.get(kind);
    if (stated !== undefined) stated.remaining = Math.max(0, stated.remaining - 1);
  }

  /** @param left the result of `rateLimitLeft` for the response */
  replied(kind: Kind, status: number, left: Left | undefined, at: number): void {
    if (status === 429) this.#documented = true;
    if (left !== undefined) this.#stated.set(kind, { remaining: left.remaining, resetAt: at + left.resetMs });
    // Limits that the service did not repeat are out of date.
    else this.#stated.delete(kind);
  }
}

/** A transport that counts its requests, and the wait before the next one. */
export interface Paced {
  transport: Transport;
  /** Returns the milliseconds until a request with this method may be sent; 0 if the budget allows it now. */
  waitMs(method: string): number;
}

/** @param documented keep to the documented ceilings if the service does not state its limits */
export function paced(transport: Transport, clock: Clock, documented: boolean): Paced {
  const pace = new Pace(documented);
  return {
    waitMs: (method) => {
      const now = clock.monotonic();
      return pace.nextAt(kindOf(method), now) - now;
    },
    transport: {
      async send(request, options) {
        const kind = kindOf(request.method);
        pace.sent(kind, clock.monotonic());
        const response = await transport.send(request, options);
        pace.replied(kind, response.status, rateLimitLeft(response.headers, clock.now()), clock.monotonic());
        return response;
      },
      close: () => transport.close(),
    },
  };
}
