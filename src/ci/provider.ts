import type { CiContext, GitFacts } from './context.ts';

/** Stands in until the detection table is here: no CI is known, and git says what it knows. */
export function detectCi(
  _env: Readonly<Record<string, string | undefined>>,
  git?: GitFacts,
  _eventPayload?: string,
): CiContext {
  return {
    provider: null,
    repository: null,
    ref: git?.branch ?? null,
    commitSha: git?.commit ?? null,
    event: null,
    rawEvent: null,
    pullRequest: null,
    buildUrl: null,
    runId: null,
    job: null,
    jobId: null,
    step: null,
    attempt: null,
    matrix: null,
    parallelIndex: null,
    parallelTotal: null,
    temporaryFolder: null,
    variables: [],
  };
}
