import { timeNames } from '../../../src/gate/state.ts';
import { invariants } from './invariants.ts';
import { type Machine, type Mode, start, stepsOf, type World } from './world.ts';

export interface Found {
  states: number;
  /** The number of worlds that the bound on the depth left unexplored. */
  open: number;
  /** Violations, each with a shortest path to it. */
  violations: Map<string, string[]>;
  /** Verdicts, exit codes and other things that happened at least once. */
  reached: Set<string>;
}

/** Two worlds are the same if only the time differs by which everything is shifted. */
const keyOf = (world: World) =>
  JSON.stringify({ ...world, now: 0 }, (name, value) =>
    typeof value === 'number' && timeNames.has(name) ? value - world.now : value,
  );

/** Explores the worlds of a mode, breadth first, each once. */
export function check(mode: Mode, machine: Machine, stopAtFirst = false): Found {
  const first = start(mode);
  const found: Found = { states: 0, open: 0, violations: new Map(), reached: new Set() };
  const parents = new Map<string, { from: string | null; words: string }>();
  parents.set(keyOf(first), { from: null, words: 'begin' });
  let frontier: [World, string][] = [[first, keyOf(first)]];
  const pathTo = (key: string) => {
    const path: string[] = [];
    for (let at: string | null = key; at !== null; ) {
      const step = parents.get(at);
      if (step === undefined) break;
      path.unshift(step.words);
      at = step.from;
    }
    return path;
  };
  for (let depth = 0; depth < mode.depth && frontier.length > 0; depth += 1) {
    const next: [World, string][] = [];
    for (const [world, key] of frontier) {
      const steps = stepsOf(world, mode, machine);
      for (const [words, to] of steps) {
        const toKey = keyOf(to);
        if (parents.has(toKey)) continue;
        parents.set(toKey, { from: key, words });
        for (const [rule, isBroken] of Object.entries(invariants))
          if (!found.violations.has(rule) && isBroken({ from: world, to, mode, machine }))
            found.violations.set(rule, pathTo(toKey));
        if (stopAtFirst && found.violations.size > 0)
          return { ...found, states: parents.size, open: next.length };
        for (const { end, run, rules } of Object.values(to.plan?.gates ?? {})) {
          if (run?.cancel === 'accepted') found.reached.add('cancelled');
          if (end === null) continue;
          found.reached.add(String(end.verdict ?? end.by ?? (rules.waits ? 'skipped' : 'started')));
          found.reached.add(`exit ${end.exitCode}`);
        }
        next.push([to, toKey]);
      }
    }
    frontier = next;
  }
  return { ...found, states: parents.size, open: frontier.length };
}
