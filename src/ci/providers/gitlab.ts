import type { CiEvent } from '../context.ts';
import { eventOf, type ProviderRow, parallel } from '../provider-row.ts';

const words = {
  push: 'push',
  merge_request_event: 'pull_request',
  external_pull_request_event: 'pull_request',
  schedule: 'schedule',
  web: 'manual',
  webide: 'manual',
  chat: 'manual',
  api: 'api',
  trigger: 'api',
} satisfies Record<string, CiEvent>;

/** The cell that `parallel: matrix` puts at the end of a job's name: `test: [a, b]`. */
function cellOf(job: string | null): string | null {
  const start = job?.indexOf(': [') ?? -1;
  return (start >= 0 && job?.endsWith(']') && job.slice(start + 3, -1)) || null;
}

/** A retried job keeps its pipeline and has a number of its own: GitLab numbers jobs and counts no attempts. */
export const gitlab = {
  provider: 'gitlab',
  detect: (read) => read.isTrue('GITLAB_CI'),
  facts: (read) => {
    const rawEvent = read.text('CI_PIPELINE_SOURCE');
    const mergeRequest = read.text('CI_MERGE_REQUEST_IID');
    const external = read.text('CI_EXTERNAL_PULL_REQUEST_IID');
    const tag = read.ref('CI_COMMIT_TAG');
    const job = read.text('CI_JOB_NAME');

    // CI_COMMIT_SHA is the merge that GitLab made up where the pipeline is for merged results or a merge train.
    const isMerge =
      mergeRequest !== null && !['detached', null].includes(read.text('CI_MERGE_REQUEST_EVENT_TYPE'));
    const head =
      mergeRequest !== null
        ? read.sha('CI_MERGE_REQUEST_SOURCE_BRANCH_SHA')
        : external !== null
          ? read.sha('CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA')
          : null;
    const branch =
      mergeRequest !== null
        ? read.ref('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME')
        : external !== null
          ? read.ref('CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME')
          : (tag ?? read.ref('CI_COMMIT_REF_NAME'));
    return {
      repository: read.repository('CI_PROJECT_PATH'),
      ref: branch,
      commitSha: head ?? (isMerge ? null : read.sha('CI_COMMIT_SHA')),
      event: rawEvent === 'push' && tag !== null ? 'tag' : eventOf(words, rawEvent),
      rawEvent,
      pullRequest: mergeRequest ?? external,
      buildUrl: read.url('CI_PIPELINE_URL'),
      runId: read.text('CI_PIPELINE_ID'),
      job,
      jobId: read.text('CI_JOB_ID'),
      step: null,
      attempt: null,
      matrix: cellOf(job),
      ...parallel(read.count('CI_NODE_INDEX'), read.count('CI_NODE_TOTAL'), 1),
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
