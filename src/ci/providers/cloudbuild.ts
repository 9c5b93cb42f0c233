import type { ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/**
 * Cloud Build sets BUILDER_OUTPUT alone. What it knows of a build are substitutions, which are variables only where
 * the build says `automapSubstitutions: true` or maps them. Their names are anybody's: they count only together.
 */
export const cloudbuild = {
  provider: 'cloudbuild',
  detect: (read) =>
    read.text('BUILDER_OUTPUT') !== null ||
    ['BUILD_ID', 'PROJECT_ID', 'PROJECT_NUMBER', 'LOCATION'].every((name) => read.text(name) !== null),
  facts: (read) => {
    const pullRequest = read.text('_PR_NUMBER');
    const tag = read.ref('TAG_NAME');
    const runId = read.text('BUILD_ID');
    const [project, location] = [read.text('PROJECT_ID'), read.text('LOCATION')];
    const place = location === null ? null : location === 'global' ? [] : [`region=${location}`];
    const builds = ['builds', ...(place ?? [])].join(';');
    const build = page(
      place === null ? null : `https://console.cloud.google.com/cloud-build/${builds}`,
      runId,
    );
    return {
      repository: read.repository('REPO_FULL_NAME'),
      ref: pullRequest !== null ? read.ref('_HEAD_BRANCH') : (tag ?? read.ref('BRANCH_NAME')),
      // The head of a pull request: Cloud Build merges nothing.
      commitSha: read.sha('COMMIT_SHA') ?? read.sha('REVISION_ID'),
      event: pullRequest !== null ? 'pull_request' : tag !== null ? 'tag' : null,
      rawEvent: null,
      pullRequest,
      buildUrl: build === null || project === null ? null : `${build}?project=${encodeURIComponent(project)}`,
      runId,
      job: null,
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
