import { newKey } from '../keys.ts';
import { newRun } from '../reads.ts';
import type { EnvironmentState, GateRules, GateState, PlanState } from '../state.ts';
import type { PlannedGate, PlanOptions } from './plan.ts';

/** A gate of the state, the planned gate that it is a part of, and its state before it begins. */
export type Entry = readonly [name: string, gate: PlannedGate, state: GateState];

/** Returns the state of a gate that starts a run, or one for each existing run. */
export function statesOf(gate: PlannedGate, options: PlanOptions, now: number): Entry[] {
  const { start, runIds = [], name } = gate;
  if (start !== undefined) return [[name, gate, freshGate(gate, options)]];
  return runIds.map((id, index) => [
    `${name}#${index}`,
    gate,
    { ...freshGate(gate, options), run: newRun(id, { since: now, due: now }) },
  ]);
}

function freshGate(gate: PlannedGate, options: PlanOptions): GateState {
  const { start } = gate;
  const { policy, intervalMs, timeoutMs, maxAttempts, retries = 0 } = gate.rules;
  const rules: GateRules = {
    policy,
    intervalMs,
    timeoutMs,
    shortestMs: options.shortestMs,
    maxReads: Number.isFinite(maxAttempts) ? maxAttempts : null,
    retries,
    cancelOnInterrupt: options.cancelOnInterrupt,
    cancelOnTimeout: options.cancelOnTimeout,
    waits: gate.waits ?? true,
  };
  const { chain, environment, ready, body } = start ?? {};
  const state = newGate({
    needs: [...gate.needs],
    advisory: gate.advisory,
    rules,
    attempt: chain?.attempt ?? null,
    reached: ready === undefined,
    key: chain === undefined ? null : newKey(chain.link.key, chain.link.trust, chain.link.open),
    spare: chain?.spare ?? null,
    environment: environment !== undefined ? (body?.environmentKey ?? '') : null,
  });
  return { ...state, past: structuredClone([...(chain?.link.past ?? [])]) };
}

/** Returns the state of a gate that has not begun. */
export const newGate = (known: Omit<GateState, keyof typeof notBegun>): GateState => ({
  ...known,
  ...structuredClone(notBegun),
});

const notBegun = {
  begunAt: null,
  deadline: null,
  run: null,
  past: [],
  pageReads: 0,
  confirmBy: null,
  lastReadBy: null,
  error: null,
  end: null,
} satisfies Partial<GateState>;

/** Returns the state of a plan that has not begun. `pageMs`: how long to wait for the build; null without a check. */
export function freshPlan(
  entries: readonly Entry[],
  { failFast, gates }: PlanOptions,
  { pageMs, hub, sliced }: { pageMs: number | null; hub: boolean; sliced: boolean },
): PlanState {
  const environments = entries.flatMap(([, , { environment }]): [string, EnvironmentState][] =>
    environment === null ? [] : [[environment, { step: 'wanted', error: null }]],
  );
  return {
    version: 1,
    failFast: failFast && gates.length > 1,
    gates: Object.fromEntries(entries.map(([name, , state]) => [name, state])),
    page:
      pageMs === null
        ? null
        : { agreed: 0, other: false, until: null, due: null, error: null, timeoutMs: pageMs },
    environments: Object.fromEntries(environments),
    hub,
    sliced,
    reported: false,
    stop: null,
    halt: null,
  };
}
