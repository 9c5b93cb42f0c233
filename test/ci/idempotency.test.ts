import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CiContext } from '../../src/ci/context.ts';
import {
  baseOf,
  type Ingredients,
  ingredientsOf,
  keySteps,
  type Remembered,
} from '../../src/ci/idempotency.ts';
import { detectCi } from '../../src/ci/provider.ts';

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

const keys = (change: Partial<CiContext> = {}, remembered: Remembered[] = []) =>
  keySteps(ingredients(change), { ...ci, ...change }, remembered);

describe('the base of a key', () => {
  it('is the same for every re-run of one place with one body', () => {
    expect(keys({ attempt: 2 })[0]?.key).toBe(keys({ attempt: 1 })[0]?.key);
    expect(keys({ attempt: 3, jobId: '9' })[1]?.key).toBe(keys({ attempt: 2, jobId: '8' })[1]?.key);
  });

  it.each<[string, Partial<CiContext>, string, string | null]>([
    ['another job', { job: 'smoke' }, '{}', null],
    ['another step', { step: '__run_2' }, '{}', null],
    ['another matrix cell', { matrix: 'node-22' }, '{}', null],
    ['another parallel node', { parallelIndex: 1 }, '{}', null],
    ['another pipeline run', { runId: '78' }, '{}', null],
    ['another repository', { repository: 'acme/other' }, '{}', null],
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

describe('the keys of a start', () => {
  const origins = (steps: ReturnType<typeof keys>) => steps.map(({ origin }) => origin);

  it('without a re-run are its own key and a random one', () => {
    expect(origins(keys())).toEqual(['job', 'random']);
  });

  it('of the second re-run begin with the keys of the job and of its first re-run', () => {
    expect(origins(keys({ attempt: 3 }))).toEqual(['earlier', 'earlier', 'job', 'random']);
  });

  it('include a key of the job number if the CI numbers jobs but not attempts', () => {
    const steps = keys({ attempt: null, jobId: '5001' });
    expect(origins(steps)).toEqual(['earlier', 'job', 'random']);
    const retried = keys({ attempt: null, jobId: '5002' });
    expect(retried[0]?.key).toBe(steps[0]?.key);
    expect(retried[1]?.key).not.toBe(steps[1]?.key);
  });

  it('end with a random one, so that an ended run is never used again', () => {
    for (const change of [
      {},
      { attempt: 4 },
      { attempt: null, jobId: '1' },
      { attempt: null, jobId: null },
    ]) {
      expect(keys(change).at(-1)?.key).not.toBe(keys(change).at(-1)?.key);
      expect(keys(change).at(-1)).toMatchObject({ origin: 'random' });
    }
  });

  it('begin with the run that this job left in progress; a settled run raises the round', () => {
    const first = keys()[0]?.key ?? '';
    const open = keys({}, [{ key: first, round: 0, settled: false, job: '' }]);
    expect(open[0]).toMatchObject({ key: first, origin: 'earlier' });
    const done = keys({}, [{ key: first, round: 0, settled: true, job: '' }]);
    expect(done[0]?.key).not.toBe(first);
    expect(done[0]?.how).toMatch(/run 2 of this job/);
  });

  it('differ between the second run of a job and the re-run of its first', () => {
    const second = keys({}, [{ key: 'k', round: 0, settled: true, job: '' }])[0]?.key;
    expect(keys({ attempt: 2 }).map((step) => step.key)).not.toContain(second);
  });

  it('are unique, and valid in a header', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1, max: 30 })),
        fc.option(fc.string()),
        fc.array(fc.record({ key: fc.uuid(), round: fc.nat(5), settled: fc.boolean(), job: fc.string() })),
        (attempt, jobId, remembered) => {
          const all = keys({ attempt, jobId }, remembered).map((step) => step.key);
          expect(new Set(all).size).toBe(all.length);
          for (const key of all) expect(key).toMatch(/^[0-9a-f-]{36,64}$/);
        },
      ),
    );
  });
});
