import type { Exchange } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import type { NameOf, RungateError } from '../errors.ts';
import type { Event } from './decide.ts';
import type { Emit } from './events.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { type Budget, turnToCreate } from './fleet/turns.ts';
import type { PlannedGate } from './plan/plan.ts';
import type { RunService } from './service.ts';
import type { GateState } from './state.ts';
import { latestOf } from './steps.ts';
import type { WatchedRun } from './watched-run.ts';

/** A read of the version page: what it has shown, or why it failed. */
export interface PageShown {
  build: Extract<Event, { type: 'page' }>['build'];
  error: RungateError | null;
}

/** A gate of the state, with what cannot be data. */
export interface LiveGate {
  gate: PlannedGate;
  emit: Emit;
  hub: HubLink | undefined;
  /** The state as it is now. */
  state(): GateState;
  /** Aborted when the gate is stopped, but goes on to find the run that it may have created. */
  stopped: AbortSignal;
  /** The last error, whose data the state has. */
  error: RungateError | null;
  /** The response that has named its last run. */
  response: Exchange | null;
}

export interface EffectTools {
  service: RunService;
  clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  nameOf: NameOf;
  budget: Budget;
  /** Whether the requests share the limits of a minute. */
  limited: boolean;
  /** Returns the monotonic time of a wall time in the state. */
  monotonic(at: number): number;
  gateOf(name: string): LiveGate;
  /** Returns the gates of the environment. */
  usersOf(key: string): LiveGate[];
  watched(runId: string): WatchedRun;
  /** Whether the service has accepted the credential. */
  isAccepted(): boolean;
  cancelReason(gate: string): Promise<string>;
  /** Reads the version page once, and returns what it showed; null if it could not be read. */
  readPage(confirms: readonly string[], signal: AbortSignal): Promise<PageShown>;
  /** Keeps an error that the state gets for those who hear of it. */
  keep(gate: LiveGate, error: unknown): RungateError;
}

/** Waits for the turn of a request that creates something. Returns false if it comes too late. */
export function turnOf(
  { state, emit, hub }: LiveGate,
  signal: AbortSignal,
  { clock, budget, limited, monotonic }: EffectTools,
): Promise<boolean> {
  const latest = monotonic(latestOf(state()));
  return turnToCreate(latest, { hub, clock, signal, emit, budget: limited ? budget : undefined });
}
