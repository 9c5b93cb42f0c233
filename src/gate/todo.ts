import { lastReadMs, stopBudgetMs } from './limits.ts';
import { waitEndOf } from './reads.ts';
import {
  causeOf,
  type EnvironmentState,
  type GateState,
  type KeyState,
  type PageState,
  type PlanState,
} from './state.ts';
import { awaitsBuild, createGraceMs, latestOf, waitsForBuild } from './steps.ts';

/**
 * Work that the state asks for. Those with the same id are the same work. `at`: the earliest wall time, in milliseconds.
 *
 * A new effect needs: a field of the state, `gateWork` and `timesOf` here, an event with its rules in `decide.ts` and `steps.ts`,
 * `doWork` in `effects.ts`, perhaps `resumed` and `durable`; in the checker `startEffect`, a world, an invariant and a mutant.
 */
export type Effect =
  | { type: 'create'; id: string; gate: string; key: string }
  | { type: 'read'; id: string; gate: string; run: string; at: number }
  /** `confirms`: the gates whose runs have ended, which it confirms. */
  | { type: 'page'; id: string; at: number; confirms: string[] }
  | { type: 'turn'; id: string; gate: string }
  | { type: 'reach'; id: string; gate: string }
  | { type: 'prepare'; id: string; key: string }
  | { type: 'remove'; id: string; key: string }
  | { type: 'cancel'; id: string; gate: string; run: string }
  | { type: 'timer'; id: string; at: number };

/** Returns the work that a plan asks for: the runner starts what is new, and aborts what is gone. */
export function todo(plan: PlanState): Effect[] {
  const effects = Object.entries(plan.gates).flatMap(([name, gate]) => gateWork(plan, name, gate));
  const removals = Object.entries(plan.environments)
    .filter(([, { step }]) => step === 'deleting')
    .map(([key]): Effect => ({ type: 'remove', id: `remove ${key}`, key }));
  const timer = nextTime(plan);
  const unique = new Map([...effects, ...pageWork(plan), ...removals].map((effect) => [effect.id, effect]));
  return [...unique.values(), ...(timer === null ? [] : [timer])];
}

/** Returns whether the process ends: nothing is open, or a slice has left what is. */
export const isOver = (plan: PlanState): boolean => todo(plan).length === 0;

function gateWork(plan: PlanState, name: string, gate: GateState): Effect[] {
  const { run, end, begunAt, deadline } = gate;
  if (end !== null || begunAt === null) return [];
  const cause = causeOf(plan);
  if (deadline === null) {
    const waits = cause === null && !awaitsBuild(plan);
    return waits ? [{ type: 'reach', id: `reach ${name}`, gate: name }] : [];
  }
  if (run?.cancel === 'wanted') return [{ type: 'cancel', id: `cancel ${run.id}`, gate: name, run: run.id }];
  if (run === null) {
    // Only a gate for an existing run has none.
    const key = gate.key as KeyState;
    if (cause === null) return beforeRun(plan, name, gate, key);
    // A stop that cancels or names the run finds it first.
    return cause.by === 'slice'
      ? []
      : [{ type: 'create', id: `create ${key.key}`, gate: name, key: key.key }];
  }
  if (cause !== null) return [];
  if (run.outcome !== null) return [];
  // A read that the sleep cut off is another one.
  const id = gate.lastReadBy === null ? `read ${run.id}` : `last read ${run.id} ${gate.lastReadBy}`;
  return [{ type: 'read', id, gate: name, run: run.id, at: run.due }];
}

/** The version page is read before runs are created, with their statuses, and when they have ended. */
function pageWork(plan: PlanState): Effect[] {
  const { page, gates } = plan;
  if (page === null || causeOf(plan) !== null) return [];
  const open = Object.entries(gates).filter(([, { end }]) => end === null);
  const waits = waitsForBuild(plan);
  const confirms = open.flatMap(([name, { run }]) => (run?.outcome && run.cancel !== 'wanted' ? [name] : []));
  const isDue = page.due !== null && open.some(([, { run }]) => run?.outcome === null);
  if (!waits && !isDue && confirms.length === 0) return [];
  return [{ type: 'page', id: 'page', at: page.due ?? 0, confirms }];
}

/** Returns the next step towards the run: the build, the environment, the turn, creating it. */
function beforeRun(plan: PlanState, name: string, { environment }: GateState, key: KeyState): Effect[] {
  if (key.sentAt === null && awaitsBuild(plan)) return [];
  if (environment !== null && isUnprepared(plan.environments[environment] as EnvironmentState))
    return [{ type: 'prepare', id: `prepare ${environment}`, key: environment }];
  if (!key.granted) return [{ type: 'turn', id: `turn ${key.key}`, gate: name }];
  return [{ type: 'create', id: `create ${key.key}`, gate: name, key: key.key }];
}

function isUnprepared({ step }: EnvironmentState): boolean {
  return step === 'wanted' || step === 'creating';
}

/** Returns the timer for the next time at which the rules may decide something without an event. */
function nextTime(plan: PlanState): Effect | null {
  const open = Object.values(plan.gates).filter(({ end }) => end === null);
  const times = open.flatMap((gate) => timesOf(plan, gate)).filter((at) => at !== null);
  if (times.length === 0) return null;
  const at = Math.min(...times);
  return { type: 'timer', id: `timer ${at}`, at };
}

function timesOf(plan: PlanState, gate: GateState): (number | null)[] {
  const { begunAt, deadline, key, run, confirmBy, lastReadBy } = gate;
  if (begunAt === null) return [];
  const cause = causeOf(plan);
  if (run?.cancel === 'wanted') return [run.cancelBy];
  if (cause !== null) return cause.by === 'slice' ? [] : [cause.at + stopBudgetMs];
  const buildBy = awaitsBuild(plan) ? ((plan.page as PageState).until as number) + lastReadMs : null;
  if (deadline === null) return [buildBy];
  if (run?.outcome) return [(confirmBy as number) + lastReadMs];
  if (run !== null) return [lastReadBy ?? waitEndOf(gate)];
  return (key as KeyState).sentAt === null ? [latestOf(gate), buildBy] : [deadline + createGraceMs];
}
