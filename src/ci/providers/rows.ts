import { groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

// The CIs whose variables need little interpretation.

/** Bitbucket's steps are jobs. They have an id here and no name; a retried step has run number 2. */
export const bitbucket: ProviderRow = {
  provider: 'bitbucket',
  detect: (read) => read.text('BITBUCKET_BUILD_NUMBER') !== null && read.text('BITBUCKET_COMMIT') !== null,
  repository: 'BITBUCKET_REPO_FULL_NAME',
  tag: 'BITBUCKET_TAG',
  ref: 'BITBUCKET_BRANCH',
  // The head of a pull request, abbreviated to 12 digits.
  commitSha: 'BITBUCKET_COMMIT',
  pullRequest: 'BITBUCKET_PR_ID',
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
  // The head of a pull request, even if the agent checks out its merge; `HEAD`, which is not a commit, until it is resolved.
  commitSha: 'BUILDKITE_COMMIT',
  rawEvent: 'BUILDKITE_SOURCE',
  events: { webhook: 'push', schedule: 'schedule', ui: 'manual', api: 'api' },
  pullRequest: 'BUILDKITE_PULL_REQUEST',
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
 * Cloud Build sets BUILDER_OUTPUT alone. Its substitutions are variables only if the build maps them, or sets
 * `automapSubstitutions`. Their names are common, so they count only together.
 */
export const cloudbuild: ProviderRow = {
  provider: 'cloudbuild',
  detect: (read) =>
    read.text('BUILDER_OUTPUT') !== null ||
    ['BUILD_ID', 'PROJECT_ID', 'PROJECT_NUMBER', 'LOCATION'].every((name) => read.text(name) !== null),
  repository: 'REPO_FULL_NAME',
  tag: 'TAG_NAME',
  ref: 'BRANCH_NAME',
  // The head of a pull request: Cloud Build merges nothing.
  commitSha: ['COMMIT_SHA', 'REVISION_ID'],
  pullRequest: '_PR_NUMBER',
  inPullRequest: { ref: '_HEAD_BRANCH' },
  buildUrl: (read) => {
    const [project, location] = [read.text('PROJECT_ID'), read.text('LOCATION')];
    if (project === null || location === null) return null;
    const builds = location === 'global' ? 'builds' : `builds;region=${location}`;
    const build = page(`https://console.cloud.google.com/cloud-build/${builds}`, read.text('BUILD_ID'));
    return build === null ? null : `${build}?project=${encodeURIComponent(project)}`;
  },
  runId: 'BUILD_ID',
};

/** A restarted build has a new number: it is another run. */
export const drone: ProviderRow = {
  provider: 'drone',
  detect: 'DRONE',
  repository: 'DRONE_REPO',
  tag: 'DRONE_TAG',
  ref: 'DRONE_BRANCH',
  commitSha: 'DRONE_COMMIT_SHA',
  rawEvent: 'DRONE_BUILD_EVENT',
  events: { push: 'push', pull_request: 'pull_request', tag: 'tag', cron: 'schedule', custom: 'manual' },
  pullRequest: 'DRONE_PULL_REQUEST',
  // DRONE_BRANCH of a pull request is its target branch.
  inPullRequest: { ref: 'DRONE_SOURCE_BRANCH' },
  buildUrl: 'DRONE_BUILD_LINK',
  runId: 'DRONE_BUILD_NUMBER',
  job: 'DRONE_STAGE_NAME',
  step: 'DRONE_STEP_NAME',
};

/**
 * TeamCity has branch, trigger and pull request in configuration parameters, which are not environment variables. A build
 * that is run again is another build. Its number need not be unique, so the URL is its id.
 */
export const teamcity: ProviderRow = {
  provider: 'teamcity',
  detect: (read) => read.text('TEAMCITY_VERSION') !== null,
  commitSha: 'BUILD_VCS_NUMBER',
  buildUrl: 'BUILD_URL',
  runId: (read) => read.url('BUILD_URL'),
  job: 'TEAMCITY_BUILDCONF_NAME',
};

/** A restarted job keeps its number and id. Travis says that it was restarted, but not how often. */
export const travis: ProviderRow = {
  provider: 'travis',
  detect: 'TRAVIS',
  repository: 'TRAVIS_REPO_SLUG',
  tag: 'TRAVIS_TAG',
  ref: 'TRAVIS_BRANCH',
  commitSha: 'TRAVIS_COMMIT',
  rawEvent: 'TRAVIS_EVENT_TYPE',
  events: { push: 'push', pull_request: 'pull_request', cron: 'schedule', api: 'api' },
  pullRequest: 'TRAVIS_PULL_REQUEST',
  // TRAVIS_BRANCH of a pull request is its target branch, TRAVIS_COMMIT the merge.
  inPullRequest: { ref: 'TRAVIS_PULL_REQUEST_BRANCH', commitSha: 'TRAVIS_PULL_REQUEST_SHA' },
  buildUrl: 'TRAVIS_BUILD_WEB_URL',
  runId: 'TRAVIS_BUILD_ID',
  job: 'TRAVIS_JOB_NAME',
  // Job 4.2 is the second of build 4.
  matrix: (read) => groupOf(/\.(\d+)$/, read.text('TRAVIS_JOB_NUMBER')),
};

/**
 * A restarted pipeline has a new number and its parent's number: it is another run. CI_PIPELINE_RERUNS counts restarts over
 * all those runs, so it is not an attempt of one of them.
 */
export const woodpecker: ProviderRow = {
  provider: 'woodpecker',
  detect: (read) => read.text('CI') === 'woodpecker' || read.text('CI_SYSTEM_NAME') === 'woodpecker',
  repository: 'CI_REPO',
  tag: 'CI_COMMIT_TAG',
  ref: 'CI_COMMIT_BRANCH',
  commitSha: 'CI_COMMIT_SHA',
  rawEvent: 'CI_PIPELINE_EVENT',
  events: {
    push: 'push',
    pull_request: 'pull_request',
    pull_request_closed: 'pull_request',
    pull_request_metadata: 'pull_request',
    tag: 'tag',
    cron: 'schedule',
    manual: 'manual',
  },
  pullRequest: 'CI_COMMIT_PULL_REQUEST',
  // CI_COMMIT_BRANCH of a pull request is its target branch.
  inPullRequest: { ref: 'CI_COMMIT_SOURCE_BRANCH' },
  buildUrl: 'CI_PIPELINE_URL',
  runId: 'CI_PIPELINE_NUMBER',
  job: 'CI_WORKFLOW_NAME',
  step: 'CI_STEP_NAME',
  // The cells of a matrix are workflows of one name, each with its own number.
  matrix: 'CI_WORKFLOW_NUMBER',
};
