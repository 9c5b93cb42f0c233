import { windowMs } from '../gate/fleet/protocol.ts';
import { type BudgetLimits, countedAges, Ledger, lines, type RequestLine, startShare } from './ledger.ts';

/**
 * The log of all hubs' requests in Redis, which the hubs read on from the last entry that they know. A hub whose last entry is
 * missing has an emptied or older Redis before it. `once` adds the entries only if no other hub has added one since.
 */
export const logScript = `
local log, known, mode, kept, life = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local t = redis.call('TIME')
local lost = known ~= '' and #redis.call('XRANGE', log, known, known) == 0
if lost then known = '' end
local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
if not last then redis.call('XADD', log, '*', 'entry', 'begin 0') end
local added = mode == 'always' or (last and last[1] == known)
if added then
  for i = 5, #ARGV do redis.call('XADD', log, '*', 'entry', ARGV[i]) end
end
local entries = redis.call('XRANGE', log, known == '' and '-' or '(' .. known, '+')
redis.call('XTRIM', log, 'MAXLEN', kept)
redis.call('PEXPIRE', log, life)
local result = { lost and 1 or 0, added and 1 or 0, t[1] * 1000 + math.floor(t[2] / 1000) }
for _, entry in ipairs(entries) do
  table.insert(result, entry[1])
  table.insert(result, entry[2][2])
end
return result
`;

/** Runs `logScript` with its arguments. Fails when Redis does. */
export type RunLog = (args: readonly string[]) => Promise<readonly (string | number)[]>;

/** Redis keeps the log for this long after the last call. */
const keptMs = 10 * windowMs;
/** Other hubs may add entries between two calls of one. */
const mostTries = 20;
/** While nothing may be granted, a gate asks again after this time at most. */
const pauseMs = 1_000;

/** Granted, or how long to wait before asking again, in milliseconds. */
export type Reservation = { granted: true } | { granted: false; retryMs: number };

/** A budget, on this hub's monotonic clock. */
export interface BudgetView {
  configured: BudgetLimits;
  /** The limits that hold now: those, divided or reduced; 0 while nothing is granted. */
  present: BudgetLimits;
  /** The times of the last minute's requests, in order. */
  granted: Readonly<Record<RequestLine, readonly number[]>>;
}

interface BudgetOptions {
  limits: BudgetLimits;
  /** How many hubs share the budget: while Redis is away, each grants this part of it. */
  hubs: number;
  /** Milliseconds on a clock that never jumps. */
  now(): number;
  /** Receives null after a call that succeeded, and the error otherwise. */
  onCall?(error: unknown): void;
  /** Whether nothing was sent before the start; default false, and a hub without Redis grants less for a minute. */
  knowsLastMinute?: boolean;
}

/**
 * The budget of requests in a sliding minute, of one hub or of several on one Redis. While Redis works, all hubs together stay within it. When Redis is lost, or has lost its data,
 * nothing is granted for a minute, since the other hubs may just have used the whole budget. Then each hub grants its share. When Redis is back,
 * both Redis and the share must have room for another minute, since the other hubs may not have noticed yet.
 */
export class Budget {
  readonly #run: RunLog | null;
  readonly #options: BudgetOptions;
  /** The grants of all hubs, and those of this one. */
  readonly #all: Ledger;
  readonly #local: Ledger;
  /** The id of the last entry that this hub knows; '' for none. */
  #known = '';
  /** When Redis was last sent a call that succeeded. */
  #calledAt: number | null = null;
  #isAway: boolean;
  #startEndsAt: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #sharedUntil = Number.POSITIVE_INFINITY;
  /** This hub's grants that Redis does not know. */
  #missing: { line: RequestLine; at: number }[] = [];
  /** Decisions and calls run one after another: each goes on from what the one before has learned. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param run null for a hub without Redis */
  constructor(run: RunLog | null, options: BudgetOptions) {
    this.#run = run;
    this.#options = options;
    this.#all = new Ledger(options.limits);
    this.#local = new Ledger(options.limits);
    this.#isAway = run === null;
    this.#startEndsAt = options.now() + (options.knowsLastMinute ? 0 : windowMs);
  }

  /**
   * Takes one request from the budget, if it has room.
   * @param ahead how many other lines of this hub wait with a more urgent request
   */
  reserve(line: RequestLine, ahead: number): Promise<Reservation> {
    return this.#inTurn(() => this.#reserve(line, ahead));
  }

