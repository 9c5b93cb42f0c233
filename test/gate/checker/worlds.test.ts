import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/gate/decide.ts';
import { durable } from '../../../src/gate/state.ts';
import { todo } from '../../../src/gate/todo.ts';
import { alignedTable } from '../../docs/aligned-table.ts';
import { check, type Found } from './check.ts';
import { sometimes } from './invariants.ts';
import { type ModeName, modes } from './modes.ts';

/** The steps beyond those of `npm test`. */
const deeper = Number(process.env.RUNGATE_CHECKER_DEPTH ?? 0);

/** A machine that never comes to an end has more and more worlds. */
const mostWorlds = deeper > 0 ? undefined : 25_000;

describe('in every world, the machine breaks no invariant', () => {
  const sections: string[] = [];
  const worlds = [['world', 'states', 'steps']];
  test.each(Object.keys(modes) as ModeName[])('%s', (name) => {
    const depth = modes[name].depth + deeper;
    const found = check({ ...modes[name], depth }, { decide, todo, durable }, mostWorlds);
    worlds.push([name, String(found.states), found.open === 0 ? 'all' : String(depth)]);
    sections.push(`${name}\n${linesOf(found)}`);
    expect(found.violation).toBeNull();
  });
  test('reaches every verdict and exit code', () => {
    const reached = sections.join().split(/[\n,:] */);
    expect(sometimes.filter((what) => !reached.includes(what))).toEqual([]);
    if (deeper > 0) process.stdout.write(alignedTable(worlds));
  });
  // Updated with --update. Read the difference: it is what a change of the rules has changed.
  test.skipIf(deeper > 0)('happens what it should, and when', async () => {
    await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('./happens.txt');
  });
});

/** Returns a line for each thing that happened, with the seconds at which it can. */
const linesOf = ({ happened }: Found): string =>
  [...happened]
    .map(([what, times]) => `${what}: ${[...times].toSorted((a, b) => a - b).join(' ')}`)
    .toSorted()
    .join('\n');
