import type { StopCause } from '../../errors.ts';
import { nearest } from '../../suggest.ts';
import { results } from '../policy.ts';

/** The names that a gate may have: they appear in commands and in the names of variables. */
export const gateName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const gateNameHint =
  'use up to 64 letters, digits, dots, hyphens and underscores, starting with a letter or digit';

export interface PlanNode {
  readonly name: string;
  /** The gates that must pass, or pass with a warning, before this one starts. */
  readonly needs: readonly string[];
  /** The gate can warn at most. */
  readonly advisory: boolean;
}

/** Why gates cannot be put in an order, and the gate and the need to blame. */
interface PlanProblem {
  readonly gate: string;
  readonly need: string;
  readonly message: string;
  readonly hint: string;
}

/** Returns the gates of a cycle, such as `a, b, a`, or null if there is none. */
function findCycle(nodes: readonly PlanNode[]): string[] | null {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const done = new Set<string>();
  for (const start of byName.keys()) {
    // Iterative, so that a long chain does not exhaust the stack: the gates on the path, and the next need of each.
    const path = [{ name: start, nextNeed: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const need = done.has(top.name) ? undefined : byName.get(top.name)?.needs[top.nextNeed];
      top.nextNeed += 1;
      if (need === undefined) {
        done.add(top.name);
        path.pop();
        continue;
      }
      const from = path.findIndex(({ name }) => name === need);
      if (from >= 0) return [...path.slice(from).map(({ name }) => name), need];
      path.push({ name: need, nextNeed: 0 });
    }
  }
  return null;
}

/** Returns the first mistake in the needs: an unknown gate, an advisory gate, or a cycle; null if there is none. */
export function problemIn(nodes: readonly PlanNode[]): PlanProblem | null {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  for (const { name: gate, needs } of nodes) {
    for (const need of needs) {
      const needed = byName.get(need);
      if (needed === undefined) {
        const near = nearest(need, [...byName.keys()]);
        const message = `gate ${gate} needs ${JSON.stringify(need)}, which is not a gate`;
        const hint =
          near === null ? `the gates are ${[...byName.keys()].join(', ')}` : `did you mean "${near}"?`;
        return { gate, need, message, hint };
      }
      if (needed.advisory) {
        const message = `gate ${gate} needs ${need}, which is advisory: it never stops anything`;
        return { gate, need, message, hint: `remove ${need} from "needs", or "advisory" from ${need}` };
      }
    }
  }
  const cycle = findCycle(nodes);
  if (cycle === null) return null;
  const [gate = '', need = ''] = cycle;
  const message = `the needs form a cycle: ${cycle.join(' → ')}`;
  return { gate, need, message, hint: 'remove one of these needs' };
}

/** Returns the gates with every gate after those it needs, otherwise in the given order. The needs must have no problem. */
export function inOrder<Node extends PlanNode>(nodes: readonly Node[]): Node[] {
  const ordered: Node[] = [];
  const placed = new Set<string>();
  let left = [...nodes];
  while (left.length > 0) {
    const next = left.find(({ needs }) => needs.every((need) => placed.has(need)));
    if (next === undefined) throw new Error(`the gates have a cycle: ${left.map(({ name }) => name)}`);
    ordered.push(next);
    placed.add(next.name);
    left = left.filter((node) => node !== next);
  }
  return ordered;
}

/** Returns the gates of these names and the gates that they need, in the given order; all gates without names. */
export function selected<Node extends PlanNode>(nodes: readonly Node[], names: readonly string[]): Node[] {
  if (names.length === 0) return [...nodes];
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const chosen = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (chosen.has(name)) continue;
    chosen.add(name);
    open.push(...(byName.get(name)?.needs ?? []));
  }
  return nodes.filter(({ name }) => chosen.has(name));
}

/** The results of a gate of a plan. `skipped`: it never began, and so it never passes. */
export const gateResults = [...results, 'skipped'] as const;
/** The result of one gate of several: `skipped` if it never began, `waiting` if it goes on after a slice, else the worst action on its runs. */
export type GateResult = (typeof gateResults)[number];

/** Returns why no further gate begins: a signal, or with `--fail-fast` the gate that failed. */
export function haltReason(halt: { by: StopCause } | { failed: string }): string {
  return 'by' in halt ? `rungate was stopped by ${halt.by}` : `${halt.failed} failed (--fail-fast)`;
}

/** Returns the longest time that gates take which wait for each other, in milliseconds. */
export function longestPathMs(nodes: readonly (PlanNode & { ownMs: number })[]): number {
  const ends = new Map<string, number>();
  for (const { name, needs, ownMs } of inOrder(nodes))
    ends.set(name, ownMs + Math.max(0, ...needs.map((need) => ends.get(need) ?? 0)));
  return Math.max(0, ...ends.values());
}
