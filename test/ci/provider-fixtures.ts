import { readdirSync, readFileSync } from 'node:fs';
import { type CiContext, type CiEvent, type GitFacts, providers } from '../../src/ci/context.ts';
import { detectCi } from '../../src/ci/provider.ts';

export interface Fixture {
  place: string;
  name: string;
  /** What really set the pipeline off, whether its variables say so or not. */
  event: CiEvent | 'none';
  note: string;
  /** The change is from a fork, or may be. */
  fork?: true;
  /** Where the variables come from: headings of `variables.txt`. */
  sources: string[];
  env: Record<string, string>;
  git?: GitFacts;
  eventPayload?: unknown;
  expected: CiContext;
}

/** What is told of a provider beside its environments: what it never says and why, and what a retry keeps. */
export interface Description {
  name: string;
  retry: string;
  nulls: Record<string, string>;
}

const folder = new URL('../../fixtures/ci/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
export const places = [...providers, 'git'] as const;

export const fixtures = places.flatMap((place) =>
  readdirSync(new URL(`${place}/`, folder))
    .filter((file) => file.endsWith('.json') && file !== 'provider.json')
    .toSorted()
    .map((file): Fixture => ({ ...JSON.parse(read(`${place}/${file}`)), place, name: file.slice(0, -5) })),
);
export const descriptions = Object.fromEntries(
  places.map((place) => [place, JSON.parse(read(`${place}/provider.json`)) as Description]),
);

/** The names of a provider's list, by where they come from. */
export function lists(place: string): Map<string, string[]> {
  const sections = read(`${place}/variables.txt`).split(/^# /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [source = '', ...names] = section.split('\n');
      return [source, names.filter((name) => name !== '')];
    }),
  );
}

/** Whether a name is in one of these lists; one that ends in `*` stands for all that begin so. */
export function documented(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names);
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

export const detect = ({ env, git, eventPayload }: Pick<Fixture, 'env' | 'git' | 'eventPayload'>) =>
  detectCi(env, git, eventPayload === undefined ? undefined : JSON.stringify(eventPayload));

export const titled = fixtures.map((fixture) => [`${fixture.place}/${fixture.name}`, fixture] as const);

/** Stands in the fixtures for every commit that a CI made up, or that is not of the pull request. */
export const madeUp = 'badc0debadc0debadc0debadc0debadc0debadc0';
