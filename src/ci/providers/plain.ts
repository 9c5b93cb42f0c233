import { groupOf, oneAttempt, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

// The CI systems whose variables need little interpretation.

/** Bitbucket's steps are jobs. Its variables contain a step's id but not its name. A re-run step has run number 2. */
export const bitbucket: ProviderRow = {
  provider: 'bitbucket',
  detect: (read) => read.text('BITBUCKET_BUILD_NUMBER') !== null && read.text('BITBUCKET_COMMIT') !== null,
  repository: 'BITBUCKET_REPO_FULL_NAME',
  tag: 'BITBUCKET_TAG',
  ref: 'BITBUCKET_BRANCH',
  // In a pull request this is the head, abbreviated to 12 digits.
  commitSha: 'BITBUCKET_COMMIT',
  pull: 'BITBUCKET_PR_ID',
  buildUrl: (read) =>
    page(
      'https://bitbucket.org',
      read.repository('BITBUCKET_REPO_FULL_NAME'),
      'pipelines',
      'results',
      read.text('BITBUCKET_BUILD_NUMBER'),
    ),
  runId: ['BITBUCKET_PIPELINE_UUID', 'BITBUCKET_BUILD_NUMBER'],
  step: 'BITBUCKET_STEP_UUID',
  attempt: 'BITBUCKET_STEP_RUN_NUMBER',
  parallel: ['BITBUCKET_PARALLEL_STEP', 'BITBUCKET_PARALLEL_STEP_COUNT', 0],
};

export const buildkite: ProviderRow = {
  provider: 'buildkite',
  detect: 'BUILDKITE',
  repository: 'BUILDKITE_REPO',
  tag: 'BUILDKITE_TAG',
  ref: 'BUILDKITE_BRANCH',
  // In a pull request this is the head, even if the agent checks out the merge. It is `HEAD` until the agent resolves it.
  commitSha: 'BUILDKITE_COMMIT',
  event: 'BUILDKITE_SOURCE',
  pull: 'BUILDKITE_PULL_REQUEST',
  buildUrl: 'BUILDKITE_BUILD_URL',
  runId: 'BUILDKITE_BUILD_ID',
  job: 'BUILDKITE_LABEL',
  jobId: 'BUILDKITE_JOB_ID',
  step: ['BUILDKITE_STEP_KEY', 'BUILDKITE_STEP_ID'],
  attempt: (read) => {
    const retries = read.count('BUILDKITE_RETRY_COUNT');
    return retries === null ? null : retries + 1;
  },
  parallel: ['BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT', 0],
};

/**
 * Cloud Build itself sets only BUILDER_OUTPUT. Its substitutions are variables only if the build maps them or sets
 * `automapSubstitutions`. Their names are common, so all of them must be set.
 */
export const cloudbuild: ProviderRow = {
  provider: 'cloudbuild',
  detect: (read) =>
    read.text('BUILDER_OUTPUT') !== null ||
    ['BUILD_ID', 'PROJECT_ID', 'PROJECT_NUMBER', 'LOCATION'].every((name) => read.text(name) !== null),
  repository: 'REPO_FULL_NAME',
  tag: 'TAG_NAME',
  ref: 'BRANCH_NAME',
  // In a pull request this is the head: Cloud Build does not merge.
  commitSha: ['COMMIT_SHA', 'REVISION_ID'],
  pull: '_PR_NUMBER',
  inPull: { ref: '_HEAD_BRANCH' },
  buildUrl: (read) => {
    const [project, location] = [read.text('PROJECT_ID'), read.text('LOCATION')];
    if (project === null || location === null) return null;
    const builds = location === 'global' ? 'builds' : `builds;region=${location}`;
    const build = page(`https://console.cloud.google.com/cloud-build/${builds}`, read.text('BUILD_ID'));
    return build === null ? null : `${build}?project=${encodeURIComponent(project)}`;
  },
  runId: 'BUILD_ID',
  attempt: oneAttempt,
};

/** A restarted build has a new number and counts as a new run. */
export const drone: ProviderRow = {
  provider: 'drone',
  detect: 'DRONE',
  repository: 'DRONE_REPO',
  tag: 'DRONE_TAG',
  ref: 'DRONE_BRANCH',
  commitSha: 'DRONE_COMMIT_SHA',
  event: 'DRONE_BUILD_EVENT',
  pull: 'DRONE_PULL_REQUEST',
  // In a pull request, DRONE_BRANCH is the target branch.
  inPull: { ref: 'DRONE_SOURCE_BRANCH' },
  buildUrl: 'DRONE_BUILD_LINK',
  runId: 'DRONE_BUILD_NUMBER',
  job: 'DRONE_STAGE_NAME',
  step: 'DRONE_STEP_NAME',
  attempt: oneAttempt,
};

/**
 * TeamCity has the branch, trigger and pull request in configuration parameters, which are not environment variables. A build
 * that is run again is a new build. Build numbers need not be unique, so the URL serves as the id.
 */
export const teamcity: ProviderRow = {
  provider: 'teamcity',
  detect: (read) => read.text('TEAMCITY_VERSION') !== null,
  commitSha: 'BUILD_VCS_NUMBER',
  buildUrl: 'BUILD_URL',
  runId: (read) => read.url('BUILD_URL'),
  job: 'TEAMCITY_BUILDCONF_NAME',
  attempt: oneAttempt,
};

/** A restarted job keeps its number and id. Travis shows that a job was restarted, but not how often. */
export const travis: ProviderRow = {
  provider: 'travis',
  detect: 'TRAVIS',
  repository: 'TRAVIS_REPO_SLUG',
  tag: 'TRAVIS_TAG',
  ref: 'TRAVIS_BRANCH',
  commitSha: 'TRAVIS_COMMIT',
  event: 'TRAVIS_EVENT_TYPE',
  pull: 'TRAVIS_PULL_REQUEST',
  // In a pull request, TRAVIS_BRANCH is the target branch, and TRAVIS_COMMIT is the merge commit.
  inPull: { ref: 'TRAVIS_PULL_REQUEST_BRANCH', commitSha: 'TRAVIS_PULL_REQUEST_SHA' },
  buildUrl: 'TRAVIS_BUILD_WEB_URL',
  runId: 'TRAVIS_BUILD_ID',
  job: 'TRAVIS_JOB_NAME',
  // Job 4.2 is the second of build 4.
  matrix: (read) => groupOf(/\.(\d+)$/, read.text('TRAVIS_JOB_NUMBER')),
};

/**
 * A restarted pipeline has a new number, and its parent's number in another variable; it counts as a new run.
 * CI_PIPELINE_RERUNS counts the restarts across these runs, so it does not number the re-runs of one of them.
 */
export const woodpecker: ProviderRow = {
  provider: 'woodpecker',
  detect: (read) => read.text('CI') === 'woodpecker' || read.text('CI_SYSTEM_NAME') === 'woodpecker',
  repository: 'CI_REPO',
  tag: 'CI_COMMIT_TAG',
  ref: 'CI_COMMIT_BRANCH',
  commitSha: 'CI_COMMIT_SHA',
  event: 'CI_PIPELINE_EVENT',
  pull: 'CI_COMMIT_PULL_REQUEST',
  // In a pull request, CI_COMMIT_BRANCH is the target branch.
  inPull: { ref: 'CI_COMMIT_SOURCE_BRANCH' },
  buildUrl: 'CI_PIPELINE_URL',
  runId: 'CI_PIPELINE_NUMBER',
  job: 'CI_WORKFLOW_NAME',
  step: 'CI_STEP_NAME',
  attempt: oneAttempt,
  // The cells of a matrix are workflows of the same name, each with its own number.
  matrix: 'CI_WORKFLOW_NUMBER',
};
