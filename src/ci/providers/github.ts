import { cleanRef, cleanSha, cleanText } from '../provider-env.ts';
import { groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/**
 * In a pull request, GITHUB_SHA is the merge commit that GitHub generated (`pull_request`) or the base
 * (`pull_request_target`). Only the event's payload contains the head; without the payload the commit is null, not wrong.
 */
export const github: ProviderRow = {
  provider: 'github',
  detect: 'GITHUB_ACTIONS',
  repository: 'GITHUB_REPOSITORY',
  tag: (read) => groupOf(/^refs\/tags\/(.+)$/, read.text('GITHUB_REF')),
  ref: 'GITHUB_REF',
  commitSha: 'GITHUB_SHA',
  rawEvent: 'GITHUB_EVENT_NAME',
  events: {
    push: 'push',
    create: 'push',
    pull_request: 'pull_request',
    pull_request_target: 'pull_request',
    pull_request_review: 'pull_request',
    pull_request_review_comment: 'pull_request',
    schedule: 'schedule',
    workflow_dispatch: 'manual',
    repository_dispatch: 'api',
  },
  isPullRequest: (read) =>
    read.text('GITHUB_EVENT_NAME')?.startsWith('pull_request') === true ||
    read.text('GITHUB_REF')?.startsWith('refs/pull/') === true,
  inPullRequest: {
    ref: (read) => read.ref('GITHUB_HEAD_REF') ?? cleanRef(read.payload('pull_request', 'head', 'ref')),
    commitSha: (read) => cleanSha(read.payload('pull_request', 'head', 'sha')),
    pullRequest: (read) => {
      const number = read.payload('pull_request', 'number');
      const ofRef = groupOf(/^refs\/pull\/(\d+)\//, read.text('GITHUB_REF'));
      return ofRef ?? (typeof number === 'number' ? cleanText(String(number)) : null);
    },
  },
  buildUrl: (read) =>
    page(
      read.url('GITHUB_SERVER_URL'),
      read.repository('GITHUB_REPOSITORY'),
      'actions',
      'runs',
      read.text('GITHUB_RUN_ID'),
    ),
  runId: 'GITHUB_RUN_ID',
  job: 'GITHUB_JOB',
  // Unique within the job: `__run`, `__run_2`, or the id of the step.
  step: 'GITHUB_ACTION',
  attempt: 'GITHUB_RUN_ATTEMPT',
  temporaryFolder: 'RUNNER_TEMP',
};
