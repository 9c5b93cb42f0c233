import type { CiEvent } from '../context.ts';
import { eventOf, groupOf, type ProviderRow, parallel } from '../provider-row.ts';
import { page } from '../provider-url.ts';

const words = {
  IndividualCI: 'push',
  BatchedCI: 'push',
  PullRequest: 'pull_request',
  Schedule: 'schedule',
  Manual: 'manual',
} satisfies Record<string, CiEvent>;

/** What stages, jobs and legs are called that nobody has named. */
const unnamed = '__default';

/**
 * SYSTEM_JOBATTEMPT counts every try of a job, those of a retried stage too. SYSTEM_STAGEATTEMPT is left out: together
 * they could give one number to two tries, and a number must never come twice.
 */
export const azure = {
  provider: 'azure',
  detect: (read) => read.isTrue('TF_BUILD'),
  facts: (read) => {
    const rawEvent = read.text('BUILD_REASON');
    const fullRef = read.text('BUILD_SOURCEBRANCH');
    const pulled = groupOf(/^refs\/pull\/(\d+)\//, fullRef);
    const isPull = rawEvent === 'PullRequest' || pulled !== null;
    const event = eventOf(words, rawEvent);
    const runId = read.text('BUILD_BUILDID');
    const collection = read.url('SYSTEM_TEAMFOUNDATIONCOLLECTIONURI') ?? read.url('SYSTEM_COLLECTIONURI');
    const results = page(collection, read.text('SYSTEM_TEAMPROJECT'), '_build', 'results');
    const [stage, phase, leg] = ['SYSTEM_STAGENAME', 'SYSTEM_PHASENAME', 'SYSTEM_JOBNAME'].map((name) => {
      const text = read.text(name);
      return text === unnamed ? null : text;
    });
    return {
      repository: read.repository('BUILD_REPOSITORY_URI'),
      // `$/project/branch` is TFVC's, and no branch of git.
      ref: isPull
        ? read.ref('SYSTEM_PULLREQUEST_SOURCEBRANCH')
        : fullRef?.startsWith('$/') === true
          ? null
          : read.ref('BUILD_SOURCEBRANCH'),
      commitSha: isPull ? read.sha('SYSTEM_PULLREQUEST_SOURCECOMMITID') : read.sha('BUILD_SOURCEVERSION'),
      event: event === 'push' && fullRef?.startsWith('refs/tags/') === true ? 'tag' : event,
      rawEvent,
      // The id of a pull request at GitHub is not its number; in Azure Repos it is, and there is no other.
      pullRequest: isPull
        ? (read.text('SYSTEM_PULLREQUEST_PULLREQUESTNUMBER') ??
          read.text('SYSTEM_PULLREQUEST_PULLREQUESTID') ??
          pulled)
        : null,
      buildUrl: results === null || runId === null ? null : `${results}?buildId=${encodeURIComponent(runId)}`,
      runId,
      job: [stage, phase ?? leg].filter((part) => part != null).join('.') || null,
      jobId: read.text('SYSTEM_JOBID'),
      step: read.text('SYSTEM_TASKINSTANCENAME'),
      attempt: read.count('SYSTEM_JOBATTEMPT'),
      matrix: phase == null ? null : (leg ?? null),
      ...parallel(read.count('SYSTEM_JOBPOSITIONINPHASE'), read.count('SYSTEM_TOTALJOBSINPHASE'), 1),
      temporaryFolder: read.text('AGENT_TEMPDIRECTORY'),
    };
  },
} as const satisfies ProviderRow;
