import { type ProviderRow, parallel } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/** Bitbucket's steps are what others call jobs. They have no name here, but an id: a retried step is run number 2. */
export const bitbucket = {
  provider: 'bitbucket',
  detect: (read) => read.text('BITBUCKET_BUILD_NUMBER') !== null && read.text('BITBUCKET_COMMIT') !== null,
  facts: (read) => {
    const pullRequest = read.text('BITBUCKET_PR_ID');
    const tag = read.ref('BITBUCKET_TAG');
    const repository = read.repository('BITBUCKET_REPO_FULL_NAME');
    const number = read.text('BITBUCKET_BUILD_NUMBER');
    return {
      repository,
      ref: tag ?? read.ref('BITBUCKET_BRANCH'),
      // Of a pull request the head, abbreviated to 12 digits: the merge with its destination is made in the container.
      commitSha: read.sha('BITBUCKET_COMMIT'),
      event: pullRequest !== null ? 'pull_request' : tag !== null ? 'tag' : null,
      rawEvent: null,
      pullRequest,
      buildUrl: page('https://bitbucket.org', repository, 'pipelines', 'results', number),
      runId: read.text('BITBUCKET_PIPELINE_UUID') ?? number,
      job: null,
      jobId: null,
      step: read.text('BITBUCKET_STEP_UUID'),
      attempt: read.count('BITBUCKET_STEP_RUN_NUMBER'),
      matrix: null,
      ...parallel(read.count('BITBUCKET_PARALLEL_STEP'), read.count('BITBUCKET_PARALLEL_STEP_COUNT'), 0),
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