  async #reserve(line: RequestLine, ahead: number): Promise<Reservation> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const now = this.#options.now();
      const retryMs = this.#waitMs(line, ahead, now);
      if (retryMs > 0) return { granted: false, retryMs };
      if (await this.#take(line, now)) return { granted: true };
    }
    return { granted: false, retryMs: pauseMs };
  }

  /**
   * Halves the budget, since the service has refused a request because of its limit.
   * @param retryAfterMs how long the service asked to wait: the budget recovers after it
   */
  async reduce(retryAfterMs: number): Promise<void> {
    if (!(await this.#add([`limited ${Math.ceil(retryAfterMs)}`])))
      this.#all.reduce(retryAfterMs, this.#options.now());
  }

  /**
   * Counts requests that gates sent without a grant while they had no hub.
   * @param agesMs how long ago each was sent
   */
  async report(line: RequestLine, agesMs: readonly number[]): Promise<void> {
    const ages = countedAges(agesMs, this.#options.limits).map(Math.floor);
    if (await this.#add(ages.map((age) => `${line} ${age}`))) return;
    const now = this.#options.now();
    for (const age of ages) this.#all.add(line, now - age);
  }

  /** Takes over what other hubs were granted, every few seconds. */
  async refresh(): Promise<void> {
    await this.#add([]);
  }

  view(): BudgetView {
    const { limits: configured, now } = this.#options;
    const time = now();
    const none = { reads: 0, creates: 0, requests: 0 };
    const present = time < this.#pausedUntil ? none : this.#all.limits(time, this.#share(time));
    return { configured, present, granted: this.#all.granted(time) };
  }

  /** Returns the part of the budget that this hub may use now. */
  #share(now: number): number {
    const part = now < this.#sharedUntil ? 1 / this.#options.hubs : 1;
    return now < this.#startEndsAt ? part * startShare : part;
  }

  #waitMs(line: RequestLine, ahead: number, now: number): number {
    if (now < this.#pausedUntil) return Math.min(pauseMs, this.#pausedUntil - now);
    const start = now < this.#startEndsAt ? startShare : 1;
    const all = this.#all.waitMs(line, ahead, now, start);
    return now < this.#sharedUntil
      ? Math.max(all, this.#local.waitMs(line, ahead, now, this.#share(now)))
      : all;
  }

  /** Takes a request. Returns false if another hub was faster, or Redis has failed. */
  async #take(line: RequestLine, now: number): Promise<boolean> {
    if (this.#isAway) {
      this.#local.add(line, now);
      this.#all.add(line, now);
      if (this.#run !== null) this.#missing.push({ line, at: now });
      return true;
    }
    const isAdded = await this.#call('once', [`${line} 0`]);
    if (isAdded) this.#local.add(line, this.#options.now());
    return isAdded;
  }

  /** Adds entries to the log, and the grants that it does not have. Returns false if Redis fails. */
  #add(entries: readonly string[]): Promise<boolean> {
    return this.#inTurn(() => this.#addNow(entries));
  }

  async #addNow(entries: readonly string[]): Promise<boolean> {
    const now = this.#options.now();
    const late = this.#missing.filter(({ at }) => at > now - windowMs);
    const texts = late.map(({ line, at }) => `${line} ${Math.floor(now - at)}`);
    this.#missing = [];
    const isAdded = await this.#call('always', [...texts, ...entries]);
    if (!isAdded) this.#missing.unshift(...late);
    return isAdded;
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Returns whether the entries were added. */
  async #call(mode: 'once' | 'always', entries: readonly string[]): Promise<boolean> {
    const { limits, now } = this.#options;
    if (this.#run === null) return false;
    const sentAt = now();
    const kept = Math.max(1_000, 4 * limits.requests);
    try {
      const args = [this.#known, mode, String(kept), String(keptMs), ...entries];
      const [lost, added, time, ...log] = await this.#run(args);
      this.#read(log.map(String), Number(time));
      this.#succeeded(lost === 1);
      this.#calledAt = sentAt;
      return added === 1;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** Takes over the entries of the log. @param time on the clock of Redis, which may be set: an entry is never older than the last call */
  #read(log: readonly string[], time: number): void {
    const now = this.#options.now();
    const mostMs = this.#calledAt === null ? Number.POSITIVE_INFINITY : now - this.#calledAt;
    let startMs = windowMs;
    for (let index = 0; index < log.length; index += 2) {
      const [id = '', text = ''] = [log[index], log[index + 1]];
      const age = Math.max(0, Math.min(time - Number.parseInt(id, 10), mostMs));
      const [kind, value] = text.split(' ');
      const line = lines.find((each) => each === kind);
      if (line !== undefined) this.#all.add(line, now - age - Number(value));
      if (kind === 'limited') this.#all.reduce(Number(value), now - age);
      if (kind === 'begin') startMs = age;
      this.#known = id;
    }
    if (this.#calledAt !== null) return;
    this.#startEndsAt = now + Math.max(0, windowMs - startMs);
    this.#sharedUntil = this.#startEndsAt;
  }

  #succeeded(isLost: boolean): void {
    const { now, hubs, onCall } = this.#options;
    const time = now();
    if (isLost) {
      if (!this.#isAway && hubs > 1) this.#pausedUntil = time + windowMs;
      // The other hubs may learn of these grants only from the log.
      this.#missing = lines.flatMap((line) => this.#local.granted(time)[line].map((at) => ({ line, at })));
    } else if (this.#isAway) this.#pausedUntil = time;
    if (isLost || this.#isAway) this.#sharedUntil = time + windowMs;
    this.#isAway = false;
    onCall?.(null);
  }

  #failed(error: unknown): void {
    const { now, hubs, onCall } = this.#options;
    if (!this.#isAway && hubs > 1 && this.#calledAt !== null) this.#pausedUntil = now() + windowMs;
    this.#isAway = true;
    this.#sharedUntil = Number.POSITIVE_INFINITY;
    onCall?.(error);
  }
}
