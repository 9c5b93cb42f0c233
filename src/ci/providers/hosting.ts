import { cleanRef, cleanSha, cleanText, groupOf, type ProviderRow, type Reader } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/** Returns the branch or tag of a GitHub deployment. The `ref` of a deployment may also be a commit, as with Vercel: then null. */
function deployedRef(read: Reader): string | null {
  const ref = cleanRef(read.payload('deployment', 'ref'));
  return cleanSha(ref) === null ? ref : null;
}

/** Whether Vercel sent the event about a deployment. GITHUB_SHA and GITHUB_REF are then those of the default branch. */
function isFromVercel(read: Reader): boolean {
  if (read.text('GITHUB_EVENT_NAME') !== 'repository_dispatch') return false;
  return cleanText(read.payload('action'))?.startsWith('vercel.deployment.') === true;
}

/**
 * Returns the id of the workflow run. nektos/act gives every run the id 1, which identifies nothing. The runners of Gitea and
 * Forgejo are built on it and also set ACT, but have the ids of their server.
 */
function runIdOf(read: Reader): string | null {
  const isAct = read.text('ACT') === 'true' && read.text('GITEA_ACTIONS') !== 'true';
  return isAct ? null : read.text('GITHUB_RUN_ID');
}

/**
 * In a pull request, GITHUB_SHA is the merge commit that GitHub generated (`pull_request`) or the base
 * (`pull_request_target`). Only the event's payload contains the head; without the payload the commit is null, not wrong.
 */
