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
  /**
   * Halves the budget, since the service has refused a request because of its limit.
   * @param retryAfterMs how long the service asked to wait: the budget recovers after it
   */
  reduce(retryAfterMs: number): Promise<void>;
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

/** A budget as its store knows it. Times on this hub's monotonic clock. */
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

/** A claim that is not renewed within this time no longer holds back others. */
export const claimLifetimeMs = 2_000;
/** How long a claim waits if a more urgent one holds it back. */
export const outrankedMs = 100;
/** The refusals of one burst are reported within this time: together they halve the budget once. */
export const burstMs = 10_000;
/** The budget is never reduced to less than this share of itself. */
export const leastShare = 1 / 8;
/** A reduced budget doubles each time that this passes without a refusal, until it is whole. */
export const recoveryStepMs = 20_000;
/**
 * The share of a hub that does not know the requests of the last minute, since it has just started. The requests before it,
 * at most four fifths of the documented limits, and a quarter of that are these limits.
 */
const startShare = 1 / 4;

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
const safetyShare = (reads: number, each: number) =>
  reads > each ? Math.max(each, Math.floor(reads / 16)) : 0;

const inOrder = (times: readonly number[]) => [...times].sort((a, b) => a - b);

export interface MemoryBudget extends BudgetStore {
  /** Forgets its own grants and takes over those of another store. */
  replace(times: Granted): void;
  /** Counts the grants of another store besides its own. */
  add(times: Granted): void;
  /** Counts a grant of another store as its own. */
  count(line: RequestLine): void;
  /** Takes back the last grant in a line, which was not used, and which counted as several. */
  undo(line: RequestLine, each: number): void;
}

interface MemoryBudgetOptions {
  /** How many hubs go on without knowing of each other: each counts its own requests as those of all. Default 1. */
  hubs?: () => number;
  /** Whether the hub does not know yet what was sent in the last minute. Default: it does. */
  isStarting?: () => boolean;
}

/**
 * Returns a budget in this process's memory.
 * @param limitsNow the limits, which may change
 * @param now milliseconds on a clock that never jumps
 */
export function memoryBudget(
  limitsNow: () => BudgetLimits,
  now: () => number,
  { hubs = () => 1, isStarting = () => false }: MemoryBudgetOptions = {},
): MemoryBudget {
  const granted: Record<RequestLine, number[]> = { create: [], read: [], safety: [] };
  const claims = new Map<RequestLine, Claim>();
  let share = 1;
  let reducedAt = Number.NEGATIVE_INFINITY;
  let wholeAt = Number.NEGATIVE_INFINITY;

  const shareAt = (time: number) =>
    Math.max(share, 0.5 ** Math.ceil(Math.max(0, wholeAt - time) / recoveryStepMs));

  const presentLimits = (time: number) =>
    dividedLimits(limitsNow(), 1 / (shareAt(time) * (isStarting() ? startShare : 1)));

  /** Milliseconds until the window has room for one more than `spare` requests, each of which counts as several. */
  const roomIn = (
    among: readonly RequestLine[],
    limit: number,
    each: number,
    spare: number,
    time: number,
  ) => {
    const times = inOrder(among.flatMap((line) => granted[line]));
    // A limit that is smaller than the number of hubs allows each of them one request.
    const needed = Math.min(each, limit);
    const free = limit - times.length;
    if (free >= needed + spare * each) return 0;
    if (free >= needed) return outrankedMs;
    return (times[times.length - limit + needed - 1] ?? time) + windowMs - time;
  };

  /** Safety reads are evenly spread over what the other reads leave, so that room for these comes up all the time. */
  const safetyIn = (reads: number, each: number, time: number) => {
    const limit = Math.max(1, safetyShare(reads, each), reads - headroom(reads) - granted.read.length);
    const last = granted.safety.at(-1) ?? time - windowMs;
    const apartMs = (windowMs * Math.min(each, limit)) / limit;
    return Math.max(last + apartMs - time, roomIn(['safety'], limit, each, 0, time));
  };

  const forget = (time: number) => {
    for (const times of Object.values(granted))
      while (times[0] !== undefined && times[0] <= time - windowMs) times.shift();
  };

  const add = (line: RequestLine, times: readonly number[]) => {
    granted[line] = inOrder([...granted[line], ...times]);
  };
  const count = (line: RequestLine, time: number) => {
    for (let each = hubs(); each > 0; each -= 1) granted[line].push(time);
  };

  return {
    replace(times) {
      for (const line of lines) granted[line] = [...times[line]];
    },
    add(times) {
      for (const line of lines) add(line, times[line]);
    },
    count: (line) => count(line, now()),
    undo(line, each) {
      granted[line].splice(-each);
    },
    async reserve(line, deadline) {
      const time = now();
      forget(time);
      const { reads, creates, requests } = presentLimits(time);
      const each = hubs();
      const ahead = [...claims].filter(
        ([other, { deadline: due, at }]) => other !== line && at > time - claimLifetimeMs && due < deadline,
      );
      const own = {
        create: () => roomIn(['create'], creates, each, 0, time),
        read: () => roomIn(['read'], reads - safetyShare(reads, each), each, 0, time),
        safety: () => safetyIn(reads, each, time),
      };
      const waitMs = Math.max(
        own[line](),
        line === 'create' ? 0 : roomIn(['read', 'safety'], reads, each, 0, time),
        roomIn(['create', 'read', 'safety'], requests, each, ahead.length, time),
      );
      if (waitMs > 0) {
        claims.set(line, { deadline, at: time });
        return { granted: false, retryMs: waitMs };
      }
      count(line, time);
      claims.delete(line);
      return { granted: true };
    },
    async withdraw(line) {
      claims.delete(line);
    },
    async reduce(retryAfterMs) {
      const time = now();
      share = shareAt(time);
      if (time >= reducedAt + burstMs) {
        share = Math.max(leastShare, share / 2);
        reducedAt = time;
      }
      wholeAt = Math.max(wholeAt, time + retryAfterMs + recoveryStepMs * Math.log2(1 / share));
    },
    async report(line, agesMs) {
      const time = now();
      for (const age of countedAges(agesMs, limitsNow())) add(line, Array(hubs()).fill(time - age));
      // More than the limit say nothing more.
      granted[line] = granted[line].slice(-limitsNow().requests);
    },
    async present() {},
    view() {
      const time = now();
      forget(time);
      const present = dividedLimits(presentLimits(time), hubs());
      return { configured: limitsNow(), present, hubs: hubs(), place: 0, granted };
    },
  };
}
