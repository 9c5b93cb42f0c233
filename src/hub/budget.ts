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

/** Granted, or how long to wait before the next claim, in milliseconds. */
export type Reservation = { granted: true } | { granted: false; retryMs: number };

/** A budget of requests in a sliding minute. One hub keeps it in memory; several share it in Redis. */
export interface BudgetStore {
  /**
   * Takes one request from the budget, if it has room and no claim to it is more urgent.
   * @param deadline when the claim should be granted, on this hub's monotonic clock: the earlier, the more urgent
   */
  reserve(line: RequestLine, deadline: number): Promise<Reservation>;
  /** Withdraws this hub's claim in a line, since no gate waits in it any longer. */
  withdraw(line: RequestLine): Promise<void>;
  /** Halves the budget for a while: the service has refused a request because of its limit. */
  reduce(forMs: number): Promise<void>;
  /**
   * Counts requests that gates sent without a grant while they had no hub.
   * @param agesMs how long ago each was sent
   */
  report(line: RequestLine, agesMs: readonly number[]): Promise<void>;
  /** Counts this hub among those that share the budget, also while no gate waits. */
  present(): Promise<void>;
  /** Returns the budget as of the last call that succeeded. */
  view(): BudgetView;
}

/** The times of the requests that were granted in the last minute, on the monotonic clock, in order. */
export type Granted = Readonly<Record<RequestLine, readonly number[]>>;

/** What a store knows of the budget. */
export interface BudgetView {
  /** The limits as configured: the smallest of all hubs. */
  configured: BudgetLimits;
  /** The limits that hold now: those, divided or reduced. */
  present: BudgetLimits;
  /** The hubs that share the budget, and this hub's place among them, from 0. */
  hubs: number;
  place: number;
  /** The requests of the last minute that count. */
  granted: Granted;
}

/** The service counts in minutes; the way to it takes some requests up to 2 s longer than others. */
export const windowMs = 62_000;
/** A claim that is not renewed within this time no longer holds back others. */
export const claimLifetimeMs = 2_000;
/** How long a claim waits if a more urgent one holds it back. */
export const outrankedMs = 100;
/** The refusals of one burst are reported within this time: together they halve the budget once. */
export const burstMs = 10_000;
/** The budget is never reduced to less than this share of itself. */
export const leastShare = 1 / 8;

/** Returns a part of the limits; at least one request of each kind. */
export function dividedLimits({ reads, creates, requests }: BudgetLimits, by: number): BudgetLimits {
  const part = (limit: number) => Math.max(1, Math.floor(limit / by));
  return { reads: part(reads), creates: part(creates), requests: part(requests) };
}

/** Returns the ages of reported requests that count; never more than the limit, since any gate may report any number. */
export const countedAges = (agesMs: readonly number[], { requests }: BudgetLimits): number[] =>
  agesMs
    .filter((age) => age < windowMs)
    .sort((a, b) => a - b)
    .slice(0, requests);

interface Claim {
  deadline: number;
  at: number;
}

/** Reads that are kept free of safety reads, for the reads after wake-ups. */
const headroom = (reads: number) => Math.floor(reads / 9);

/** Reads that are kept for safety reads, so that these are never without any. */
const safetyShare = (reads: number) => (reads > 1 ? Math.max(1, Math.floor(reads / 16)) : 0);

export interface MemoryBudget extends BudgetStore {
  /** Takes over what another store has granted. */
  replace(times: Granted): void;
  /** Counts a grant of another store. */
  count(line: RequestLine): void;
  /** Takes back the last grant in a line, which was not used. */
  undo(line: RequestLine): void;
}

/**
 * Returns a budget in this process's memory.
 * @param limitsNow the limits, which may change
 * @param now milliseconds on a clock that never jumps
 */
export function memoryBudget(limitsNow: () => BudgetLimits, now: () => number): MemoryBudget {
  const granted: Record<RequestLine, number[]> = { create: [], read: [], safety: [] };
  const claims = new Map<RequestLine, Claim>();
  let share = 1;
  let reducedAt = 0;
  let reducedUntil = 0;

  /** Milliseconds until the window has room for one more than `spare` requests. */
  const roomIn = (among: readonly RequestLine[], limit: number, spare: number, time: number) => {
    const times = among.flatMap((line) => granted[line]).sort((a, b) => a - b);
    const free = limit - times.length;
    if (free > spare) return 0;
    if (free > 0) return outrankedMs;
    return (times[times.length - limit] ?? time) + windowMs - time;
  };

  /** Safety reads are evenly spread over what the other reads leave, so that room for these comes up all the time. */
  const safetyIn = (reads: number, time: number) => {
    const limit = Math.max(1, safetyShare(reads), reads - headroom(reads) - granted.read.length);
    const last = granted.safety.at(-1) ?? time - windowMs;
    return Math.max(last + windowMs / limit - time, roomIn(['safety'], limit, 0, time));
  };

  const forget = (time: number) => {
    for (const times of Object.values(granted))
      while (times[0] !== undefined && times[0] <= time - windowMs) times.shift();
  };

  return {
    replace(times) {
      for (const line of lines) granted[line] = [...times[line]];
    },
    count(line) {
      granted[line].push(now());
    },
    undo(line) {
      granted[line].pop();
    },
    async reserve(line, deadline) {
      const time = now();
      forget(time);
      if (time >= reducedUntil) share = 1;
      const { reads, creates, requests } = dividedLimits(limitsNow(), 1 / share);
      const ahead = [...claims].filter(
        ([other, { deadline: due, at }]) => other !== line && at > time - claimLifetimeMs && due < deadline,
      );
      const own = {
        create: () => roomIn(['create'], creates, 0, time),
        read: () => roomIn(['read'], reads - safetyShare(reads), 0, time),
        safety: () => safetyIn(reads, time),
      };
      const waitMs = Math.max(
        own[line](),
        line === 'create' ? 0 : roomIn(['read', 'safety'], reads, 0, time),
        roomIn(['create', 'read', 'safety'], requests, ahead.length, time),
      );
      if (waitMs > 0) {
        claims.set(line, { deadline, at: time });
        return { granted: false, retryMs: waitMs };
      }
      granted[line].push(time);
      claims.delete(line);
      return { granted: true };
    },
    async withdraw(line) {
      claims.delete(line);
    },
    async reduce(forMs) {
      const time = now();
      if (time >= reducedUntil) share = 1;
      if (share === 1 || time >= reducedAt + burstMs) {
        share = Math.max(leastShare, share / 2);
        reducedAt = time;
      }
      reducedUntil = Math.max(reducedUntil, time + forMs);
    },
    async report(line, agesMs) {
      const time = now();
      const times = countedAges(agesMs, limitsNow()).map((age) => time - age);
      granted[line] = [...granted[line], ...times].sort((a, b) => a - b);
    },
    async present() {},
    view() {
      const time = now();
      forget(time);
      const configured = limitsNow();
      const present = dividedLimits(configured, time < reducedUntil ? 1 / share : 1);
      return { configured, present, hubs: 1, place: 0, granted };
    },
  };
}
