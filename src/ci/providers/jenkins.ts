import type { CiEvent } from '../context.ts';
import type { Reader } from '../provider-env.ts';
import { eventOf, type ProviderRow } from '../provider-row.ts';

/** The words of the GitLab plugin; Jenkins itself has none. */
const words = {
  PUSH: 'push',
  TAG_PUSH: 'tag',
  MERGE: 'pull_request',
  NOTE: 'pull_request',
} satisfies Record<string, CiEvent>;

/**
 * GIT_COMMIT of a multibranch pull request is its head or the merge that Jenkins made up, as the job is configured,
 * and nothing tells which: unless both are built, when the branch's name ends in `-head`. Two plugins say it outright.
 */
function commitOf(read: Reader, isPull: boolean): string | null {
  const head = read.sha('ghprbActualCommit') ?? read.sha('gitlabMergeRequestLastCommit');
  if (head !== null) return head;
  return isPull && read.text('BRANCH_NAME')?.endsWith('-head') !== true ? null : read.sha('GIT_COMMIT');
}

function branchOf(read: Reader): string | null {
  const branch = read.ref('BRANCH_NAME') ?? read.ref('GIT_LOCAL_BRANCH') ?? read.ref('GIT_BRANCH');
  return branch === 'detached' ? null : (branch?.replace(/^origin\//, '') ?? null);
}

/** A build has one number for ever: replayed, rebuilt or restarted from a stage it is another build. */
export const jenkins = {
  provider: 'jenkins',
  // JENKINS_URL alone is in the image that agents run from, without any build.
  detect: (read) =>
    (read.text('JENKINS_URL') !== null || read.text('BUILD_TAG')?.startsWith('jenkins-') === true) &&
    read.text('BUILD_NUMBER') !== null &&
    read.text('JOB_NAME') !== null,
  facts: (read) => {
    const rawEvent = read.text('gitlabActionType');
    const pullRequest =
      read.text('CHANGE_ID') ?? read.text('ghprbPullId') ?? read.text('gitlabMergeRequestIid');
    const isPull = pullRequest !== null;
    const tag = isPull ? null : read.ref('TAG_NAME');
    const said = rawEvent === null ? null : eventOf(words, rawEvent);
    const source = () =>
      read.ref('CHANGE_BRANCH') ?? read.ref('ghprbSourceBranch') ?? read.ref('gitlabSourceBranch');
    const buildUrl = read.url('BUILD_URL');
    return {
      repository: read.repository('GIT_URL') ?? read.repository('ghprbGhRepository'),
      ref: isPull ? source() : (tag ?? branchOf(read)),
      commitSha: commitOf(read, isPull),
      event: isPull ? 'pull_request' : (said ?? (tag === null ? null : 'tag')),
      rawEvent,
      pullRequest,
      buildUrl,
      // The URL where there is one: two servers may have jobs of one name.
      runId: buildUrl ?? read.text('BUILD_TAG'),
      job: read.text('JOB_NAME'),
      jobId: null,
      step: read.text('STAGE_NAME'),
      attempt: null,
      matrix: null,
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: read.text('WORKSPACE_TMP'),
    };
  },
} as const satisfies ProviderRow;
