import type { CiEvent } from '../context.ts';
import { cleanRef } from '../provider-env.ts';
import { groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

function eventOf(word: string | null, trigger: string | null, initiator: string | null): CiEvent | null {
  if (word === 'PUSH') return trigger?.startsWith('tag/') === true ? 'tag' : 'push';
  if (word !== null) return word.startsWith('PULL_REQUEST_') ? 'pull_request' : 'other';
  // A name is a person's or a program's: started by hand and by the API look the same.
  return /^(codepipeline|rule)\//.test(initiator ?? '') ? 'other' : null;
}

/** The branch or tag in CODEBUILD_SOURCE_VERSION, which may as well be a commit, a pull request or a stored object. */
function refOf(version: string | null): string | null {
  const name = version?.replace(/\^\{[0-9a-f]+\}$/, '') ?? null;
  return name === null || /^(arn:|pr\/|[0-9a-f]{40}$)/.test(name) ? null : cleanRef(name);
}

/** The console's page of a build; where China's and the governments' are is another matter. */
function consoleUrl(arn: string | null): string | null {
  const [, region, account, project, id] =
    /^arn:aws:codebuild:([\w-]+):(\d+):build\/([^:]+):(.+)$/.exec(arn ?? '') ?? [];
  if (region === undefined || account === undefined || project === undefined || id === undefined) return null;
  const base = `https://${region}.console.aws.amazon.com/codesuite/codebuild`;
  return page(base, account, 'projects', project, 'build', `${project}:${id}`);
}

/** A retried build has a new id: it is another run. */
export const codebuild = {
  provider: 'codebuild',
  detect: (read) => read.text('CODEBUILD_BUILD_ID') !== null && read.text('CODEBUILD_BUILD_ARN') !== null,
  facts: (read) => {
    const rawEvent = read.text('CODEBUILD_WEBHOOK_EVENT');
    const trigger = read.text('CODEBUILD_WEBHOOK_TRIGGER');
    const version = read.text('CODEBUILD_SOURCE_VERSION');
    const pullRequest = groupOf(/^pr\/(\d+)$/, trigger) ?? groupOf(/^pr\/(\d+)$/, version);
    const initiator = read.text('CODEBUILD_INITIATOR');
    return {
      repository: read.repository('CODEBUILD_SOURCE_REPO_URL'),
      ref: read.ref('CODEBUILD_WEBHOOK_HEAD_REF') ?? refOf(version),
      // The head of a pull request: CodeBuild merges nothing.
      commitSha: read.sha('CODEBUILD_RESOLVED_SOURCE_VERSION'),
      event: eventOf(rawEvent, trigger, initiator),
      rawEvent,
      pullRequest,
      buildUrl: read.url('CODEBUILD_PUBLIC_BUILD_URL') ?? consoleUrl(read.text('CODEBUILD_BUILD_ARN')),
      runId: read.text('CODEBUILD_BUILD_ID'),
      job: read.text('CODEBUILD_BATCH_BUILD_IDENTIFIER'),
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
