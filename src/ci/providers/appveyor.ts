import type { CiEvent } from '../context.ts';
import type { Reader } from '../provider-env.ts';
import type { ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

function eventOf(read: Reader, pullRequest: string | null, isTag: boolean): CiEvent {
  if (read.isTrue('APPVEYOR_SCHEDULED_BUILD')) return 'schedule';
  if (read.isTrue('APPVEYOR_FORCED_BUILD')) return 'manual';
  if (pullRequest !== null) return 'pull_request';
  if (isTag) return 'tag';
  return read.isTrue('APPVEYOR_RE_BUILD') ? 'manual' : 'push';
}

/** Whether a job that is run again keeps its id is not said anywhere, so its id is not used as one that differs. */
export const appveyor = {
  provider: 'appveyor',
  detect: (read) => read.isTrue('APPVEYOR'),
  facts: (read) => {
    const pullRequest = read.text('APPVEYOR_PULL_REQUEST_NUMBER');
    const isPull = pullRequest !== null;
    const isTag = read.isTrue('APPVEYOR_REPO_TAG');
    const runId = read.text('APPVEYOR_BUILD_ID');
    const [account, project] = [read.text('APPVEYOR_ACCOUNT_NAME'), read.text('APPVEYOR_PROJECT_SLUG')];
    return {
      repository: read.repository('APPVEYOR_REPO_NAME'),
      // APPVEYOR_REPO_BRANCH of a pull request is the branch that it goes to, APPVEYOR_REPO_COMMIT the merge.
      ref: isPull
        ? read.ref('APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH')
        : isTag
          ? read.ref('APPVEYOR_REPO_TAG_NAME')
          : read.ref('APPVEYOR_REPO_BRANCH'),
      commitSha: isPull ? read.sha('APPVEYOR_PULL_REQUEST_HEAD_COMMIT') : read.sha('APPVEYOR_REPO_COMMIT'),
      event: eventOf(read, pullRequest, isTag),
      rawEvent: null,
      pullRequest,
      buildUrl: page(read.url('APPVEYOR_URL'), 'project', account, project, 'builds', runId),
      runId,
      job: read.text('APPVEYOR_JOB_NAME'),
      jobId: null,
      step: null,
      attempt: null,
      // Jobs of a build are the cells of its matrix, and are numbered.
      matrix: read.text('APPVEYOR_JOB_NUMBER'),
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: null,
    };
  },
} as const satisfies ProviderRow;
