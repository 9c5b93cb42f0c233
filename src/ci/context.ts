/** The CIs that are told apart, by the words that reports and journals use for them. */
export const providers = [
  'github',
  'gitlab',
  'circleci',
  'jenkins',
  'azure',
  'bitbucket',
  'buildkite',
  'teamcity',
  'travis',
  'drone',
  'woodpecker',
  'codebuild',
  'cloudbuild',
  'semaphore',
  'appveyor',
] as const;
export type Provider = (typeof providers)[number];

/** What set the pipeline off, in one word for all CIs. */
export type CiEvent = 'push' | 'pull_request' | 'tag' | 'schedule' | 'manual' | 'api' | 'other';

/** Where and for what we are running. What a CI does not say is null: nothing is guessed. */
export interface CiContext {
  /** Null outside any CI that is known: then the rest comes from git alone, if there is a repository. */
  readonly provider: Provider | null;
  /** `owner/name`, without host and credentials. */
  readonly repository: string | null;
  /** Branch or tag, without `refs/heads/` or `refs/tags/`. */
  readonly ref: string | null;
  /** The commit that somebody wrote: of a pull request its head, not the merge that the CI made up. */
  readonly commitSha: string | null;
  readonly event: CiEvent | null;
  /** The event in the CI's own word, where it has one. */
  readonly rawEvent: string | null;
  /** Number of the pull request. */
  readonly pullRequest: string | null;
  /** URL of the pipeline's run: the same in every attempt of it. */
  readonly buildUrl: string | null;
  /** Identity of the pipeline's run: the same in every attempt of it. */
  readonly runId: string | null;
  /** Name of the job within the pipeline. */
  readonly job: string | null;
  /** The job's own number, another one in every attempt, where the CI numbers jobs. */
  readonly jobId: string | null;
  /** Name of the step, where the CI names one. */
  readonly step: string | null;
  /** 1 for the first; null where the CI does not count attempts. */
  readonly attempt: number | null;
  /** Position in a matrix, as text that differs from cell to cell; null where the CI does not say. */
  readonly matrix: string | null;
  /** 0-based, of `parallelTotal`. */
  readonly parallelIndex: number | null;
  readonly parallelTotal: number | null;
  /** A folder that lives as long as the job. */
  readonly temporaryFolder: string | null;
  /** The variables that it was all read from. */
  readonly variables: readonly string[];
}

/** What git says about the working copy; null where it says nothing. */
export interface GitFacts {
  /** URL of `origin`. */
  readonly remote: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
}

/** What a create request says of the pipeline that asks for it (interface, section 2.5); null where nothing is known. */
export function runFacts(ci: CiContext) {
  const { repository, ref, commitSha } = ci;
  return { repository, ref, commitSha, event: ci.rawEvent ?? ci.event, externalUrl: ci.buildUrl };
}
