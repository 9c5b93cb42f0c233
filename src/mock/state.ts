import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { type Account, createAccount, type DataSizes, usualSizes } from './data/account.ts';
import type { Delivery, Webhook } from './data/webhooks.ts';
import type { Counts, Outcome } from './outcomes.ts';
import { type Draw, seededDraw } from './random.ts';
import type { Reply } from './reply.ts';

/** Who is calling. Everything in the state belongs to a tenant; another tenant's things are 404. */
export interface Credential {
  kind: 'key' | 'token';
  tenant: string;
  /** Of a key; left out: all there are. */
  scopes?: readonly string[];
}

export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The full token: shown when it is created, and never again. */
  readonly apiKey: string;
  readonly createdAt: string;
}

export interface Run {
  readonly id: string;
  readonly tenant: string;
  readonly request: TriggerBody;
  /** Milliseconds on the clock's monotonic scale. */
  readonly startedAt: number;
  /** How it goes, as planned; all three change where somebody ends it before its time. */
  outcome: Outcome;
  durationMs: number;
  /** What it ends with. */
  counts: Counts;
  readonly appUrl: string;
  /** Set once somebody cancelled it in time. */
  cancelled?: { at: number; reason: string | undefined };
  /** Its end was told to the webhooks. */
  announced?: boolean;
  /** A status response has shown its end. */
  endShown?: boolean;
}

/** The first reply to a keyed request, kept to be sent again to a request with the same bytes. */
export interface KeyedReply {
  readonly bytes: Uint8Array;
  readonly reply: Reply;
}

/** How runs are made. May be changed while the mock runs; it holds for runs created from then on. */
export interface RunPlan {
  /** The n-th run created gets the n-th outcome, and the last one repeats. */
  outcomes: readonly Outcome[];
  durationMs: number;
  counts: Partial<Counts> | undefined;
  /** Sent with the status of a run in progress; left out where undefined. */
  retryAfterSeconds: number | undefined;
  appUrlBase: string;
}

/** Sends a recorded delivery to its webhook, and writes into the record how that went, at once or later. */
export type Deliver = (webhook: Webhook, delivery: Delivery) => void;

export interface State {
  readonly clock: Clock;
  readonly plan: RunPlan;
  /** By the secret itself, key or token. */
  readonly credentials: Map<string, Credential>;
  /** By id. */
  readonly keys: Map<string, ApiKey>;
  readonly runs: Map<string, Run>;
  /** By tenant, endpoint and `Idempotency-Key`. */
  readonly keyedReplies: Map<string, KeyedReply>;
  readonly deliver: Deliver;
  /** Called with each run that is created: whoever sends deliveries wants to know when it ends. */
  readonly watchRun: (run: Run) => void;
  /** What a tenant has. Its data set is made when it is first asked for. */
  account(tenant: string): Account;
  /** The next id of a kind, `run_5m2v…`: the same sequence for the same seed. */
  nextId(prefix: string): string;
  /** The next secret of a kind, in the same way. */
  nextSecret(prefix: string, length: number): string;
}

/** What a state is made of. */
export interface StateParts extends Pick<State, 'clock' | 'plan' | 'deliver' | 'watchRun'> {
  seed: number;
  data?: Partial<DataSizes> | undefined;
}

const dayMs = 86_400_000;

export function createState({ seed, data, ...parts }: StateParts): State {
  const streams = new Map<string, Draw>();
  const stream = (name: string) => {
    const found = streams.get(name) ?? seededDraw(seed, name);
    streams.set(name, found);
    return found;
  };
  const accounts = new Map<string, Account>();
  const sizes = { ...usualSizes, ...data };
  // The data set ends where the day began: on one day, the same seed gives the same dates.
  const until = Math.floor(parts.clock.now() / dayMs) * dayMs;
  return {
    ...parts,
    credentials: new Map(),
    keys: new Map(),
    runs: new Map(),
    keyedReplies: new Map(),
    account(tenant) {
      const account = accounts.get(tenant) ?? createAccount(tenant, seed, sizes, until);
      accounts.set(tenant, account);
      return account;
    },
    nextId: (prefix) => `${prefix}_${stream(prefix).id(12)}`,
    nextSecret: (prefix, length) => `${prefix}_${stream(`secret ${prefix}`).token(length)}`,
  };
}
