import type { TriggerBody } from '../../contract/run.ts';
import type { Redact } from '../../redact.ts';
import type { SeenBuild } from '../deployed/reads.ts';
import type { KeyChain } from '../events.ts';
import { redactReport } from '../report.ts';
import type { PlanState } from '../state.ts';
import type { StartingGate } from './plan.ts';

/** The progress of a gate, or of several, from one command to the next. Plain JSON, without secrets. Times in milliseconds. */
export interface SavedPlan {
  /** Random: the same in all slices. */
  id: string;
  /** The start of the first slice. */
  startedAt: number;
  savedAt: number;
  /** The last timeout of a gate that has begun. */
  endsAt: number;
  /** Set once a command has reported the end, to the ids of the runs that may go on; null for an unknown id. */
  reported?: readonly (string | null)[];
  /** By gate: the body of the first slice, since git may be at another commit now, and its first key. */
  starts: Record<string, { body: TriggerBody; chain: KeyChain }>;
  /** Null until the first command has begun. */
  plan: PlanState | null;
  build?: SeenBuild | undefined;
}

export function newSavedPlan(gates: readonly StartingGate[], now: number): SavedPlan {
  const starts = gates.map(({ name, start: { body, chain } }) => [name, { body, chain }] as const);
  return {
    id: crypto.randomUUID().slice(0, 8),
    startedAt: now,
    savedAt: now,
    endsAt: now + Math.max(...gates.map(({ rules }) => rules.timeoutMs)),
    starts: Object.fromEntries(starts),
    plan: null,
  };
}

/** Changes what is saved. A run whose id has a secret in it is not saved: its key finds it. */
export function savePlan(saved: SavedPlan, plan: PlanState, redact: Redact, now: number): void {
  const safe = redactReport(structuredClone(plan), redact);
  for (const [name, { run }] of Object.entries(plan.gates)) {
    const gate = safe.gates[name];
    if (gate !== undefined && run !== null && run.id !== gate.run?.id) gate.run = null;
  }
  const ends = Object.values(plan.gates).map(({ begunAt, rules }) => (begunAt ?? now) + rules.timeoutMs);
  // Another command of the same gate may have seen what this one has not.
  if (safe.page !== null && saved.plan?.page?.other) safe.page.other = true;
  const startedAt = Math.min(saved.startedAt, now);
  Object.assign(saved, { plan: safe, startedAt, savedAt: now, endsAt: Math.max(...ends) });
}

/** The place of a plan's state between two commands. */
export interface PlanStore {
  /** Null for a plan that has not begun. */
  readonly plan: PlanState | null;
  /** How far the clock was set back since it was saved. */
  readonly behindMs: number;
  /** A command has reported its end: it reads its runs again, and starts none. */
  readonly isReported: boolean;
  /** The wall time at which the monotonic clock began, as the command has seen it. */
  readonly epoch: number;
  save(plan: PlanState, build: SeenBuild | undefined): Promise<void>;
}

/** Returns the gate as its next command runs it. */
export function goingOn<Settings>(
  gate: StartingGate<Settings>,
  { starts, plan }: SavedPlan,
): StartingGate<Settings> {
  const ended = plan?.gates[gate.name]?.end != null;
  return { ...gate, ended, isResumed: plan !== null, start: { ...gate.start, ...starts[gate.name] } };
}

/** Returns whether a gate has reached its timeout, and its last read or cancel is not over. */
export const isOverdue = ({ plan }: SavedPlan, now: number): boolean =>
  Object.values(plan?.gates ?? {}).some(
    ({ deadline, end }) => end === null && deadline !== null && now >= deadline,
  );

/** Returns the runs that go on, or whose end nobody knows, as far as they are known. */
export const liveRuns = ({ plan }: SavedPlan): string[] =>
  Object.values(plan?.gates ?? {}).flatMap(({ run }) => (run === null || run.outcome?.ended ? [] : [run.id]));

/** Returns whether the gates need no job for now: each that has begun has a run that was seen in progress. */
export function isUnderWay({ gates }: PlanState): boolean {
  const open = Object.values(gates).filter(({ begunAt, end }) => begunAt !== null && end === null);
  return open.length > 0 && open.every(({ run }) => run?.live === true && run.outcome === null);
}
