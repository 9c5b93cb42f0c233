import type { TriggerBody } from '../contract/run.ts';
import type { RunSubject } from './result-types.ts';

/** Returns the subject of a run that another command started, with the name that the user gives it, if any. */
export const named = (name: string | null = null): RunSubject => ({
  name,
  project: null,
  process: null,
  tags: null,
});

export function subjectOf({ projectSlug, processSlug, tags }: TriggerBody): RunSubject {
  return {
    name: `${projectSlug} / ${processSlug ?? tags?.join(', ')}`,
    project: projectSlug,
    process: processSlug ?? null,
    tags: tags ?? null,
  };
}
