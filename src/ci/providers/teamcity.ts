import type { ProviderRow } from '../provider-row.ts';

/**
 * TeamCity keeps branch, trigger and pull request in configuration parameters, which are no environment variables:
 * a build that wants them here has to pass them on. A build that is run again is another build.
 */
export const teamcity = {
  provider: 'teamcity',
  detect: (read) => read.text('TEAMCITY_VERSION') !== null,
  facts: (read) => {
    const buildUrl = read.url('BUILD_URL');
    return {
      repository: null,
      ref: null,
      commitSha: read.sha('BUILD_VCS_NUMBER'),
      event: null,
      rawEvent: null,
      pullRequest: null,
      buildUrl,
      // A build's number has the form that its owner likes, and need not be unique.
      runId: buildUrl,
      job: read.text('TEAMCITY_BUILDCONF_NAME'),
      jobId: null,
      step: null,
      attempt: null,
      matrix: null,
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
