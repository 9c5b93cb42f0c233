import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { alignedTable } from '../../docs/aligned-table.ts';
import { check } from './check.ts';
import { modes } from './modes.ts';
import { type Mutant, mutants } from './mutants.ts';
import { mutated } from './mutated.ts';
import type { Machine } from './world.ts';

describe('without a rule, the machine breaks an invariant', () => {
  const cells = [['rule', 'without it', 'shortest path to that']];
  test.each(mutants)('$rule', async (mutant) => {
    const { violation } = check(modes[mutant.mode], await without(mutant));
    if (violation === null) expect.fail('every invariant holds');
    const steps = violation.path.slice(1).filter((step) => !/turn/.test(step));
    if (steps.length <= longestShown)
      cells.push([mutant.rule, violation.rule, steps.map(inWords).join(' · ')]);
  });

  // `npm run docs:reliability` writes the file with --update.
  test('as the table in docs/project/reliability.md shows', async () => {
    const page = await readFile(new URL('../../../docs/project/reliability.md', import.meta.url), 'utf8');
    const part = /(?<=<!-- rules -->\n\n).*(?=\n<!-- end of rules -->)/s;
    expect(page).toMatch(part);
    await expect(page.replace(part, () => `${alignedTable(cells)}\n`)).toMatchFileSnapshot(
      '../../../docs/project/reliability.md',
    );
  });
});

/** A longer path is left out of the table. */
const longestShown = 20;

/** Names the keys of a chain, which are hashes. */
const inWords = (step: string) =>
  step
    .replace(/\bkey-a\b/g, 'key 1')
    .replace(/\bkey-b\b/g, 'the key of gate b')
    .replace(/\b[0-9a-f]{64}\b/g, 'the next key')
    .replaceAll('|', '/');

const entry = "export * from './decide.ts'; export * from './todo.ts'; export { durable } from './state.ts';";

/** Returns the machine with one rule removed. */
const without = ({ file, from, to }: Mutant) => mutated<Machine>(entry, { file: `${file}.ts`, from, to });
