import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';

/** Requests a minute that the service grants a tenant, as typical limits (interface, section 8). */
export const ceilings = { all: 100, reads: 60, creates: 20 } as const;

const minuteMs = 60_000;

/**
 * When the next read may be sent so that no minute holds more reads than the ceiling.
 * `past`: when earlier reads were sent, in order; `due`: when the next one is wanted; all in milliseconds.
 */
export function nextReadAt(past: readonly number[], due: number, ceiling: number = ceilings.reads): number {
  const oldest = past[past.length - ceiling];
  return oldest === undefined ? due : Math.max(due, oldest + minuteMs);
}

/** What a request counts as, besides counting as a request. */
export type Kind = 'read' | 'create' | 'other';

export function kindOf(method: string): Kind {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'POST' ? 'create' : 'other';
}

/** What the service says is left, and in how many milliseconds there is more. */
export interface Left {
  remaining: number;
  resetMs: number;
}

function numberOf(text: string | undefined): number | undefined {
  const found = /^\s*(\d{1,15}(?:\.\d+)?)\s*(?:[,;]|$)/.exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Seconds from now; a number as large as a date is one, in seconds or milliseconds since the epoch. */
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
 * What a reply's headers say of the limit: `RateLimit`, `RateLimit-Remaining` and `-Reset` of the IETF's drafts, or the
 * same with `X-`. What cannot be understood says nothing.
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

/** A service that asks for more is asked again after this, and can say so with a 429. */
const longestWaitMs = minuteMs;

/**
 * The budget of one client that sends many requests. What the service's headers say goes; while they say nothing, the
 * documented ceilings do, where `documented` or once the service has answered 429. Times on one monotonic clock.
 */
export class Pace {
  #documented: boolean;
  readonly #sent = { all: [] as number[], read: [] as number[], create: [] as number[] };
  readonly #told = new Map<Kind, { remaining: number; resetAt: number }>();

  constructor(documented: boolean) {
    this.#documented = documented;
  }

  /** When a request of the kind may be sent: now, while there is budget for it. */
  nextAt(kind: Kind, now: number): number {
    const told = this.#told.get(kind);
    if (told !== undefined) {
      return told.remaining > 0 ? now : Math.max(now, Math.min(told.resetAt, now + longestWaitMs));
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
    const told = this.#told.get(kind);
    if (told !== undefined) told.remaining = Math.max(0, told.remaining - 1);
  }

  /** @param left what `rateLimitLeft` found in the reply */
  replied(kind: Kind, status: number, left: Left | undefined, at: number): void {
    if (status === 429) this.#documented = true;
    if (left !== undefined) this.#told.set(kind, { remaining: left.remaining, resetAt: at + left.resetMs });
    // Words that were not said again are no longer of use.
    else this.#told.delete(kind);
  }
}

/** A transport that counts what it sends, and the wait until more may be sent. */
export interface Paced {
  transport: Transport;
  /** Milliseconds until a request with this method may be sent; 0 while there is budget. */
  waitMs(method: string): number;
}

/** @param documented keep to the documented ceilings while the service says nothing of its limits */
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
        const reply = await transport.send(request, options);
        pace.replied(kind, reply.status, rateLimitLeft(reply.headers, clock.now()), clock.monotonic());
        return reply;
      },
      close: () => transport.close(),
    },
  };
}
