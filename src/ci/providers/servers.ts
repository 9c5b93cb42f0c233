import { cleanRef, groupOf, oneAttempt, type ProviderRow } from '../provider-row.ts';
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
  pull: 'CIRCLE_PR_NUMBER',
  inPull: {
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

/** Returns the branch or tag in CODEBUILD_SOURCE_VERSION, which may also be a commit, a pull request or an S3 object. */
function refOf(version: string | null): string | null {
  const name = version?.replace(/\^\{[0-9a-f]+\}$/, '') ?? null;
  return name === null || /^(arn:|pr\/|[0-9a-f]{40}$)/.test(name) ? null : cleanRef(name);
}

/** Returns the page of a build in the console; null in China and GovCloud, which have other consoles. */
function consoleUrl(arn: string | null): string | null {
  const [, region, account, project, id] =
    /^arn:aws:codebuild:([\w-]+):(\d+):build\/([^:]+):(.+)$/.exec(arn ?? '') ?? [];
  if (region === undefined || account === undefined || project === undefined || id === undefined) return null;
  const base = `https://${region}.console.aws.amazon.com/codesuite/codebuild`;
  return page(base, account, 'projects', project, 'build', `${project}:${id}`);
}

/** A re-run build has a new id and counts as a new run. */
export const codebuild: ProviderRow = {
  provider: 'codebuild',
  detect: (read) => read.text('CODEBUILD_BUILD_ID') !== null && read.text('CODEBUILD_BUILD_ARN') !== null,
  repository: 'CODEBUILD_SOURCE_REPO_URL',
  tag: (read) => groupOf(/^tag\/(.+)$/, read.text('CODEBUILD_WEBHOOK_TRIGGER')),
  ref: (read) => read.ref('CODEBUILD_WEBHOOK_HEAD_REF') ?? refOf(read.text('CODEBUILD_SOURCE_VERSION')),
  // In a pull request this is the head: CodeBuild does not merge.
  commitSha: 'CODEBUILD_RESOLVED_SOURCE_VERSION',
  event: 'CODEBUILD_WEBHOOK_EVENT',
  pull: (read) =>
    groupOf(/^pr\/(\d+)$/, read.text('CODEBUILD_WEBHOOK_TRIGGER')) ??
    groupOf(/^pr\/(\d+)$/, read.text('CODEBUILD_SOURCE_VERSION')),
  buildUrl: (read) => read.url('CODEBUILD_PUBLIC_BUILD_URL') ?? consoleUrl(read.text('CODEBUILD_BUILD_ARN')),
  runId: 'CODEBUILD_BUILD_ID',
  job: 'CODEBUILD_BATCH_BUILD_IDENTIFIER',
  attempt: oneAttempt,
};

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
  // From the GitLab plugin: Jenkins itself provides no event.
  event: 'gitlabActionType',
  pull: ['CHANGE_ID', 'ghprbPullId', 'gitlabMergeRequestIid'],
  inPull: {
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
