import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/gate/decide.ts';
import { durable } from '../../../src/gate/state.ts';
import { todo } from '../../../src/gate/todo.ts';
import { alignedTable } from '../../docs/aligned-table.ts';
import { check } from './check.ts';
import { sometimes } from './invariants.ts';
import { type ModeName, modes } from './modes.ts';

/** The steps beyond those of `npm test`. */
const deeper = Number(process.env.RUNGATE_CHECKER_DEPTH ?? 0);

/** A machine that never comes to an end has more and more worlds. */
const mostWorlds = deeper > 0 ? undefined : 25_000;

describe('in every world, the machine breaks no invariant', () => {
  const reached = new Set<string>();
  const worlds = [['world', 'states', 'steps']];
  test.each(Object.keys(modes) as ModeName[])('%s', (name) => {
    const depth = modes[name].depth + deeper;
    const found = check({ ...modes[name], depth }, { decide, todo, durable }, mostWorlds);
    worlds.push([name, String(found.states), found.open === 0 ? 'all' : String(depth)]);
    for (const what of found.reached) reached.add(what);
    expect(found.violation).toBeNull();
  });
  test('reaches every verdict and exit code', () => {
    expect([...sometimes].filter((what) => !reached.has(what))).toEqual([]);
    if (deeper > 0) process.stdout.write(alignedTable(worlds));
  });
});
