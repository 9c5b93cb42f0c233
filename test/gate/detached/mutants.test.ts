import { describe, expect, test } from 'vitest';
import { mutated } from '../checker/mutated.ts';
import { check } from './invariants.ts';
import { modes } from './modes.ts';
import { mutants } from './mutants.ts';
import type { Machine } from './world.ts';

const entry =
  "export * from './detached/entry.ts'; export * from './detached/steps.ts'; export { isUnderWay } from './plan/saved.ts';";

describe.each(Object.entries(mutants))('without a rule of %s, a gate breaks an invariant', (file, all) => {
  test.each(all)('%s', async (_, from, to, mode) => {
    const { violation } = check(modes[mode], await mutated<Machine>(entry, { file, from, to }));
    expect(violation).not.toBeNull();
  });
});
