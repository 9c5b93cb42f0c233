import type { Reader } from '../provider-env.ts';
import type { ProviderRow } from '../provider-row.ts';

/** Returns the matrix cell that `parallel: matrix` appends to a job's name: `test: [a, b]`. */
function cellOf(job: string | null): string | null {
  const start = job?.indexOf(': [') ?? -1;
  return (start >= 0 && job?.endsWith(']') && job.slice(start + 3, -1)) || null;
}

/** Returns whether the pipeline is for merged results or a merge train, where CI_COMMIT_SHA is a generated merge commit. */
function isMerge(read: Reader): boolean {
  return (
    read.text('CI_MERGE_REQUEST_IID') !== null &&
    !['detached', null].includes(read.text('CI_MERGE_REQUEST_EVENT_TYPE'))
  );
}

/** A retried job has the same pipeline and a new job number: GitLab numbers jobs but does not count attempts. */
export const gitlab: ProviderRow = {
  provider: 'gitlab',
  detect: 'GITLAB_CI',
  repository: 'CI_PROJECT_PATH',
  tag: 'CI_COMMIT_TAG',
  ref: 'CI_COMMIT_REF_NAME',
  commitSha: 'CI_COMMIT_SHA',
  rawEvent: 'CI_PIPELINE_SOURCE',
  events: {
    push: 'push',
    merge_request_event: 'pull_request',
    external_pull_request_event: 'pull_request',
    schedule: 'schedule',
    web: 'manual',
    webide: 'manual',
    chat: 'manual',
    api: 'api',
    trigger: 'api',
  },
  pullRequest: ['CI_MERGE_REQUEST_IID', 'CI_EXTERNAL_PULL_REQUEST_IID'],
  inPullRequest: {
    ref: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME'],
    commitSha: (read) => {
      const fallback = isMerge(read) ? [] : ['CI_COMMIT_SHA'];
      return read.sha(
        'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA',
        'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA',
        ...fallback,
      );
    },
  },
  buildUrl: 'CI_PIPELINE_URL',
  runId: 'CI_PIPELINE_ID',
  job: 'CI_JOB_NAME',
  jobId: 'CI_JOB_ID',
  matrix: (read) => cellOf(read.text('CI_JOB_NAME')),
  parallel: ['CI_NODE_INDEX', 'CI_NODE_TOTAL', 1],
};
