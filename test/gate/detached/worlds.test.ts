import { describe, expect, test } from 'vitest';
import { check, sometimes } from './invariants.ts';
import { type ModeName, modes } from './modes.ts';
import { source } from './world.ts';

/** The steps beyond those of `npm test`. */
const deeper = Number(process.env.RUNGATE_CHECKER_DEPTH ?? 0);

/** A protocol that never comes to an end has more and more worlds. */
const mostWorlds = deeper > 0 ? undefined : 40_000;

describe('in every world, detached gates break no invariant', () => {
  const reached = new Set<string>();
  test.each(Object.keys(modes) as ModeName[])('%s', (name) => {
    const mode = modes[name];
    const { violation, happened } = check({ ...mode, depth: mode.depth + deeper }, source, mostWorlds);
    for (const what of happened.keys()) reached.add(what);
    expect(violation).toBeNull();
  });
  test('reaches every end', () => {
    expect(sometimes.filter((what) => !reached.has(what))).toEqual([]);
  });
});
