import { groupOf, type ProviderRow, parallel } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/**
 * A re-run is a new workflow of the same pipeline, with a new CIRCLE_WORKFLOW_ID. What stays is the workspace, whose
 * id is that of the first workflow; a pipeline's id would be shared by all its workflows, and so by two jobs of a name.
 */
export const circleci = {
  provider: 'circleci',
  detect: (read) => read.isTrue('CIRCLECI'),
  facts: (read) => {
    const runId = read.text('CIRCLE_WORKFLOW_WORKSPACE_ID') ?? read.text('CIRCLE_WORKFLOW_ID');
    const [owner, name] = [read.text('CIRCLE_PROJECT_USERNAME'), read.text('CIRCLE_PROJECT_REPONAME')];
    const tag = read.ref('CIRCLE_TAG');
    const branch = read.ref('CIRCLE_BRANCH');
    // Set for pull requests from forks alone; one from the repository itself is a push to its branch.
    const fork = read.text('CIRCLE_PR_NUMBER');
    const buildUrl = read.url('CIRCLE_BUILD_URL');
    const isCloud = buildUrl !== null && /^https:\/\/(app\.)?circleci\.com\//.test(buildUrl);
    return {
      repository:
        read.repository('CIRCLE_REPOSITORY_URL') ??
        (owner === null || name === null ? null : `${owner}/${name}`),
      // A fork's branch is `pull/12` here: its own name is not known.
      ref: tag ?? (fork !== null && /^pull\/\d+/.test(branch ?? '') ? null : branch),
      commitSha: read.sha('CIRCLE_SHA1'),
      event: fork !== null ? 'pull_request' : tag !== null ? 'tag' : null,
      rawEvent: null,
      pullRequest: fork ?? groupOf(/\/(\d+)$/, read.text('CIRCLE_PULL_REQUEST')),
      buildUrl: page(isCloud ? 'https://app.circleci.com' : null, 'pipelines', 'workflows', runId),
      runId,
      job: read.text('CIRCLE_JOB'),
      jobId: read.text('CIRCLE_WORKFLOW_JOB_ID') ?? read.text('CIRCLE_BUILD_NUM'),
      step: null,
      attempt: null,
      matrix: null,
      ...parallel(read.count('CIRCLE_NODE_INDEX'), read.count('CIRCLE_NODE_TOTAL'), 0),
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
