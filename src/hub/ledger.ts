import { windowMs } from '../gate/fleet/protocol.ts';

/** The requests that wait for each other: creates, reads that are worth it, and safety reads, which get what those leave. */
export const lines = ['create', 'read', 'safety'] as const;
export type RequestLine = (typeof lines)[number];

/** Requests a minute that all gates together may send. */
export interface BudgetLimits {
  reads: number;
  creates: number;
  requests: number;
}

/** Four fifths of the documented limits: the rest is for other clients of the tenant. */
export const usualBudget: BudgetLimits = { reads: 48, creates: 16, requests: 80 };

/** How long a line waits if a more urgent one needs the room. */
const outrankedMs = 100;
/** The refusals of one burst are reported within this time: together they halve the budget once. */
const burstMs = 10_000;
/** The budget is never reduced to less than this share of itself. */
const leastShare = 1 / 8;
/** A reduced budget doubles each time that this passes without a refusal, until it is whole. */
const recoveryStepMs = 20_000;
/** The share of a hub that does not know the last minute's requests. Four fifths of the documented limits, and a quarter of that, are these limits. */
export const startShare = 1 / 4;

/** Returns a part of the limits; at least one request of each kind. */
function partOf({ reads, creates, requests }: BudgetLimits, share: number): BudgetLimits {
  const part = (limit: number) => Math.max(1, Math.floor(limit * share));
  return { reads: part(reads), creates: part(creates), requests: part(requests) };
}

/** Returns the ages of reported requests that count; never more than the limit, since any gate may report any number. */
export const countedAges = (agesMs: readonly number[], { requests }: BudgetLimits): number[] =>
  agesMs
    .filter((age) => age < windowMs)
    .sort((a, b) => a - b)
    .slice(0, requests);

/** Reads that are kept free of safety reads, for the reads after wake-ups. */
const headroom = (reads: number) => Math.floor(reads / 9);

/** Reads that are kept for safety reads, so that these are never without any. */
const safetyShare = (reads: number) => (reads > 1 ? Math.max(1, Math.floor(reads / 16)) : 0);

/** Milliseconds until fewer than `limit` of the times, in order, are in the window, with `spare` more left free. */
function roomIn(times: readonly number[], limit: number, spare: number, now: number): number {
  const free = limit - times.length;
  if (free > spare) return 0;
  if (free > 0) return outrankedMs;
  return (times[times.length - limit] ?? now) + windowMs - now;
}

/** The requests of the last minute, and the limits that they leave: all rules of the budget. */
export class Ledger {
  readonly #granted: Record<RequestLine, number[]> = { create: [], read: [], safety: [] };
  readonly #limits: BudgetLimits;
  #share = 1;
  #reducedAt = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** Returns the limits that hold. @param share the part that is this hub's */
  limits(now: number, share: number): BudgetLimits {
    return partOf(this.#limits, share * this.#shareAt(now));
  }

  /** @param at when the request was sent */
  add(line: RequestLine, at: number): void {
    const times = [...this.#granted[line], at].sort((a, b) => a - b);
    // More than the limit say nothing more.
    this.#granted[line] = times.slice(-this.#limits.requests);
  }

  granted(now: number): Record<RequestLine, number[]> {
    for (const times of Object.values(this.#granted))
      while (times[0] !== undefined && times[0] <= now - windowMs) times.shift();
    return this.#granted;
  }

  /** Returns how long the line must wait, 0 if it may send a request now. @param ahead more urgent lines that wait */
  waitMs(line: RequestLine, ahead: number, now: number, share: number): number {
    const { create, read, safety } = this.granted(now);
    const { reads, creates, requests } = this.limits(now, share);
    const inOrder = (...times: number[][]) => times.flat().sort((a, b) => a - b);
    const all = roomIn(inOrder(create, read, safety), requests, ahead, now);
    if (line === 'create') return Math.max(all, roomIn(create, creates, 0, now));
    const both = Math.max(all, roomIn(inOrder(read, safety), reads, 0, now));
    if (line === 'read') return Math.max(both, roomIn(read, reads - safetyShare(reads), 0, now));
    // Safety reads are evenly spread over what the other reads leave, so that room for these comes up all the time.
    const limit = Math.max(1, safetyShare(reads), reads - headroom(reads) - read.length);
    const last = safety.at(-1) ?? now - windowMs;
    return Math.max(both, last + windowMs / limit - now, roomIn(safety, limit, 0, now));
  }

  /** @param at when the service refused a request */
  reduce(retryAfterMs: number, at: number): void {
    this.#share = this.#shareAt(at);
    if (at >= this.#reducedAt + burstMs) {
      this.#share = Math.max(leastShare, this.#share / 2);
      this.#reducedAt = at;
    }
    this.#wholeAt = Math.max(this.#wholeAt, at + retryAfterMs + recoveryStepMs * Math.log2(1 / this.#share));
  }

  #shareAt(now: number): number {
    return Math.max(this.#share, 0.5 ** Math.ceil(Math.max(0, this.#wholeAt - now) / recoveryStepMs));
  }
}
