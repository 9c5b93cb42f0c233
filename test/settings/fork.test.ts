import { expect, test } from 'vitest';
import { runsForFork } from '../../src/settings/fork.ts';

const github = (event: string, payload: unknown): [Record<string, string>, string] => [
  { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: '/event.json' },
  typeof payload === 'string' ? payload : JSON.stringify(payload),
];
const repository = { full_name: 'acme/shop' };
const fork = { full_name: 'mallory/shop' };

test.each<[string, [Record<string, string>, string], boolean]>([
  ['no CI', [{}, ''], false],
  ['a push', github('push', { repository }), false],
  ['a pull request, which has no secrets', github('pull_request', { repository }), false],
  [
    'pull_request_target from a fork',
    github('pull_request_target', { repository, pull_request: { head: { repo: fork } } }),
    true,
  ],
  [
    'pull_request_target from the repository',
    github('pull_request_target', { repository, pull_request: { head: { repo: repository } } }),
    false,
  ],
  [
    'pull_request_target from a fork that was deleted',
    github('pull_request_target', { repository, pull_request: { head: { repo: null } } }),
    true,
  ],
  ['an event that cannot be read', github('pull_request_target', 'no json'), true],
  [
    'workflow_run for a fork',
    github('workflow_run', { repository, workflow_run: { head_repository: fork } }),
    true,
  ],
  [
    'workflow_run for the repository',
    github('workflow_run', { repository, workflow_run: { head_repository: repository } }),
    false,
  ],
  ['a comment on a pull request', github('issue_comment', { issue: { pull_request: { url: 'x' } } }), true],
  ['a comment on an issue', github('issue_comment', { issue: { number: 1 } }), false],
  [
    'a GitLab merge request from a fork',
    [{ CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '2', CI_MERGE_REQUEST_PROJECT_ID: '1' }, ''],
    true,
  ],
  [
    'a GitLab merge request of the project',
    [{ CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '1', CI_MERGE_REQUEST_PROJECT_ID: '1' }, ''],
    false,
  ],
  ['Azure, from a fork', [{ SYSTEM_PULLREQUEST_ISFORK: 'True' }, ''], true],
  ['Azure, not from a fork', [{ SYSTEM_PULLREQUEST_ISFORK: 'False' }, ''], false],
  ['CircleCI, from a fork', [{ CIRCLECI: 'true', CIRCLE_PR_REPONAME: 'shop' }, ''], true],
  ['CircleCI, not from a fork', [{ CIRCLECI: 'true' }, ''], false],
  [
    'Buildkite, from a fork',
    [
      {
        BUILDKITE_REPO: 'git@github.com:acme/shop.git',
        BUILDKITE_PULL_REQUEST_REPO: 'git://github.com/mallory/shop.git',
      },
      '',
    ],
    true,
  ],
  [
    'Buildkite, not from a fork',
    [
      {
        BUILDKITE_REPO: 'git@github.com:acme/shop.git',
        BUILDKITE_PULL_REQUEST_REPO: 'git://github.com/acme/shop.git',
      },
      '',
    ],
    false,
  ],
  [
    'Buildkite, no pull request',
    [{ BUILDKITE_REPO: 'git@x:a/b', BUILDKITE_PULL_REQUEST_REPO: '' }, ''],
    false,
  ],
])('%s', (_what, [env, payload], expected) => {
  expect(runsForFork(env, () => new TextEncoder().encode(payload))).toBe(expected);
});
