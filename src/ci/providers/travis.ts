import type { CiEvent } from '../context.ts';
import { eventOf, groupOf, type ProviderRow } from '../provider-row.ts';

const words = {
  push: 'push',
  pull_request: 'pull_request',
  cron: 'schedule',
  api: 'api',
} satisfies Record<string, CiEvent>;

/** A restarted job keeps its number and id, and says that it was restarted, but not how often. */
export const travis = {
  provider: 'travis',
  detect: (read) => read.isTrue('TRAVIS'),
  facts: (read) => {
    const rawEvent = read.text('TRAVIS_EVENT_TYPE');
    const said = read.text('TRAVIS_PULL_REQUEST');
    const pullRequest = said === 'false' ? null : said;
    const isPull = pullRequest !== null;
    const tag = read.ref('TRAVIS_TAG');
    return {
      repository: read.repository('TRAVIS_REPO_SLUG'),
      // TRAVIS_BRANCH of a pull request is the branch that it goes to, TRAVIS_COMMIT the merge.
      ref: isPull ? read.ref('TRAVIS_PULL_REQUEST_BRANCH') : (tag ?? read.ref('TRAVIS_BRANCH')),
      commitSha: isPull ? read.sha('TRAVIS_PULL_REQUEST_SHA') : read.sha('TRAVIS_COMMIT'),
      event: rawEvent === 'push' && tag !== null ? 'tag' : eventOf(words, rawEvent),
      rawEvent,
      pullRequest,
      buildUrl: read.url('TRAVIS_BUILD_WEB_URL'),
      runId: read.text('TRAVIS_BUILD_ID'),
      job: read.text('TRAVIS_JOB_NAME'),
      jobId: null,
      step: null,
      attempt: null,
      // Job 4.2 is the second of build 4.
      matrix: groupOf(/\.(\d+)$/, read.text('TRAVIS_JOB_NUMBER')),
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
