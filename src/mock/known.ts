import type { TriggerBody } from '../contract/run.ts';
import { nearest } from '../suggest.ts';
import type { Account } from './data/account.ts';

/** A project or an environment of a create request that the account does not have. */
export interface UnknownName {
  readonly field: 'projectSlug' | 'environmentKey';
  readonly kind: 'project' | 'environment';
  readonly label: 'slug' | 'key';
  readonly name: string;
  /** The name that was probably meant, or null. */
  readonly near: string | null;
}

/** Returns the names of a create request that the account does not have. Processes and tags have no endpoints, so any exists. */
export function unknownNames({ projects, environments }: Account, body: TriggerBody): UnknownName[] {
  const { projectSlug, environmentKey = null } = body;
  const keys = [...environments.values()].map(({ key }) => key);
  const parts = [
    { field: 'projectSlug', kind: 'project', label: 'slug', name: projectSlug, known: [...projects.keys()] },
    { field: 'environmentKey', kind: 'environment', label: 'key', name: environmentKey, known: keys },
  ] as const;
  return parts.flatMap(({ known, ...part }) => {
    const names = known.filter((one) => one !== null);
    const { name } = part;
    return name === null || names.includes(name) ? [] : { ...part, name, near: nearest(name, names) };
  });
}
