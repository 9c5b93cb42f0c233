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

const rules = Object.entries(invariants);

/** Explores the worlds of a mode, breadth first, each once, up to the first violation. More than `most` are one. */
export function check(mode: Mode, machine: Machine, most = Number.POSITIVE_INFINITY): Found {
  const first = start(mode);
  const happened: Found['happened'] = new Map();
  const parents = new Map<string, { from: string | null; words: string }>();
  parents.set(keyOf(first), { from: null, words: 'begin' });
  let frontier: [World, string][] = [[first, keyOf(first)]];
  for (let depth = 0; depth < mode.depth && frontier.length > 0; depth += 1) {
    const next: [World, string][] = [];
    for (const [world, key] of frontier) {
      for (const [words, to] of stepsOf(world, mode, machine)) {
        const toKey = keyOf(to);
        if (parents.has(toKey)) continue;
        parents.set(toKey, { from: key, words });
        const broken = rules.find(([, isBroken]) => isBroken({ from: world, to, mode, machine }));
        if (broken !== undefined || parents.size > most) {
          const violation = { rule: broken?.[0] ?? `more than ${most} worlds`, path: pathTo(toKey, parents) };
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
