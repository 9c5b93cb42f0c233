import type { CiEvent } from '../context.ts';
import { cleanRef, cleanSha, cleanText } from '../provider-env.ts';
import { eventOf, groupOf, type ProviderRow } from '../provider-row.ts';
import { page } from '../provider-url.ts';

const words = {
  push: 'push',
  pull_request: 'pull_request',
  pull_request_target: 'pull_request',
  pull_request_review: 'pull_request',
  pull_request_review_comment: 'pull_request',
  schedule: 'schedule',
  workflow_dispatch: 'manual',
  repository_dispatch: 'api',
} satisfies Record<string, CiEvent>;

/** What a parsed JSON holds at a path; undefined where the path leaves it. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  );
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/**
 * A pull request's GITHUB_SHA is the merge that GitHub made up (`pull_request`) or the base's (`pull_request_target`);
 * its head is in the event's payload alone. Without the payload there is no commit: none rather than a wrong one.
 */
export const github = {
  provider: 'github',
  detect: (read) => read.isTrue('GITHUB_ACTIONS'),
  facts: (read, eventPayload) => {
    const rawEvent = read.text('GITHUB_EVENT_NAME');
    const fullRef = read.text('GITHUB_REF');
    const isPull =
      rawEvent?.startsWith('pull_request') === true || fullRef?.startsWith('refs/pull/') === true;
    const pull = isPull ? at(parsed(eventPayload), 'pull_request') : undefined;
    const number = at(pull, 'number');
    if (pull !== undefined) read.text('GITHUB_EVENT_PATH');
    const isTag =
      (rawEvent === 'push' || rawEvent === 'create') && fullRef?.startsWith('refs/tags/') === true;
    const repository = read.repository('GITHUB_REPOSITORY');
    const runId = read.text('GITHUB_RUN_ID');
    return {
      repository,
      ref: isPull
        ? (read.ref('GITHUB_HEAD_REF') ?? cleanRef(at(pull, 'head', 'ref')))
        : read.ref('GITHUB_REF'),
      commitSha: isPull ? cleanSha(at(pull, 'head', 'sha')) : read.sha('GITHUB_SHA'),
      event: isTag ? 'tag' : eventOf(words, rawEvent),
      rawEvent,
      pullRequest:
        groupOf(/^refs\/pull\/(\d+)\//, fullRef) ??
        cleanText(typeof number === 'number' ? String(number) : null),
      buildUrl: page(read.url('GITHUB_SERVER_URL'), repository, 'actions', 'runs', runId),
      runId,
      job: read.text('GITHUB_JOB'),
      jobId: null,
      // Unique within the job: `__run`, `__run_2`, or the step's own id.
      step: read.text('GITHUB_ACTION'),
      attempt: read.count('GITHUB_RUN_ATTEMPT'),
      matrix: null,
      parallelIndex: null,
      parallelTotal: null,
      temporaryFolder: read.text('RUNNER_TEMP'),
    };
  },
} as const satisfies ProviderRow;