export const github: ProviderRow = {
  provider: 'github',
  detect: 'GITHUB_ACTIONS',
  repository: 'GITHUB_REPOSITORY',
  tag: (read) => groupOf(/^refs\/tags\/(.+)$/, read.text('GITHUB_REF')),
  // GITHUB_REF is empty for a deployment that was created with a commit.
  ref: (read) =>
    isFromVercel(read)
      ? cleanRef(read.payload('client_payload', 'git', 'ref'))
      : (read.ref('GITHUB_REF') ?? deployedRef(read)),
  commitSha: (read) =>
    isFromVercel(read) ? cleanSha(read.payload('client_payload', 'git', 'sha')) : read.sha('GITHUB_SHA'),
  event: 'GITHUB_EVENT_NAME',
  pull: (read) => groupOf(/^refs\/(pull)\//, read.text('GITHUB_REF')),
  inPull: {
    ref: (read) => read.ref('GITHUB_HEAD_REF') ?? cleanRef(read.payload('pull_request', 'head', 'ref')),
    commitSha: (read) => cleanSha(read.payload('pull_request', 'head', 'sha')),
  },
  buildUrl: (read) =>
    page(
      read.url('GITHUB_SERVER_URL'),
      read.repository('GITHUB_REPOSITORY'),
      'actions',
      'runs',
      runIdOf(read),
    ),
  runId: runIdOf,
  job: 'GITHUB_JOB',
  // Unique within the job: `__run`, `__run_2`, or the id of the step.
  step: 'GITHUB_ACTION',
  attempt: 'GITHUB_RUN_ATTEMPT',
  temporaryFolder: 'RUNNER_TEMP',
};

/** Returns the matrix cell that `parallel: matrix` appends to a job's name: `test: [a, b]`. */
function cellOf(job: string | null): string | null {
  const start = job?.indexOf(': [') ?? -1;
  return (start >= 0 && job?.endsWith(']') && job.slice(start + 3, -1)) || null;
}

/** Returns whether the pipeline is for merged results or a merge train, where CI_COMMIT_SHA is a generated merge commit. */
function isMerge(read: Reader): boolean {
  return (
    read.text('CI_MERGE_REQUEST_IID') !== null &&
    !['detached', null].includes(read.text('CI_MERGE_REQUEST_EVENT_TYPE'))
  );
}

/** A re-run job has the same pipeline and a new job number: GitLab numbers jobs but does not count re-runs. */
export const gitlab: ProviderRow = {
  provider: 'gitlab',
  detect: 'GITLAB_CI',
  repository: 'CI_PROJECT_PATH',
  tag: 'CI_COMMIT_TAG',
  ref: 'CI_COMMIT_REF_NAME',
  commitSha: 'CI_COMMIT_SHA',
  event: 'CI_PIPELINE_SOURCE',
  pull: ['CI_MERGE_REQUEST_IID', 'CI_EXTERNAL_PULL_REQUEST_IID'],
  inPull: {
    ref: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME'],
    commitSha: (read) => {
      const fallback = isMerge(read) ? [] : ['CI_COMMIT_SHA'];
      return read.sha(
        'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA',
        'CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA',
        ...fallback,
      );
    },
  },
  buildUrl: 'CI_PIPELINE_URL',
  runId: 'CI_PIPELINE_ID',
  job: 'CI_JOB_NAME',
  jobId: 'CI_JOB_ID',
  matrix: (read) => cellOf(read.text('CI_JOB_NAME')),
  parallel: ['CI_NODE_INDEX', 'CI_NODE_TOTAL', 1],
};

/** Returns the name of a stage, job or leg; null for Azure's default name. */
function nameOf(read: Reader, variable: string): string | null {
  const name = read.text(variable);
  return name === '__default' ? null : name;
}

/**
 * SYSTEM_JOBATTEMPT counts a job and all its re-runs, including those of its stage. SYSTEM_STAGEATTEMPT is not added: two
 * re-runs could have the same sum.
 */
export const azure: ProviderRow = {
  provider: 'azure',
  detect: 'TF_BUILD',
  repository: 'BUILD_REPOSITORY_URI',
  tag: (read) => groupOf(/^refs\/tags\/(.+)$/, read.text('BUILD_SOURCEBRANCH')),
  // `$/project/branch` is a path in TFVC, not a git branch.
  ref: (read) =>
    read.text('BUILD_SOURCEBRANCH')?.startsWith('$/') === true ? null : read.ref('BUILD_SOURCEBRANCH'),
  commitSha: 'BUILD_SOURCEVERSION',
  event: 'BUILD_REASON',
  pull: (read) => groupOf(/^refs\/(pull)\/\d+\//, read.text('BUILD_SOURCEBRANCH')),
  inPull: {
    ref: 'SYSTEM_PULLREQUEST_SOURCEBRANCH',
    commitSha: 'SYSTEM_PULLREQUEST_SOURCECOMMITID',
  },
  buildUrl: (read) => {
    const collection = read.url('SYSTEM_TEAMFOUNDATIONCOLLECTIONURI', 'SYSTEM_COLLECTIONURI');
    const results = page(collection, read.text('SYSTEM_TEAMPROJECT'), '_build', 'results');
    const id = read.text('BUILD_BUILDID');
    return results === null || id === null ? null : `${results}?buildId=${encodeURIComponent(id)}`;
  },
  runId: 'BUILD_BUILDID',
  job: (read) => {
    const job = nameOf(read, 'SYSTEM_PHASENAME') ?? nameOf(read, 'SYSTEM_JOBNAME');
    return [nameOf(read, 'SYSTEM_STAGENAME'), job].filter((part) => part !== null).join('.') || null;
  },
  jobId: 'SYSTEM_JOBID',
  step: 'SYSTEM_TASKINSTANCENAME',
  attempt: 'SYSTEM_JOBATTEMPT',
  matrix: (read) => {
    const leg = nameOf(read, 'SYSTEM_JOBNAME');
    return nameOf(read, 'SYSTEM_PHASENAME') === null ? null : leg;
  },
  parallel: ['SYSTEM_JOBPOSITIONINPHASE', 'SYSTEM_TOTALJOBSINPHASE', 1],
  temporaryFolder: 'AGENT_TEMPDIRECTORY',
};
