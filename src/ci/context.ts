/** The CI systems that rungate recognises, as reports and idempotency keys name them. */
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
] as const;
export type Provider = (typeof providers)[number];

/** The CI job that rungate runs in. Facts that the CI does not provide are null: nothing is guessed. */
export interface CiContext {
  /** Null outside a known CI; the other facts then come from git, if there is a repository. */
  readonly provider: Provider | null;
  /** `owner/name`, without host and credentials. */
  readonly repository: string | null;
  /** Branch or tag, without `refs/heads/` or `refs/tags/`. */
  readonly ref: string | null;
  /** The commit under test: in a pull request its head, not the merge commit that the CI generates. */
  readonly commitSha: string | null;
  /** The CI's own name for the cause of the pipeline; `tag` or `pull_request` if it has none. */
  readonly event: string | null;
  /** URL of the pipeline, the same in every re-run of the job. */
  readonly buildUrl: string | null;
  /** Id of the pipeline, the same in every re-run of the job. */
  readonly runId: string | null;
  /** Name of the job within the pipeline. */
  readonly job: string | null;
  /** Number of the job, different in every re-run; null if the CI does not number jobs. */
  readonly jobId: string | null;
  /** Name of the step, if the CI provides one. */
  readonly step: string | null;
  /** 1, or more in a re-run of the job; null if the CI does not count them. */
  readonly attempt: number | null;
  /** Cell of a matrix, as text that differs between cells; null if the CI does not provide it. */
  readonly matrix: string | null;
  /** The position among parallel jobs, counted from 0. */
  readonly parallelIndex: number | null;
  /** A folder that is removed when the job ends. */
  readonly temporaryFolder: string | null;
  /** The variables that these facts come from. */
  readonly variables: readonly string[];
}

/** Facts about the working copy from git; null if unknown. */
export interface GitFacts {
  /** URL of `origin`. */
  readonly remote: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
}

/** Returns the fields of a create request that describe the pipeline; null if unknown. */
export function runFacts(ci: CiContext) {
  const { repository, ref, commitSha, event, buildUrl } = ci;
  return { repository, ref, commitSha, event, externalUrl: buildUrl };
}
