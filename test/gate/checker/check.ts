import { hash } from 'node:crypto';
import { type PlanState, timeNames } from '../../../src/gate/state.ts';
import { invariants } from './invariants.ts';
import { type Machine, type Mode, start, stepsOf, type World } from './world.ts';

export interface Found {
  states: number;
  /** The number of worlds that the bound on the depth left unexplored. */
  open: number;
  /** The first violation, and a shortest path to it. */
  violation: { rule: string; path: string[] } | null;
  /** The times at which each thing can happen, in seconds. */
  happened: Map<string, Set<number>>;
}

/** Worlds to explore: the first one, and what can happen in each. */
export interface Worlds<Each> {
  first: Each;
  depth: number;
  stepsOf(world: Each): readonly (readonly [words: string, next: Each])[];
  /** Worlds with the same key are explored once. */
  keyOf(world: Each): string;
  /** Returns the invariant that a step breaks. */
  brokenBy(from: Each, to: Each): string | undefined;
  /** Returns what a step has begun or ended. */
  newIn(from: Each, to: Each): Iterable<string>;
}

/** Explores worlds, breadth first, each once, up to the first violation. More than `most` are one. */
export function explore<Each extends { now: number }>(
  { first, depth: deepest, stepsOf, keyOf, brokenBy, newIn }: Worlds<Each>,
  most = Number.POSITIVE_INFINITY,
): Found {
  const happened: Found['happened'] = new Map();
  const parents = new Map<string, { from: string | null; words: string }>();
  parents.set(keyOf(first), { from: null, words: 'begin' });
  let frontier: [Each, string][] = [[first, keyOf(first)]];
  for (let depth = 0; depth < deepest && frontier.length > 0; depth += 1) {
    const next: [Each, string][] = [];
    for (const [world, key] of frontier) {
      for (const [words, to] of stepsOf(world)) {
        const toKey = keyOf(to);
        // A step may break an invariant on its way to a known world.
        const broken = brokenBy(world, to);
        const isKnown = parents.has(toKey);
        if (broken === undefined && isKnown) continue;
        if (!isKnown) parents.set(toKey, { from: key, words });
        if (broken !== undefined || parents.size > most) {
          const path = [...pathTo(key, parents), words];
          const violation = { rule: broken ?? `more than ${most} worlds`, path };
          return { states: parents.size, open: next.length, violation, happened };
        }
        for (const what of newIn(world, to)) {
          const times = happened.get(what) ?? new Set();
          happened.set(what, times.add(to.now / 1_000));
        }
        next.push([to, toKey]);
      }
    }
    frontier = next;
  }
  return { states: parents.size, open: frontier.length, violation: null, happened };
}

const rules = Object.entries(invariants);

/** Explores the worlds of a mode. */
export function check(mode: Mode, machine: Machine, most?: number): Found {
  return explore<World>(
    {
      first: start(mode),
      depth: mode.depth,
      stepsOf: (world) => stepsOf(world, mode, machine),
      keyOf,
      brokenBy: (from, to) => rules.find(([, isBroken]) => isBroken({ from, to, mode, machine }))?.[0],
      newIn,
    },
    most,
  );
}

/** Two worlds are the same if only the time differs by which everything is shifted. */
const keyOf = ({ now, plan, disk, ...world }: World) =>
  hash('sha1', `${textOf(plan, now)} ${textOf(disk, now)} ${textAt(world, now)}`, 'base64');

/** Many worlds share a plan. */
const texts = new WeakMap<PlanState, { text: string; now: number }>();

function textOf(plan: PlanState | null, now: number): string {
  if (plan === null) return '';
  const known = texts.get(plan);
  if (known?.now === now) return known.text;
  const text = textAt(plan, now);
  texts.set(plan, { text, now });
  return text;
}

const textAt = (value: unknown, now: number) =>
  JSON.stringify(value).replace(times, (_, name, at) => name + (at - now));

const times = new RegExp(`("(?:${[...timeNames].join('|')})":)(-?[0-9.]+)`, 'g');

function pathTo(key: string, parents: ReadonlyMap<string, { from: string | null; words: string }>): string[] {
  const path: string[] = [];
  for (let at = parents.get(key); at !== undefined; at = parents.get(at.from ?? '')) path.unshift(at.words);
  return path;
}

/** Returns what a step has begun or ended. */
function* newIn(from: World, to: World) {
  if (from.plan !== null && to.plan === null && to.exited) yield 'exits';
  for (const { effect } of to.flight) {
    if (from.flight.some((one) => one.effect === effect)) continue;
    const { past, key } = (effect.type === 'create' && to.plan?.gates[effect.gate]) || {
      past: [],
      key: null,
    };
    yield key === null ? effect.type : `create ${past.length + 1}, key ${key.trust}`;
  }
  for (const [name, { end, run, rules, error }] of Object.entries(to.plan?.gates ?? {})) {
    if (end === null || (from.plan ?? from.disk)?.gates[name]?.end != null) continue;
    const what = end.verdict ?? end.by ?? (rules.waits ? 'skipped' : 'started');
    const isLeft = run !== null && run.cancel !== 'no' ? `, cancel ${run.cancel}` : '';
    const why = error === null ? '' : `, ${typeof error === 'string' ? error : error.message}`;
    yield `${what}, exit ${end.exitCode}${isLeft}${why}`;
  }
}
