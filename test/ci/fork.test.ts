import { describe, expect, test } from 'vitest';
import { runsForFork } from '../../src/ci/fork.ts';
import { isSameRepository } from '../../src/ci/provider-url.ts';
import { titled, titledUnknown } from './provider-fixtures.ts';

const github = (event: string, payload: unknown): [Record<string, string>, string] => [
  { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: '/event.json' },
  typeof payload === 'string' ? payload : JSON.stringify(payload),
];
const repository = { full_name: 'acme/shop' };
const fork = { full_name: 'mallory/shop' };

test.each<[string, [Record<string, string>, string], boolean]>([
  ['no CI', [{}, ''], false],
  ['a push', github('push', { repository }), false],
  ['a pull request without details', github('pull_request', { repository }), true],
  ...[
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
    'pull_request_of_next_year',
    'an_event_of_next_year',
  ].flatMap((event): [string, [Record<string, string>, string], boolean][] => [
    [`${event} from a fork`, github(event, { repository, pull_request: { head: { repo: fork } } }), true],
    [
      `${event} from the repository`,
      github(event, { repository, pull_request: { head: { repo: { full_name: 'Acme/Shop' } } } }),
      false,
    ],
    [
      `${event} from a fork that was deleted`,
      github(event, { repository, pull_request: { head: { repo: null } } }),
      true,
    ],
    [`${event} without a base`, github(event, { pull_request: { head: { repo: fork } } }), true],
  ]),
  ['a push whose event cannot be read', github('push', 'no json'), false],
  ['a schedule without an event', github('schedule', 'null'), false],
  ['a comment whose event is empty', github('issue_comment', {}), true],
  [
    'a check suite of a fork',
    github('check_suite', { repository, check_suite: { head_branch: null } }),
    true,
  ],
  [
    'a check suite of a branch',
    github('check_suite', { repository, check_suite: { head_branch: 'x' } }),
    false,
  ],
  [
    'a check run of a fork',
    github('check_run', { repository, check_run: { check_suite: { head_branch: null } } }),
    true,
  ],
  [
    'a dispatch that carries the pull request of a fork',
    github('repository_dispatch', {
      repository,
      client_payload: { pull_request: { head: { repo: fork } } },
    }),
    true,
  ],
  ['a merge queue', github('merge_group', { repository, merge_group: { head_ref: 'x' } }), false],
  [
    'a dispatch without a payload',
    github('repository_dispatch', { repository, client_payload: null }),
    false,
  ],
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
  // Anyone who can read the repository can write the comment, and its payload does not name a change.
  [
    'a comment on a discussion',
    github('discussion_comment', { repository, discussion: { number: 1 } }),
    true,
  ],
  ['a status of a commit on no branch', github('status', { repository, branches: [] }), true],
  ['a status without branches', github('status', { repository }), true],
  ['a status of a commit on a branch', github('status', { repository, branches: [{ name: 'x' }] }), false],
  ...['deployment', 'deployment_status'].flatMap(
    (event): [string, [Record<string, string>, string], boolean][] => {
      const [env, payload] = github(event, { repository, deployment: { ref: 'x' }, workflow_run: null });
      return [
        [`${event} of a commit`, [{ ...env, GITHUB_REF: '' }, payload], true],
        [`${event} of a pull request`, [{ ...env, GITHUB_REF: 'refs/pull/12/merge' }, payload], true],
        [`${event} of a branch`, [{ ...env, GITHUB_REF: 'refs/heads/x' }, payload], false],
        [`${event} of a tag`, [{ ...env, GITHUB_REF: 'refs/tags/x' }, payload], false],
        [
          `${event} by a workflow that ran for a fork`,
          [
            { ...env, GITHUB_REF: 'refs/heads/x' },
            JSON.stringify({ repository, deployment: {}, workflow_run: { head_repository: fork } }),
          ],
          true,
        ],
      ];
    },
  ),
  ['a status whose event cannot be read', github('status', 'no json'), true],
  ['a deployment whose event cannot be read', github('deployment_status', 'no json'), true],
  ['a dispatch by a person', github('workflow_dispatch', { repository, inputs: { ref: 'x' } }), false],
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
  [
    'Azure, from another repository',
    [
      {
        SYSTEM_PULLREQUEST_SOURCEREPOSITORYURI: 'https://dev.azure.com/mallory/shop/_git/web',
        BUILD_REPOSITORY_URI: 'https://acme@dev.azure.com/acme/shop/_git/web',
      },
      '',
    ],
    true,
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
    'a pull request at Buildkite without a repository',
    [{ BUILDKITE_PULL_REQUEST: '12', BUILDKITE_REPO: 'git@github.com:acme/shop.git' }, ''],
    true,
  ],
  ['no pull request at Travis', [{ TRAVIS_PULL_REQUEST: 'false', TRAVIS_REPO_SLUG: 'acme/shop' }, ''], false],
  [
    'a pull request at Travis without a source',
    [{ TRAVIS_PULL_REQUEST: '12', TRAVIS_PULL_REQUEST_SLUG: '' }, ''],
    true,
  ],
  ['Jenkins with a change of the repository', [{ CHANGE_ID: '12', CHANGE_FORK: '' }, ''], false],
  [
    'Buildkite, no pull request',
    [{ BUILDKITE_REPO: 'git@x:a/b', BUILDKITE_PULL_REQUEST_REPO: '' }, ''],
    false,
  ],
])('runsForFork recognises %s', (_what, [env, payload], expected) => {
  expect(runsForFork(env, () => new TextEncoder().encode(payload))).toBe(expected);
});

