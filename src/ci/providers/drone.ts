import type { CiEvent } from '../context.ts';
import { eventOf, type ProviderRow } from '../provider-row.ts';

const words = {
  push: 'push',
  pull_request: 'pull_request',
  tag: 'tag',
  cron: 'schedule',
  custom: 'manual',
} satisfies Record<string, CiEvent>;

/** A restarted build has a new number: it is another run. */
export const drone = {
  provider: 'drone',
  detect: (read) => read.isTrue('DRONE'),
  facts: (read) => {
    const rawEvent = read.text('DRONE_BUILD_EVENT');
    const pullRequest = read.text('DRONE_PULL_REQUEST');
    return {
      repository: read.repository('DRONE_REPO'),
      // DRONE_BRANCH of a pull request is the branch that it goes to.
      ref:
        pullRequest !== null
          ? read.ref('DRONE_SOURCE_BRANCH')
          : (read.ref('DRONE_TAG') ?? read.ref('DRONE_BRANCH')),
      commitSha: read.sha('DRONE_COMMIT_SHA'),
      event: eventOf(words, rawEvent),
      rawEvent,
      pullRequest,
      buildUrl: read.url('DRONE_BUILD_LINK'),
      runId: read.text('DRONE_BUILD_NUMBER'),
      job: read.text('DRONE_STAGE_NAME'),
      jobId: null,
      step: read.text('DRONE_STEP_NAME'),
      attempt: null,
      matrix: null,
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
