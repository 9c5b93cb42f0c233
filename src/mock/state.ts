import { type Clock, systemClock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import { type Account, createAccount } from './data/account.ts';
import type { StoredDelivery, StoredWebhook } from './data/webhooks.ts';
import type { MockOptions } from './options.ts';
import { type Draw, seededDraw } from './random.ts';
import type { RawResponse } from './response.ts';
import type { Counts, Outcome, Run } from './runs.ts';

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
  /** Sends a recorded delivery to its webhook and records the result, immediately or later. */
  deliver: (webhook: StoredWebhook, delivery: StoredDelivery) => void;
  /** Called with each new run, so that its end can be announced to webhooks. */
  watchRun: (run: Run) => void;
  /** The data set, which is created on first use. */
  readonly account: Account;
  /** Returns the next id with a prefix, `run_5m2v…`: the same sequence for the same seed. */
  nextId(prefix: string): string;
  /** Returns the next secret with a prefix, also determined by the seed. */
  nextSecret(prefix: string, length: number): string;
}

const dayMs = 86_400_000;

export function createState(options: MockOptions): State {
  const { seed = 1, clock = systemClock, outcome = 'passed' } = options;
  const outcomes = [outcome].flat();
  if (outcomes.length === 0) throw new UsageError('the mock needs at least one outcome');
  const streams = new Map<string, Draw>();
  const stream = (name: string) => {
    const draw = streams.get(name) ?? seededDraw(seed, name);
    streams.set(name, draw);
    return draw;
  };
  let account: Account | undefined;
  // The data set ends at the start of the day (UTC), so that the same seed gives the same dates all day.
  const until = Math.floor(clock.now() / dayMs) * dayMs;
  return {
    clock,
    plan: {
      outcomes,
      durationMs: options.duration ?? 2000,
      counts: options.counts,
      retryAfterSeconds: options.retryAfterSeconds,
      appUrlBase: options.appUrlBase ?? 'https://app.example.test',
    },
    credentials: new Map(),
    keys: new Map(),
    runs: new Map(),
    keyedResponses: new Map(),
    deliver: () => {},
    watchRun: () => {},
    get account() {
      account ??= createAccount(seed, options.data, until);
      return account;
    },
    nextId: (prefix) => `${prefix}_${stream(prefix).id(12)}`,
    nextSecret: (prefix, length) => `${prefix}_${stream(`secret ${prefix}`).token(length)}`,
  };
}
