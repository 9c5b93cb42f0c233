import type { StopCause } from '../../errors.ts';
import type { WatchedPage } from '../deployed/watch-page.ts';
import { endStopped } from '../end.ts';
import type { GateReport } from '../result-types.ts';
import { causeOf, type End, type GateState, type PlanState } from '../state.ts';
import type { Entry } from './fresh.ts';
import { haltReason } from './graph.ts';
import { type OutcomeTools, outcomeOf } from './outcomes.ts';
import { type GateOutcome, type PlannedGate, skippedGate, waitingGate } from './plan.ts';

export type EndedEntry = readonly [name: string, state: GateState & { end: End }];

export const isEnded = (entry: readonly [string, GateState | undefined]): entry is EndedEntry =>
  entry[1]?.end != null;

/** Returns the plan as the result of this command shows it: the gates that go on were stopped by the end of the slice. */
export function leftBySlice(plan: PlanState, now: number): PlanState {
  const shown = structuredClone(plan);
  for (const gate of Object.values(shown.gates)) if (gate.end === null) endStopped(gate, 'slice', now);
  return shown;
}

/** Returns how a gate has ended. `own`: its states in the plan. */
export function endOf(
  gate: PlannedGate,
  own: readonly EndedEntry[],
  plan: PlanState,
  isNamed: boolean,
  tools: OutcomeTools,
): GateOutcome {
  const [, first] = own[0] ?? [];
  const cause = causeOf(plan);
  const reason =
    cause === null
      ? null
      : cause.by === 'fail-fast'
        ? haltReason({ failed: plan.halt?.gate ?? '' })
        : haltReason({ by: cause.by });
  if (isNamed && first?.begunAt === null) {
    const { skippedFor, by } = first.end;
    if (by === 'slice') return { entry: waitingGate(gate) };
    const need = skippedFor === null ? undefined : plan.gates[skippedFor]?.end;
    const ending = need?.skippedFor !== null || need?.by !== null ? 'was skipped' : 'failed';
    return {
      entry: skippedGate(
        gate,
        skippedFor === null ? (reason ?? '') : `it needs ${skippedFor}, which ${ending}`,
      ),
    };
  }
  return outcomeOf(gate, own, reason, tools);
}

/** Returns the gate that has the run of this one. */
export function ownerOf(
  { gates }: PlanState,
  name: string,
  runId: string | null,
): { owner: string; runId: string } | null {
  for (const [owner, { run, past }] of Object.entries(gates))
    if (owner !== name && runId !== null && (run?.id === runId || past.some((one) => one.run.id === runId)))
      return { owner, runId };
  return null;
}

/** Returns the signal that stopped the plan before every gate had ended, or null. */
export function stoppedBy(
  { gates, stop }: PlanState,
  planned: readonly PlannedGate[],
  entries: readonly Entry[],
): StopCause | null {
  if (stop === null) return null;
  const isCut = Object.values(gates).some(({ end }) => end?.by === stop.by);
  return isCut || planned.length > entries.length ? stop.by : null;
}

/** Returns the parts of the report that are about all gates. */
export function partsOf({ gates }: PlanState, page: WatchedPage | undefined): Partial<GateReport> {
  if (page === undefined) return {};
  const ended = Object.values(gates).filter(({ run }) => run?.outcome);
  const isConfirmed =
    ended.length > 0 && ended.every(({ pageReads, end }) => pageReads > 0 && (end?.by ?? null) === null);
  return { deployed: page.report(isConfirmed) };
}

/** Returns the environments of previews that exist or existed, whose gates have ended. */
export function previewsOf(
  { environments }: PlanState,
  gates: readonly PlannedGate[],
): Pick<GateReport, 'previews'> {
  const starts = new Map(gates.map(({ start }) => [start?.body.environmentKey, start?.environment]));
  const previews = Object.entries(environments).flatMap(([key, { step }]) =>
    step === 'deleted' || step === 'kept'
      ? [{ environmentKey: key, baseUrl: starts.get(key)?.baseUrl ?? '', deleted: step === 'deleted' }]
      : [],
  );
  return previews.length === 0 ? {} : { previews };
}
