import type { StopCause } from '../../errors.ts';
import { actions } from '../policy.ts';
import type { PlanNode } from './graph.ts';

/** How a gate of a plan ended. `skipped`: it never began, and so it never passes. */
export const gateEnds = [...actions, 'skipped'] as const;
/** The end of one gate of several: `skipped` if it never began, else the action of the policy. */
export type GateEnd = (typeof gateEnds)[number];

/** Why no further gate begins: a signal, or with `--fail-fast` the gate that failed. */
export type Halt = { by: StopCause } | { failed: string };

export interface PlanState {
  /** The gates that have begun, whether or not they have ended. */
  readonly begun: ReadonlySet<string>;
  readonly ended: ReadonlyMap<string, GateEnd>;
  readonly halt: Halt | null;
}

export interface Skipped {
  readonly name: string;
  /** Why, as a clause. */
  readonly reason: string;
  /** The reason is the halt, not a need. */
  readonly halted: boolean;
}

const endings = { fail: 'failed', skipped: 'was skipped' } as const;

function skipped({ name, needs }: PlanNode, { ended, halt }: PlanState): Skipped | null {
  if (halt !== null) return { name, reason: haltReason(halt), halted: true };
  for (const need of needs) {
    const end = ended.get(need);
    if (end === 'fail' || end === 'skipped')
      return { name, reason: `it needs ${need}, which ${endings[end]}`, halted: false };
  }
  return null;
}

export function haltReason(halt: Halt): string {
  return 'by' in halt ? `rungate was stopped by ${halt.by}` : `${halt.failed} failed (--fail-fast)`;
}

/**
 * Returns which gates begin now and which will never begin. A need is met by `pass` and `warn`. Call it again with every
 * change, until it returns nothing more.
 */
export function nextGates(
  nodes: readonly PlanNode[],
  state: PlanState,
): { begin: string[]; skip: Skipped[] } {
  const begin: string[] = [];
  const skip: Skipped[] = [];
  for (const node of nodes) {
    const { name, needs } = node;
    if (state.begun.has(name) || state.ended.has(name)) continue;
    const never = skipped(node, state);
    if (never !== null) skip.push(never);
    else if (needs.every((need) => state.ended.has(need))) begin.push(name);
  }
  return { begin, skip };
}
