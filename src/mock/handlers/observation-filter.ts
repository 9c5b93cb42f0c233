import type { QueryOutput } from '../../contract/endpoint.ts';
import type { observations } from '../../contract/observations.ts';
import type { Observation } from '../data/observations.ts';

type ListQuery = QueryOutput<(typeof observations)['observations.list']>;

const exact = [
  'status',
  'discoveredInEnvironmentKey',
  'discoveredInEnvironmentVersion',
  'processRunId',
  'createdByAgentTemplateId',
] as const;

/** A date and time without a zone is UTC, wherever the mock runs. */
function timeOf(text: string): number {
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}

/** The filter of a list, all its conditions together; undefined where the query has none. */
export function filterOf(query: ListQuery): ((observation: Observation) => boolean) | undefined {
  const names = exact.filter((name) => query[name] !== undefined);
  const after = query.createdAfter === undefined ? undefined : timeOf(query.createdAfter);
  if (names.length === 0 && after === undefined) return undefined;
  return (observation) =>
    names.every((name) => observation[name] === query[name]) &&
    (after === undefined || Date.parse(observation.createdAt) > after);
}

/** As a search reads text: whatever the case, and however an accented letter is put together. */
const plain = (text: string) => text.normalize('NFKC').toLowerCase();

/** True for an observation that has each of the words in its title or description. */
export function searchOf(text: string): (observation: Observation) => boolean {
  const words = plain(text).split(/\s+/).filter(Boolean);
  return ({ title, description }) => {
    const searched = plain(`${title}\n${description}`);
    return words.every((word) => searched.includes(word));
  };
}
