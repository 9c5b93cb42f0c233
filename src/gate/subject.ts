import type { TriggerBody } from '../contract/run.ts';

/** The subject of a run: the project and the process or tags that it tests. Unknown facts are null. */
export interface RunSubject {
  /** A name for reports that stays the same from build to build: `shop / checkout`, `shop / smoke, nightly`, or the user's name. */
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug; null for a run that was started by tags. */
  process: string | null;
  tags: readonly string[] | null;
}

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
