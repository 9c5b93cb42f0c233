import type { CiEvent } from '../context.ts';
import { eventOf, type ProviderRow } from '../provider-row.ts';

const words = {
  push: 'push',
  pull_request: 'pull_request',
  pull_request_closed: 'pull_request',
  pull_request_metadata: 'pull_request',
  tag: 'tag',
  cron: 'schedule',
  manual: 'manual',
} satisfies Record<string, CiEvent>;

/**
 * A restarted pipeline has a new number, and its parent's: it is another run. CI_PIPELINE_RERUNS counts restarts over
 * all those runs, so that it is no attempt at any of them.
 */
export const woodpecker = {
  provider: 'woodpecker',
  detect: (read) => read.text('CI') === 'woodpecker' || read.text('CI_SYSTEM_NAME') === 'woodpecker',
  facts: (read) => {
    const rawEvent = read.text('CI_PIPELINE_EVENT');
    const pullRequest = read.text('CI_COMMIT_PULL_REQUEST');
    return {
      repository: read.repository('CI_REPO'),
      // CI_COMMIT_BRANCH of a pull request is the branch that it goes to.
      ref:
        pullRequest !== null
          ? read.ref('CI_COMMIT_SOURCE_BRANCH')
          : (read.ref('CI_COMMIT_TAG') ?? read.ref('CI_COMMIT_BRANCH')),
      commitSha: read.sha('CI_COMMIT_SHA'),
      event: eventOf(words, rawEvent),
      rawEvent,
      pullRequest,
      buildUrl: read.url('CI_PIPELINE_URL'),
      runId: read.text('CI_PIPELINE_NUMBER'),
      job: read.text('CI_WORKFLOW_NAME'),
      jobId: null,
      step: read.text('CI_STEP_NAME'),
      attempt: null,
      // The cells of a matrix are workflows of one name, each with its number.
      matrix: read.text('CI_WORKFLOW_NUMBER'),
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
