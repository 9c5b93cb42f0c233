import { readdirSync, readFileSync } from 'node:fs';
import { type CiContext, type GitFacts, providers } from '../../src/ci/context.ts';
import { detectCi } from '../../src/ci/provider.ts';

export interface Fixture {
  place: string;
  name: string;
  /** The real cause of the pipeline, whether its variables contain it or not. */
  event: 'push' | 'pull_request' | 'tag' | 'schedule' | 'manual' | 'api' | 'other' | 'none';
  /** Says what is special about the environment, if its name does not. */
  note?: string;
  /** The change is from a fork, or may be. */
  fork?: true;
  /** The sources of the variables: headings of `variables.txt`. */
  sources: string[];
  env: Record<string, string>;
  git?: GitFacts;
  eventPayload?: unknown;
  expected: CiContext;
}

/** Facts about a provider for its page: why some fields are never known, and which variables a retry keeps. */
export interface Description {
  name: string;
  retry: string;
  nulls: Record<string, string>;
}

const folder = new URL('../../fixtures/ci/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
export const places = [...providers, 'git'] as const;

const fixturesOf = (place: string) =>
  readdirSync(new URL(`${place}/`, folder))
    .filter((file) => file.endsWith('.json') && file !== 'provider.json')
    .toSorted()
    .map((file): Fixture => ({ ...JSON.parse(read(`${place}/${file}`)), place, name: file.slice(0, -5) }));

export const fixtures = places.flatMap(fixturesOf);
/** Environments of CI systems of which rungate knows only that they are CI, and whether a change is from a fork; without `expected`. */
export const unknownCis = ['appveyor', 'semaphore'].flatMap(fixturesOf);
export const descriptions = Object.fromEntries(
  places.map((place) => [place, JSON.parse(read(`${place}/provider.json`)) as Description]),
);

/** Returns the variables that a provider documents, by source. */
export function lists(place: string): Map<string, string[]> {
  const sections = read(`${place}/variables.txt`).split(/^# /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [source = '', ...names] = section.split('\n');
      return [source, names.filter((name) => name !== '')];
    }),
  );
}

/** Returns a test of whether a name is documented. A documented name that ends in `*` matches every name with this prefix. */
export function documented(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names);
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

export const detect = ({ env, git, eventPayload }: Pick<Fixture, 'env' | 'git' | 'eventPayload'>) =>
  detectCi(env, git, eventPayload === undefined ? undefined : JSON.stringify(eventPayload));

const withTitle = (fixture: Fixture) => [`${fixture.place}/${fixture.name}`, fixture] as const;
export const titled = fixtures.map(withTitle);
export const titledUnknown = unknownCis.map(withTitle);

/** In the fixtures, replaces every commit that a CI system generated or that does not belong to the pull request. */
export const wrongCommit = 'badc0debadc0debadc0debadc0debadc0debadc0';
