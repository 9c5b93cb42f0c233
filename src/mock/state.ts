import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { Counts, Outcome } from './outcomes.ts';
import { seededText } from './random.ts';

/** Who is calling. Everything in the state belongs to a tenant; another tenant's things are 404. */
export interface Credential {
  kind: 'key' | 'token';
  tenant: string;
}

export interface Run {
  readonly id: string;
  readonly tenant: string;
  readonly request: TriggerBody;
  readonly outcome: Outcome;
  /** Milliseconds on the clock's monotonic scale. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** What it ends with. */
  readonly counts: Counts;
  readonly appUrl: string;
  /** Set once somebody cancelled it in time. */
  cancelled?: { at: number; reason: string | undefined };
}

/** The first reply to a keyed request, kept to be sent again. */
export interface KeyedReply {
  readonly bytes: Uint8Array;
  readonly status: number;
  readonly body: unknown;
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

export interface State {
  readonly clock: Clock;
  readonly plan: RunPlan;
  /** By the secret itself, key or token. */
  readonly credentials: Map<string, Credential>;
  readonly runs: Map<string, Run>;
  /** By tenant, endpoint and `Idempotency-Key`. */
  readonly keyedReplies: Map<string, KeyedReply>;
  /** The next id of a kind, `run_5m2v…`: the same sequence for the same seed. */
  nextId(prefix: string): string;
}

export function createState(seed: number, clock: Clock, plan: RunPlan): State {
  const streams = new Map<string, ReturnType<typeof seededText>>();
  return {
    clock,
    plan,
    credentials: new Map(),
    runs: new Map(),
    keyedReplies: new Map(),
    nextId(prefix) {
      const stream = streams.get(prefix) ?? seededText(seed, prefix);
      streams.set(prefix, stream);
      return `${prefix}_${stream.id(12)}`;
    },
  };
}
