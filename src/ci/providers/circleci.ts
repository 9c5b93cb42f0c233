import { groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/**
 * A re-run is a new workflow of the same pipeline, with a new CIRCLE_WORKFLOW_ID. It keeps the workspace, whose id is the id of
 * the first workflow. The pipeline's id is not used: two workflows that share it may have jobs of the same name.
 */
export const circleci: ProviderRow = {
  provider: 'circleci',
  detect: 'CIRCLECI',
  repository: (read) => {
    const [owner, name] = [read.text('CIRCLE_PROJECT_USERNAME'), read.text('CIRCLE_PROJECT_REPONAME')];
    const repository = read.repository('CIRCLE_REPOSITORY_URL');
    return repository ?? (owner === null || name === null ? null : `${owner}/${name}`);
  },
  tag: 'CIRCLE_TAG',
  ref: 'CIRCLE_BRANCH',
  commitSha: 'CIRCLE_SHA1',
  // Set only for pull requests from forks. A pull request from the repository itself looks like a push to its branch.
  isPullRequest: (read) => read.text('CIRCLE_PR_NUMBER') !== null,
  pullRequest: (read) =>
    read.text('CIRCLE_PR_NUMBER') ?? groupOf(/\/(\d+)$/, read.text('CIRCLE_PULL_REQUEST')),
  inPullRequest: {
    // The branch of a fork is `pull/12` here; its real name is unknown.
    ref: (read) => {
      const branch = read.ref('CIRCLE_BRANCH');
      return /^pull\/\d+/.test(branch ?? '') ? null : branch;
    },
  },
  buildUrl: (read) => {
    const isCloud = /^https:\/\/(app\.)?circleci\.com\//.test(read.url('CIRCLE_BUILD_URL') ?? '');
    const workflow = read.text('CIRCLE_WORKFLOW_WORKSPACE_ID', 'CIRCLE_WORKFLOW_ID');
    return isCloud ? page('https://app.circleci.com', 'pipelines', 'workflows', workflow) : null;
  },
  runId: ['CIRCLE_WORKFLOW_WORKSPACE_ID', 'CIRCLE_WORKFLOW_ID'],
  job: 'CIRCLE_JOB',
  jobId: ['CIRCLE_WORKFLOW_JOB_ID', 'CIRCLE_BUILD_NUM'],
  // Re-runs are not counted, but the workflow that gave the workspace its id is the first.
  attempt: (read) => {
    const workspace = read.text('CIRCLE_WORKFLOW_WORKSPACE_ID');
    return workspace !== null && workspace === read.text('CIRCLE_WORKFLOW_ID') ? 1 : null;
  },
  parallel: ['CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL', 0],
};
