import type { ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/** The documentation does not say whether a job keeps its id when it is run again, so the id does not serve as `jobId`. */
export const appveyor: ProviderRow = {
  provider: 'appveyor',
  detect: 'APPVEYOR',
  repository: 'APPVEYOR_REPO_NAME',
  ref: (read) =>
    read.ref(read.isTrue('APPVEYOR_REPO_TAG') ? 'APPVEYOR_REPO_TAG_NAME' : 'APPVEYOR_REPO_BRANCH'),
  commitSha: 'APPVEYOR_REPO_COMMIT',
  event: (read) => {
    const isTag = read.isTrue('APPVEYOR_REPO_TAG');
    if (read.isTrue('APPVEYOR_SCHEDULED_BUILD')) return 'schedule';
    if (read.isTrue('APPVEYOR_FORCED_BUILD')) return 'manual';
    if (read.text('APPVEYOR_PULL_REQUEST_NUMBER') !== null) return 'pull_request';
    if (isTag) return 'tag';
    return read.isTrue('APPVEYOR_RE_BUILD') ? 'manual' : 'push';
  },
  pullRequest: 'APPVEYOR_PULL_REQUEST_NUMBER',
  // In a pull request, APPVEYOR_REPO_BRANCH is the target branch, and APPVEYOR_REPO_COMMIT is the merge commit.
  inPullRequest: {
    ref: 'APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH',
    commitSha: 'APPVEYOR_PULL_REQUEST_HEAD_COMMIT',
  },
  buildUrl: (read) => {
    const [account, project] = [read.text('APPVEYOR_ACCOUNT_NAME'), read.text('APPVEYOR_PROJECT_SLUG')];
    return page(
      read.url('APPVEYOR_URL'),
      'project',
      account,
      project,
      'builds',
      read.text('APPVEYOR_BUILD_ID'),
    );
  },
  runId: 'APPVEYOR_BUILD_ID',
  job: 'APPVEYOR_JOB_NAME',
  // The jobs of a build are the cells of its matrix.
  matrix: 'APPVEYOR_JOB_NUMBER',
};
