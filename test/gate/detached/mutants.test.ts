import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mutated } from '../checker/mutated.ts';
import { check } from './invariants.ts';
import { type ModeName, modes } from './modes.ts';
import type { Machine } from './world.ts';

const entry =
  "export * from './detached/entry.ts'; export * from './detached/steps.ts'; export { isUnderWay } from './plan/saved.ts';";

let file = '';
const mutants = readFileSync(new URL('mutants.txt', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line) => {
    if (/^\w/.test(line)) file = line;
    const [rule = '', from = '', to = '', mode] = line.trim().split(' ¦ ');
    return mode === undefined ? [] : [{ rule, file, from, to, mode: mode as ModeName }];
  });

describe('without a rule, detached gates break an invariant', () => {
  test.each(mutants)('$rule', async ({ mode, ...mutant }) => {
    const { violation } = check(modes[mode], await mutated<Machine>(entry, mutant));
    expect(violation).not.toBeNull();
  });
  test('of which there are many', () => expect(mutants).toHaveLength(49));
});
