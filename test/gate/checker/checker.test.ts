import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { decide } from '../../../src/gate/decide.ts';
import { durable } from '../../../src/gate/state.ts';
import { todo } from '../../../src/gate/todo.ts';
import { alignedTable } from '../../docs/aligned-table.ts';
import { check } from './check.ts';
import { sometimes } from './invariants.ts';
import { type ModeName, modes } from './modes.ts';
import { type Mutant, mutants } from './mutants.ts';
import type { Machine } from './world.ts';

const folder = fileURLToPath(new URL('../../../src/gate/', import.meta.url));

/** The steps beyond those of `npm test`. */
const deeper = Number(process.env.RUNGATE_CHECKER_DEPTH ?? 0);

describe('in every world, the machine breaks no invariant', () => {
  const reached = new Set<string>();
  const worlds = [['world', 'states', 'steps']];
  test.each(Object.keys(modes) as ModeName[])('%s', (name) => {
    const depth = modes[name].depth + deeper;
    const found = check({ ...modes[name], depth }, { decide, todo, durable });
    worlds.push([name, String(found.states), found.open === 0 ? 'all' : String(depth)]);
    for (const what of found.reached) reached.add(what);
    expect(Object.fromEntries(found.violations)).toEqual({});
  });
  afterAll(() => {
    expect([...sometimes].filter((what) => !reached.has(what))).toEqual([]);
    if (deeper > 0) process.stdout.write(alignedTable(worlds));
  });
});

describe('without a rule, the machine breaks an invariant', () => {
  const cells = [['rule', 'without it', 'shortest path to that']];
  test.each(mutants)('$rule', async (mutant) => {
    const found = check(modes[mutant.mode], await without(mutant), true);
    const [broken] = found.violations;
    expect(broken).toBeDefined();
    const [invariant = '', [, ...all] = []] = broken ?? [];
    const steps = all.filter((step) => !/turn/.test(step));
    if (steps.length <= longestShown) cells.push([mutant.rule, invariant, steps.map(inWords).join(' · ')]);
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

/** Returns the machine with one rule removed. */
async function without({ file, from, to }: Mutant): Promise<Machine> {
  const path = `${folder}${file}.ts`;
  const source = await readFile(path, 'utf8');
  expect(source).toContain(from);
  const contents = source.replace(from, to);
  const { outputFiles } = await build({
    stdin: {
      contents:
        "export * from './decide.ts'; export * from './todo.ts'; export { durable } from './state.ts';",
      resolveDir: folder,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [
      {
        name: 'mutant',
        setup: ({ onLoad }) =>
          onLoad({ filter: new RegExp(`gate/${file}\\.ts$`) }, () => ({ contents, loader: 'ts' })),
      },
    ],
  });
  const [bundle] = outputFiles;
  return import(`data:text/javascript,${encodeURIComponent(bundle?.text ?? '')}`);
}
