import type { CiEvent } from '../context.ts';
import { eventOf, type ProviderRow, parallel } from '../provider-row.ts';

const words = {
  webhook: 'push',
  schedule: 'schedule',
  ui: 'manual',
  api: 'api',
} satisfies Record<string, CiEvent>;

export const buildkite = {
  provider: 'buildkite',
  detect: (read) => read.isTrue('BUILDKITE'),
  facts: (read) => {
    const rawEvent = read.text('BUILDKITE_SOURCE');
    const said = read.text('BUILDKITE_PULL_REQUEST');
    const pullRequest = said === 'false' ? null : said;
    const tag = read.ref('BUILDKITE_TAG');
    const event = eventOf(words, rawEvent);
    const retries = read.count('BUILDKITE_RETRY_COUNT');
    return {
      repository: read.repository('BUILDKITE_REPO'),
      ref: tag ?? read.ref('BUILDKITE_BRANCH'),
      // The head of a pull request, even where the agent checks out its merge. `HEAD` until it is resolved: no commit.
      commitSha: read.sha('BUILDKITE_COMMIT'),
      event: event !== 'push' ? event : pullRequest !== null ? 'pull_request' : tag !== null ? 'tag' : 'push',
      rawEvent,
      pullRequest,
      buildUrl: read.url('BUILDKITE_BUILD_URL'),
      runId: read.text('BUILDKITE_BUILD_ID'),
      job: read.text('BUILDKITE_LABEL'),
      jobId: read.text('BUILDKITE_JOB_ID'),
      step: read.text('BUILDKITE_STEP_KEY') ?? read.text('BUILDKITE_STEP_ID'),
      attempt: retries === null ? null : retries + 1,
      matrix: null,
      ...parallel(read.count('BUILDKITE_PARALLEL_JOB'), read.count('BUILDKITE_PARALLEL_JOB_COUNT'), 0),
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
