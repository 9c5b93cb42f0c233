import { describe, expect, test } from 'vitest';
import { type CiContext, providers } from '../../src/ci/context.ts';
import { detectCi } from '../../src/ci/provider.ts';
import {
  descriptions,
  detect,
  documented,
  type Fixture,
  fixtures,
  lists,
  places,
  titled,
  wrongCommit,
} from './provider-fixtures.ts';

const credential = 's3cr3t';
const nullIn = (context: CiContext) =>
  Object.entries(context).flatMap(([field, value]) => (value === null ? [field] : []));

describe('detectCi, in the environments that the providers document,', () => {
  test.each(titled)('returns the expected context for %s', (_, fixture) =>
    expect(detect(fixture)).toEqual(fixture.expected),
  );

  test.each(titled)(
    'is tested in %s only with variables that the provider sets',
    (_, { place, sources, env }) => {
      const listed = lists(place);
      expect(sources.filter((source) => !listed.has(source))).toEqual([]);
      const isDocumented = documented(sources.flatMap((source) => listed.get(source) ?? []));
      expect(Object.keys(env).filter((name) => !isDocumented(name))).toEqual([]);
    },
  );

  test('is tested for each provider with a push, a pull request, a tag, a schedule and a manual start', () => {
    const events = ['push', 'pull_request', 'tag', 'schedule', 'manual'];
    const missing = providers.flatMap((place) => {
      const covered = new Set<string>(fixtures.filter((one) => one.place === place).map((one) => one.event));
      // Travis reports a manual start as `api`; there is a fixture for it.
      if (place === 'travis') covered.add('manual');
      return events.filter((event) => !covered.has(event)).map((event) => `${place}: ${event}`);
    });
    expect(missing).toEqual([]);
  });

  test('never returns a commit that a CI system generated, although many environments contain one', () => {
    expect(fixtures.filter((one) => JSON.stringify(one.env).includes(wrongCommit)).length).toBeGreaterThan(
      12,
    );
    expect(fixtures.filter((one) => JSON.stringify(detect(one)).includes(wrongCommit))).toEqual([]);
  });

  test('never returns a credential, although some environments contain one', () => {
    const input = ({ env, git }: Fixture) => JSON.stringify([env, git]);
    expect(fixtures.filter((one) => input(one).includes(credential)).length).toBeGreaterThan(3);
    expect(fixtures.filter((one) => JSON.stringify(detect(one)).includes(credential))).toEqual([]);
  });

  test.each(places)(
    'has a documented reason for each fact that is always null for %s, and for no other',
    (place) => {
      const [first, ...rest] = fixtures
        .filter((one) => one.place === place)
        .map((one) => nullIn(one.expected));
      const always = (first ?? []).filter((field) => rest.every((fields) => fields.includes(field)));
      const reasons = Object.keys(descriptions[place]?.nulls ?? {});
      expect(reasons.toSorted()).toEqual(always.filter((field) => field !== 'provider').toSorted());
    },
  );

  test('lists exactly the variables that the context depends on', () => {
    for (const { env, git, eventPayload, expected } of fixtures) {
      const listed = Object.fromEntries(expected.variables.map((name) => [name, env[name] ?? '']));
      expect(detect({ env: listed, ...(git && { git }), eventPayload })).toEqual(expected);
    }
  });
});

test.each(['0', '-1', '1.5', '1e3', '1001', '99999999999999999999', 'NaN', 'two', '٢', ' '])(
  'a pipeline run has no number of the re-run if the variable is %j',
  (GITHUB_RUN_ATTEMPT) => expect(detectCi({ GITHUB_ACTIONS: 'true', GITHUB_RUN_ATTEMPT }).attempt).toBeNull(),
);

describe('the position among parallel jobs', () => {
  test.each([
    ['gitlab', { GITLAB_CI: 'true' }, 'CI_NODE_INDEX', 'CI_NODE_TOTAL', 1],
    ['buildkite', { BUILDKITE: 'true' }, 'BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT', 0],
  ])('of %s is 0 of 3 for the first, 2 of 3 for the last, and null beyond', (_, env, index, total, first) => {
    const at = (position: number | string) =>
      detectCi({ ...env, [index]: String(position), [total]: '3' }).parallelIndex;
    expect(at(first)).toBe(0);
    expect(at(first + 2)).toBe(2);
    expect(at(first + 3)).toBeNull();
    expect(at(first - 1)).toBeNull();
    expect(at('')).toBeNull();
  });
});
