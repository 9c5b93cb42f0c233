import type { CiEvent } from '../context.ts';
import type { Reader } from '../provider-env.ts';
import { oneAttempt, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

function eventOf(read: Reader): CiEvent | null {
  const isHook = read.isTrue('SEMAPHORE_WORKFLOW_TRIGGERED_BY_HOOK');
  if (read.isTrue('SEMAPHORE_WORKFLOW_TRIGGERED_BY_MANUAL_RUN')) return 'manual';
  if (read.isTrue('SEMAPHORE_WORKFLOW_TRIGGERED_BY_SCHEDULE')) return 'schedule';
  if (read.isTrue('SEMAPHORE_WORKFLOW_TRIGGERED_BY_API')) return 'api';
  const kind = read.text('SEMAPHORE_GIT_REF_TYPE');
  if (!isHook) return null;
  if (kind === 'branch') return 'push';
  if (kind === 'pull-request') return 'pull_request';
  return kind === 'tag' ? 'tag' : null;
}

/** A workflow has a pipeline for each promotion, and two of them may have jobs of the same name, so the pipeline is the run. */
export const semaphore: ProviderRow = {
  provider: 'semaphore',
  detect: 'SEMAPHORE',
  repository: ['SEMAPHORE_GIT_REPO_SLUG', 'SEMAPHORE_GIT_URL'],
  tag: 'SEMAPHORE_GIT_TAG_NAME',
  ref: 'SEMAPHORE_GIT_BRANCH',
  commitSha: 'SEMAPHORE_GIT_SHA',
  event: eventOf,
  isPullRequest: (read) => read.text('SEMAPHORE_GIT_REF_TYPE') === 'pull-request',
  // In a pull request, SEMAPHORE_GIT_BRANCH is the target branch, and SEMAPHORE_GIT_SHA is the merge commit.
  inPullRequest: {
    ref: 'SEMAPHORE_GIT_PR_BRANCH',
    commitSha: 'SEMAPHORE_GIT_PR_SHA',
    pullRequest: 'SEMAPHORE_GIT_PR_NUMBER',
  },
  buildUrl: (read) =>
    page(read.url('SEMAPHORE_ORGANIZATION_URL'), 'workflows', read.text('SEMAPHORE_WORKFLOW_ID')),
  runId: 'SEMAPHORE_PIPELINE_ID',
  job: 'SEMAPHORE_JOB_NAME',
  jobId: 'SEMAPHORE_JOB_ID',
  attempt: oneAttempt,
  parallel: ['SEMAPHORE_JOB_INDEX', 'SEMAPHORE_JOB_COUNT', 1],
};
