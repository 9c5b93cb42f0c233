import type { Clock } from '../clock.ts';
import type { RunState, TriggerBody } from '../contract/run.ts';
import { type Account, createAccount, type DataSizes, defaultSizes } from './data/account.ts';
import type { StoredDelivery, StoredWebhook } from './data/webhooks.ts';
import { type Draw, seededDraw } from './random.ts';
import type { RawResponse } from './response.ts';

export const outcomes = ['passed', 'failed', 'blocked', 'cancelled', 'stuck'] as const;
/** How a run of the mock ends: `stuck` never does, the others after its duration. */
export type Outcome = (typeof outcomes)[number];

/** Failed and blocked items of a run. */
export interface Counts {
  failed: number;
  blocked: number;
}

export interface RunProgress extends Counts {
  state: RunState;
}

const defaultCounts: Record<Outcome, Counts> = {
  passed: { failed: 0, blocked: 0 },
  failed: { failed: 2, blocked: 0 },
  blocked: { failed: 0, blocked: 1 },
  cancelled: { failed: 0, blocked: 0 },
  stuck: { failed: 0, blocked: 0 },
};

/** Requested counts replace the outcome's defaults, unless they contradict it: a passed or stuck run counts nothing. */
export function finalCounts(outcome: Outcome, requested: Partial<Counts> = {}): Counts {
  const defaults = defaultCounts[outcome];
  return outcome === 'passed' || outcome === 'stuck' ? defaults : { ...defaults, ...requested };
}

/** The counts grow evenly until the end, so a client that judges a run early gets a number that is too small. */
export function progress(
  outcome: Outcome,
  elapsedMs: number,
  durationMs: number,
  final: Counts = finalCounts(outcome),
): RunProgress {
  if (outcome === 'stuck') return { state: 'in_progress', ...final };
  if (elapsedMs >= durationMs)
    return { state: outcome === 'cancelled' ? 'cancelled' : 'completed', ...final };
  const share = Math.max(0, elapsedMs) / durationMs;
  return {
    state: 'in_progress',
    failed: Math.floor(final.failed * share),
    blocked: Math.floor(final.blocked * share),
  };
}

/** A caller's credential. */
export interface Credential {
  kind: 'key' | 'token';
  /** The scopes of a key; undefined means all. */
  scopes?: readonly string[];
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The full key: shown only when it is created. */
  readonly apiKey: string;
  readonly createdAt: string;
}

export interface Run {
  readonly id: string;
  readonly request: TriggerBody;
  /** Milliseconds on the clock's monotonic scale. */
  readonly startedAt: number;
  /** How the run ends, as planned. Ending it early changes all three fields. */
  outcome: Outcome;
  durationMs: number;
  counts: Counts;
  readonly appUrl: string;
  /** Set when the run was cancelled in time. */
  cancelled?: { at: number; reason: string | undefined };
  /** Webhooks were notified of its end. */
  announced?: boolean;
  /** Until then, on the clock's monotonic scale, its status says that it is in progress: the fault `early`. */
  statusHeldUntil?: number;
  /** A status response has reported its end. */
  endShown?: boolean;
}

/** The first response to a request with an idempotency key, replayed for a request with the same bytes. */
interface KeyedResponse {
  readonly bytes: Uint8Array;
  readonly response: RawResponse;
}

/** The plan for new runs. It may change while the mock runs; created runs keep theirs. */
interface RunPlan {
  /** The n-th run gets the n-th outcome, and the last one repeats. */
  outcomes: readonly Outcome[];
  /** Decides instead of `outcomes`, in the order in which the runs are created. */
  outcomeOf?: (request: TriggerBody) => Outcome;
  durationMs: number;
  counts: Partial<Counts> | undefined;
  /** Sent with the status of a run in progress; omitted if undefined. */
  retryAfterSeconds: number | undefined;
  appUrlBase: string;
}

/** Sends a recorded delivery to its webhook and records the result, immediately or later. */
export type Deliver = (webhook: StoredWebhook, delivery: StoredDelivery) => void;

export interface State {
  readonly clock: Clock;
  readonly plan: RunPlan;
  /** By the secret itself, key or token. */
  readonly credentials: Map<string, Credential>;
  /** By id. */
  readonly keys: Map<string, ApiKey>;
  readonly runs: Map<string, Run>;
  /** By endpoint and `Idempotency-Key`. */
  readonly keyedResponses: Map<string, KeyedResponse>;
  readonly deliver: Deliver;
  /** Called with each new run, so that its end can be announced to webhooks. */
  readonly watchRun: (run: Run) => void;
  /** The data set, which is created on first use. */
  readonly account: Account;
  /** Returns the next id with a prefix, `run_5m2v…`: the same sequence for the same seed. */
  nextId(prefix: string): string;
  /** Returns the next secret with a prefix, also determined by the seed. */
  nextSecret(prefix: string, length: number): string;
}

interface StateParts extends Pick<State, 'clock' | 'plan' | 'deliver' | 'watchRun'> {
  seed: number;
  data?: Partial<DataSizes> | undefined;
}

const dayMs = 86_400_000;

export function createState({ seed, data, ...parts }: StateParts): State {
  const streams = new Map<string, Draw>();
  const stream = (name: string) => {
    const draw = streams.get(name) ?? seededDraw(seed, name);
    streams.set(name, draw);
    return draw;
  };
  let account: Account | undefined;
  const sizes = { ...defaultSizes, ...data };
  // The data set ends at the start of the day (UTC), so that the same seed gives the same dates all day.
  const until = Math.floor(parts.clock.now() / dayMs) * dayMs;
  return {
    ...parts,
    credentials: new Map(),
    keys: new Map(),
    runs: new Map(),
    keyedResponses: new Map(),
    get account() {
      account ??= createAccount(seed, sizes, until);
      return account;
    },
    nextId: (prefix) => `${prefix}_${stream(prefix).id(12)}`,
    nextSecret: (prefix, length) => `${prefix}_${stream(`secret ${prefix}`).token(length)}`,
  };
}