test.each([...titled, ...titledUnknown])(
  'runsForFork agrees with the fixture %s',
  (_, { env, eventPayload, fork: isFork = false }) => {
    const readFile = () => {
      if (eventPayload === undefined) throw new Error('no such file');
      return new TextEncoder().encode(JSON.stringify(eventPayload));
    };
    expect(runsForFork(env, readFile)).toBe(isFork);
  },
);

describe('isSameRepository', () => {
  test.each([
    ['git@github.com:acme/shop.git', 'https://github.com/acme/shop'],
    ['git@github.com:acme/shop.git', 'git://github.com/acme/shop.git'],
    ['ssh://git@github.com:22/acme/shop.git', 'https://user:pw@GitHub.com:443/Acme/Shop/'],
    ['ssh://git@ssh.github.com:443/acme/shop.git', 'https://github.com/acme/shop'],
    ['git@altssh.gitlab.com:a/b/c', 'https://gitlab.com/a/b/c.git'],
    ['https://gitlab.example.com/a/b/c/shop.git', 'git@gitlab.example.com:a/b/c/shop.git'],
    ['https://github.com./acme/shop', 'https://github.com/acme/shop'],
    ['git@ssh.dev.azure.com:v3/acme/shop/web', 'https://acme@dev.azure.com/acme/shop/_git/web'],
    ['https://acme.visualstudio.com/shop/_git/web', 'https://dev.azure.com/acme/shop/_git/web'],
    ['https://bitbucket.example.com/scm/shop/web.git', 'ssh://git@bitbucket.example.com:7999/shop/web.git'],
    ['acme/shop', 'https://github.com/acme/shop.git'],
    ['Acme/Shop', 'acme/shop'],
    ['4711', '4711'],
  ])('is true for %s and %s', (a, b) => {
    expect(isSameRepository(a, b)).toBe(true);
    expect(isSameRepository(b, a)).toBe(true);
  });

  test.each([
    ['git@github.com:acme/shop.git', 'git@github.com:mallory/shop.git'],
    ['git@gitlab.com:acme/web/shop.git', 'https://gitlab.com/mallory/web/shop.git'],
    ['git@gitlab.com:acme/web/shop.git', 'https://gitlab.com/web/shop.git'],
    ['https://github.com/acme/shop', 'https://github.example.com/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com.evil.example/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com@evil.example/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com/acme/shop/../../mallory/shop'],
    ['https://github.com/acme/shop', 'https://github.com/acme%2Fshop'],
    ['https://github.com/acme/shop', 'https://github.com/acme/\u017fhop'],
    ['acme/shop', 'shop'],
    ['4711', '4712'],
    ['/srv/git/shop.git', '/home/mallory/shop.git'],
    ['', 'acme/shop'],
  ])('is false for %s and %s', (a, b) => {
    expect(isSameRepository(a, b)).toBe(false);
    expect(isSameRepository(b, a)).toBe(false);
  });
});
