import type { CiEvent } from '../context.ts';
import { cleanRef, type Reader } from '../provider-env.ts';
import { groupOf, oneAttempt, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

function eventOf(read: Reader): CiEvent | null {
  const word = read.text('CODEBUILD_WEBHOOK_EVENT');
  const initiator = read.text('CODEBUILD_INITIATOR');
  if (word === 'PUSH')
    return read.text('CODEBUILD_WEBHOOK_TRIGGER')?.startsWith('tag/') === true ? 'tag' : 'push';
  if (word !== null) return word.startsWith('PULL_REQUEST_') ? 'pull_request' : 'other';
  // Any other initiator is the name of a user or a role, so a manual start looks like a start by the API.
  return /^(codepipeline|rule)\//.test(initiator ?? '') ? 'other' : null;
}

/** Returns the branch or tag in CODEBUILD_SOURCE_VERSION, which may also be a commit, a pull request or an S3 object. */
function refOf(version: string | null): string | null {
  const name = version?.replace(/\^\{[0-9a-f]+\}$/, '') ?? null;
  return name === null || /^(arn:|pr\/|[0-9a-f]{40}$)/.test(name) ? null : cleanRef(name);
}

/** Returns the page of a build in the console; null in China and GovCloud, which have other consoles. */
function consoleUrl(arn: string | null): string | null {
  const [, region, account, project, id] =
    /^arn:aws:codebuild:([\w-]+):(\d+):build\/([^:]+):(.+)$/.exec(arn ?? '') ?? [];
  if (region === undefined || account === undefined || project === undefined || id === undefined) return null;
  const base = `https://${region}.console.aws.amazon.com/codesuite/codebuild`;
  return page(base, account, 'projects', project, 'build', `${project}:${id}`);
}

/** A retried build has a new id and counts as a new run. */
export const codebuild: ProviderRow = {
  provider: 'codebuild',
  detect: (read) => read.text('CODEBUILD_BUILD_ID') !== null && read.text('CODEBUILD_BUILD_ARN') !== null,
  repository: 'CODEBUILD_SOURCE_REPO_URL',
  ref: (read) => {
    const version = read.text('CODEBUILD_SOURCE_VERSION');
    return read.ref('CODEBUILD_WEBHOOK_HEAD_REF') ?? refOf(version);
  },
  // In a pull request this is the head: CodeBuild does not merge.
  commitSha: 'CODEBUILD_RESOLVED_SOURCE_VERSION',
  rawEvent: 'CODEBUILD_WEBHOOK_EVENT',
  event: eventOf,
  pullRequest: (read) =>
    groupOf(/^pr\/(\d+)$/, read.text('CODEBUILD_WEBHOOK_TRIGGER')) ??
    groupOf(/^pr\/(\d+)$/, read.text('CODEBUILD_SOURCE_VERSION')),
  buildUrl: (read) => read.url('CODEBUILD_PUBLIC_BUILD_URL') ?? consoleUrl(read.text('CODEBUILD_BUILD_ARN')),
  runId: 'CODEBUILD_BUILD_ID',
  job: 'CODEBUILD_BATCH_BUILD_IDENTIFIER',
  attempt: oneAttempt,
};
