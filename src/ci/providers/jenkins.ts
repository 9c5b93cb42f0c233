import type { ProviderRow } from '../provider-row.ts';

/** A build keeps its number: replayed, rebuilt or restarted from a stage it is another build. */
export const jenkins: ProviderRow = {
  provider: 'jenkins',
  // JENKINS_URL alone is set in the image of agents, without any build.
  detect: (read) =>
    (read.text('JENKINS_URL') !== null || read.text('BUILD_TAG')?.startsWith('jenkins-') === true) &&
    read.text('BUILD_NUMBER') !== null &&
    read.text('JOB_NAME') !== null,
  repository: ['GIT_URL', 'ghprbGhRepository'],
  tag: 'TAG_NAME',
  ref: (read) => {
    const branch = read.ref('BRANCH_NAME', 'GIT_LOCAL_BRANCH', 'GIT_BRANCH');
    return branch === 'detached' ? null : (branch?.replace(/^origin\//, '') ?? null);
  },
  commitSha: ['ghprbActualCommit', 'gitlabMergeRequestLastCommit', 'GIT_COMMIT'],
  rawEvent: 'gitlabActionType',
  // Of the GitLab plugin: Jenkins itself does not name an event.
  events: { PUSH: 'push', TAG_PUSH: 'tag', MERGE: 'pull_request', NOTE: 'pull_request' },
  pullRequest: ['CHANGE_ID', 'ghprbPullId', 'gitlabMergeRequestIid'],
  inPullRequest: {
    ref: ['CHANGE_BRANCH', 'ghprbSourceBranch', 'gitlabSourceBranch'],
    // GIT_COMMIT of a multibranch pull request is its head or a merge commit, as the job is configured. The name of the
    // branch ends in `-head` if the job builds both.
    commitSha: (read) =>
      read.sha('ghprbActualCommit', 'gitlabMergeRequestLastCommit') ??
      (read.text('BRANCH_NAME')?.endsWith('-head') === true ? read.sha('GIT_COMMIT') : null),
  },
  buildUrl: 'BUILD_URL',
  // Two servers may have jobs of one name: the URL tells them apart.
  runId: (read) => read.url('BUILD_URL') ?? read.text('BUILD_TAG'),
  job: 'JOB_NAME',
  step: 'STAGE_NAME',
  temporaryFolder: 'WORKSPACE_TMP',
};
