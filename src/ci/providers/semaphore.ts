import type { CiEvent } from '../context.ts';
import { type ProviderRow, parallel } from '../provider-row.ts';
import { page } from '../provider-url.ts';

const hooks = {
  branch: 'push',
  tag: 'tag',
  'pull-request': 'pull_request',
} as const satisfies Record<string, CiEvent>;

const causes = {
  SEMAPHORE_WORKFLOW_TRIGGERED_BY_MANUAL_RUN: 'manual',
  SEMAPHORE_WORKFLOW_TRIGGERED_BY_SCHEDULE: 'schedule',
  SEMAPHORE_WORKFLOW_TRIGGERED_BY_API: 'api',
} as const satisfies Record<string, CiEvent>;

/** A workflow has a pipeline per promotion, in which jobs of one name may come again: the pipeline is the run. */
export const semaphore = {
  provider: 'semaphore',
  detect: (read) => read.isTrue('SEMAPHORE'),
  facts: (read) => {
    const kind = read.text('SEMAPHORE_GIT_REF_TYPE');
    const isPull = kind === 'pull-request';
    const hook = kind !== null && Object.hasOwn(hooks, kind) ? hooks[kind as keyof typeof hooks] : null;
    const isHook = read.isTrue('SEMAPHORE_WORKFLOW_TRIGGERED_BY_HOOK');
    const cause = Object.entries(causes).find(([name]) => read.isTrue(name))?.[1] ?? null;
    return {
      repository: read.repository('SEMAPHORE_GIT_REPO_SLUG') ?? read.repository('SEMAPHORE_GIT_URL'),
      // SEMAPHORE_GIT_BRANCH of a pull request is the branch that it goes to, SEMAPHORE_GIT_SHA the merge.
      ref: isPull
        ? read.ref('SEMAPHORE_GIT_PR_BRANCH')
        : (read.ref('SEMAPHORE_GIT_TAG_NAME') ?? read.ref('SEMAPHORE_GIT_BRANCH')),
      commitSha: isPull ? read.sha('SEMAPHORE_GIT_PR_SHA') : read.sha('SEMAPHORE_GIT_SHA'),
      event: cause ?? (isHook ? hook : null),
      rawEvent: null,
      pullRequest: isPull ? read.text('SEMAPHORE_GIT_PR_NUMBER') : null,
      buildUrl: page(read.url('SEMAPHORE_ORGANIZATION_URL'), 'workflows', read.text('SEMAPHORE_WORKFLOW_ID')),
      runId: read.text('SEMAPHORE_PIPELINE_ID'),
      job: read.text('SEMAPHORE_JOB_NAME'),
      jobId: read.text('SEMAPHORE_JOB_ID'),
      step: null,
      attempt: null,
      matrix: null,
      ...parallel(read.count('SEMAPHORE_JOB_INDEX'), read.count('SEMAPHORE_JOB_COUNT'), 1),
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
