import type { TriggerBody } from '../contract/run.ts';

/** What a run is a run of. What is not known is null. */
export interface RunSubject {
  /** The same from build to build, for reports: `shop / checkout`, `shop / smoke, nightly`, or what the user calls the run. */
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug; null of a run that was started by tags. */
  process: string | null;
  tags: readonly string[] | null;
}

/** The subject of a run that was not started here, by the name that the user gives it, if any. */
export const named = (name: string | null = null): RunSubject => ({
  name,
  project: null,
  process: null,
  tags: null,
});

/** The subject of a run that this request starts. */
export function subjectOf({ projectSlug, processSlug, tags }: TriggerBody): RunSubject {
  return {
    name: `${projectSlug} / ${processSlug ?? tags?.join(', ')}`,
    project: projectSlug,
    process: processSlug ?? null,
    tags: tags ?? null,
  };
}
