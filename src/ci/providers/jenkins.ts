import { oneAttempt, type ProviderRow } from '../provider-row.ts';

/** A build that is replayed, rebuilt or restarted from a stage is a new build with a new number. */
export const jenkins: ProviderRow = {
  provider: 'jenkins',
  // The image of an agent sets JENKINS_URL even outside a build.
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
  // From the GitLab plugin: Jenkins itself provides no event.
  events: { PUSH: 'push', TAG_PUSH: 'tag', MERGE: 'pull_request', NOTE: 'pull_request' },
  pullRequest: ['CHANGE_ID', 'ghprbPullId', 'gitlabMergeRequestIid'],
  inPullRequest: {
    ref: ['CHANGE_BRANCH', 'ghprbSourceBranch', 'gitlabSourceBranch'],
    // In a multibranch pull request, GIT_COMMIT is the head or a merge commit, depending on the configuration of the job. If
    // the job builds both, the branch name of the head ends in `-head`.
    commitSha: (read) =>
      read.sha('ghprbActualCommit', 'gitlabMergeRequestLastCommit') ??
      (read.text('BRANCH_NAME')?.endsWith('-head') === true ? read.sha('GIT_COMMIT') : null),
  },
  buildUrl: 'BUILD_URL',
  // Two servers may have jobs of the same name, but their URLs differ.
  runId: (read) => read.url('BUILD_URL') ?? read.text('BUILD_TAG'),
  job: 'JOB_NAME',
  step: 'STAGE_NAME',
  attempt: oneAttempt,
  temporaryFolder: 'WORKSPACE_TMP',
};
