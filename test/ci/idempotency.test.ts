import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CiContext } from '../../src/ci/context.ts';
import {
  baseOf,
  firstKey,
  givenKey,
  type Ingredients,
  ingredientsOf,
  jobOf,
  type Remembered,
} from '../../src/ci/idempotency.ts';
import { detectCi } from '../../src/ci/provider.ts';
import { linkAfter } from '../../src/gate/chain.ts';
import type { KeyStep } from '../../src/gate/events.ts';
import type { PastRun } from '../../src/gate/state.ts';

const ci: CiContext = {
  ...detectCi({}),
  provider: 'github',
  repository: 'acme/shop',
  runId: '77',
  job: 'e2e',
  step: '__run',
  attempt: 1,
};

const ingredients = (
  change: Partial<CiContext> = {},
  body = '{}',
  salt: string | null = null,
): Ingredients => {
  const made = ingredientsOf({ ...ci, ...change }, body, salt);
  if (made === null) throw new Error('no ingredients');
  return made;
};

const first = (change: Partial<CiContext> = {}, remembered: Remembered[] = []) =>
  firstKey(ingredients(change), { ...ci, ...change }, remembered);

describe('the base of a key', () => {
  it('is the same for every re-run of one place with one body', () => {
    expect(baseOf(ingredients({ attempt: 3, jobId: '9' }))).toBe(
      baseOf(ingredients({ attempt: 2, jobId: '8' })),
    );
  });

  it.each<[string, Partial<CiContext>, string, string | null]>([
    ['another parallel node', { parallelIndex: 1 }, '{}', null],
    ['another pipeline run', { runId: '78' }, '{}', null],
    ['another CI', { provider: 'gitlab' }, '{}', null],
    ['another body', {}, '{"ref":"x"}', null],
    ['a salt', {}, '{}', 'cell-1'],
  ])('differs for %s', (_name, change, body, salt) => {
    expect(baseOf(ingredients(change, body, salt))).not.toBe(baseOf(ingredients()));
  });

  it('differs for another expected version or other subjects, in any order', () => {
    const withBuilds = (...builds: string[]) => baseOf(ingredientsOf(ci, '{}', null, builds) as Ingredients);
    expect(withBuilds()).toBe(baseOf(ingredients()));
    expect(withBuilds('a', 'b')).toBe(withBuilds('b', 'a'));
    expect(new Set([withBuilds(), withBuilds('a'), withBuilds('b'), withBuilds('a', 'b')]).size).toBe(4);
  });

  it('differs for any two different sets of ingredients', () => {
    const text = fc.oneof(fc.constant(null), fc.string({ maxLength: 6 }));
    const set = fc.record({ job: text, step: text, matrix: text, repository: text });
    fc.assert(
      fc.property(set, set, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(baseOf(ingredients(a)) === baseOf(ingredients(b))).toBe(same);
      }),
    );
  });

  it('does not exist outside CI, or in CI that does not identify the pipeline', () => {
    expect(ingredientsOf({ ...ci, provider: null }, '{}', null)).toBeNull();
    expect(ingredientsOf({ ...ci, runId: null }, '{}', null)).toBeNull();
  });
});

describe('the chain of keys of a start', () => {
  const run = (
    key: string,
    runId: string | null,
    settled: boolean,
    job = '',
    past: PastRun[] = [],
  ): Remembered => ({
    key,
    past,
    runId,
    settled,
    job,
  });

  it.each<[string, Partial<CiContext>, KeyStep['trust']]>([
    ['a job that is not a re-run', {}, 'job'],
    ['a re-run', { attempt: 2 }, 'shared'],
    ['CI that numbers jobs and not attempts', { attempt: null, jobId: '5001' }, 'shared'],
  ])('begins with the same key in every re-run, which says who may have used it: %s', (_, change, trust) => {
    expect(first(change)).toEqual({ key: first().key, trust });
  });

  it('begins with the run that this job left in progress', () => {
    const job = jobOf(ci);
    expect(first({}, [run('k', 'r', false, job)])).toEqual({ key: 'k', trust: 'job', open: true, past: [] });
    expect(first({}, [run('k', 'r', false)])).toMatchObject({ key: 'k', trust: 'shared' });
    expect(first({ attempt: null }, [run('k', null, false, job)])).toMatchObject({ trust: 'shared' });
  });

  it('begins with the link after the last run of the job, which a re-run reaches by walking the chain', () => {
    const { key } = first();
    const second = first({}, [run(key, 'r', true)]);
    expect(second).toEqual({ key: linkAfter(key, 'r'), trust: 'job' });
  });

  it('is one key if you give it', () => {
    expect(givenKey('k', 0)).toMatchObject({ link: { key: 'k', trust: 'given' }, spare: null });
    expect(() => givenKey('k', 1)).toThrow(/never starts a second run/);
  });
});
