import type { Reader } from '../provider-env.ts';
import { groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

/** Returns the name of a stage, job or leg; null for Azure's default name. */
function nameOf(read: Reader, variable: string): string | null {
  const name = read.text(variable);
  return name === '__default' ? null : name;
}

function pullOfRef(read: Reader): string | null {
  return groupOf(/^refs\/pull\/(\d+)\//, read.text('BUILD_SOURCEBRANCH'));
}

/**
 * SYSTEM_JOBATTEMPT counts all attempts of a job, including those of a retried stage. SYSTEM_STAGEATTEMPT is not added: two
 * attempts could have the same sum.
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
  rawEvent: 'BUILD_REASON',
  events: {
    IndividualCI: 'push',
    BatchedCI: 'push',
    PullRequest: 'pull_request',
    Schedule: 'schedule',
    Manual: 'manual',
  },
  isPullRequest: (read) => pullOfRef(read) !== null || read.text('BUILD_REASON') === 'PullRequest',
  inPullRequest: {
    ref: 'SYSTEM_PULLREQUEST_SOURCEBRANCH',
    commitSha: 'SYSTEM_PULLREQUEST_SOURCECOMMITID',
    // A pull request on GitHub has an id and a different number. One in Azure Repos has only the id.
    pullRequest: (read) =>
      read.text('SYSTEM_PULLREQUEST_PULLREQUESTNUMBER', 'SYSTEM_PULLREQUEST_PULLREQUESTID') ??
      pullOfRef(read),
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
