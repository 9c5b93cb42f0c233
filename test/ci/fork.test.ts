import { describe, expect, test } from 'vitest';
import { runsForFork } from '../../src/ci/fork.ts';
import { isSameRepository } from '../../src/ci/provider-url.ts';
import { titled, titledUnknown } from './provider-fixtures.ts';

const repository = { full_name: 'acme/shop' };
const fork = { full_name: 'mallory/shop' };
const pullOf = (repo: object | null) => ({ pull_request: { head: { repo } } });
const suite = (head_branch: string | null) => ({ check_suite: { head_branch } });

const isFork = (env: Record<string, string>, payload: unknown) => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return runsForFork(env, () => new TextEncoder().encode(text));
};

/** Variables that the fixtures do not have. */
test.each<[string, unknown, boolean, string?]>([
  ['push', 'no json', false],
  ['pull_request', pullOf({ full_name: 'Acme/Shop' }), false],
  ['pull_request', pullOf(null), true],
  ['pull_request', { ...pullOf(fork), repository: undefined }, true],
  ['an_event_of_next_year', pullOf(fork), true],
  ['an_event_of_next_year', pullOf(repository), false],
  ['pull_request_target', 'no json', true],
  ['workflow_run', { workflow_run: { head_repository: fork } }, true],
  ['workflow_run', { workflow_run: { head_repository: repository } }, false],
  ['check_suite', suite(null), true],
  ['check_suite', suite('x'), false],
  ['check_run', { check_run: suite(null) }, true],
  ['repository_dispatch', { client_payload: pullOf(fork) }, true],
  ['repository_dispatch', { client_payload: null }, false],
  ['issue_comment', {}, true],
  ['issue_comment', { issue: { pull_request: { url: 'x' } } }, true],
  ['issue_comment', { issue: { number: 1 } }, false],
  // Anyone who can read the repository can write the comment, and its payload does not name a change.
  ['discussion_comment', { discussion: { number: 1 } }, true],
  ['status', { branches: [] }, true],
  ['status', { branches: [{ name: 'x' }] }, false],
  ['status', {}, true],
  ['status', 'no json', true],
  ['deployment_status', 'no json', true],
  ['deployment', { deployment: {} }, true, 'refs/pull/12/merge'],
  ['deployment', { deployment: {} }, false, 'refs/tags/x'],
  ['deployment', { deployment: {}, workflow_run: { head_repository: fork } }, true, 'refs/heads/x'],
])('the GitHub event %s with %j is about a fork: %s', (name, payload, expected, ref = '') => {
  const env = { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: '/event.json', GITHUB_REF: ref };
  const event = typeof payload === 'string' ? payload : { repository, ...(payload as object) };
  expect(isFork(env, event)).toBe(expected);
});

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ BUILDKITE_PULL_REQUEST: '12', BUILDKITE_REPO: 'git@github.com:acme/shop.git' }, true],
  [{ TRAVIS_PULL_REQUEST: '12', TRAVIS_PULL_REQUEST_SLUG: '' }, true],
  [{ TRAVIS_PULL_REQUEST: 'false', TRAVIS_REPO_SLUG: 'acme/shop' }, false],
  [{ SYSTEM_PULLREQUEST_ISFORK: 'True' }, true],
  [{ SYSTEM_PULLREQUEST_ISFORK: 'False' }, false],
  [{ CIRCLE_PR_REPONAME: 'shop' }, true],
  [{ CHANGE_ID: '12', CHANGE_FORK: '' }, false],
])('the variables %j are those of a fork: %s', (env, expected) => {
  expect(isFork(env, '')).toBe(expected);
});

test.each([...titled, ...titledUnknown])(
  'runsForFork agrees with the fixture %s',
  (_, { env, eventPayload, fork: expected = false }) => {
    const readFile = () => {
      if (eventPayload === undefined) throw new Error('no such file');
      return new TextEncoder().encode(JSON.stringify(eventPayload));
    };
    expect(runsForFork(env, readFile)).toBe(expected);
  },
);

describe('isSameRepository', () => {
  test.each([
    ['git@github.com:acme/shop.git', 'git://github.com/acme/shop.git'],
    ['ssh://git@ssh.github.com:443/acme/shop.git', 'https://github.com/acme/shop'],
    ['git@altssh.gitlab.com:a/b/c', 'https://gitlab.com/a/b/c.git'],
    ['https://gitlab.example.com/a/b/c/shop.git', 'git@gitlab.example.com:a/b/c/shop.git'],
    ['git@ssh.dev.azure.com:v3/acme/shop/web', 'https://acme@dev.azure.com/acme/shop/_git/web'],
    ['https://bitbucket.example.com/scm/shop/web.git', 'ssh://git@bitbucket.example.com:7999/shop/web.git'],
    ['acme/shop', 'https://github.com/acme/shop.git'],
    ['4711', '4711'],
  ])('is true for %s and %s', (a, b) => {
    expect(isSameRepository(a, b)).toBe(true);
    expect(isSameRepository(b, a)).toBe(true);
  });

  test.each([
    ['git@github.com:acme/shop.git', 'git@github.com:mallory/shop.git'],
    ['git@gitlab.com:acme/web/shop.git', 'https://gitlab.com/web/shop.git'],
    ['https://github.com/acme/shop', 'https://github.example.com/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com.evil.example/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com@evil.example/acme/shop'],
    ['https://github.com/acme/shop', 'https://github.com/acme/shop/../../mallory/shop'],
    ['https://github.com/acme/shop', 'https://github.com/acme/\u017fhop'],
    ['/srv/git/shop.git', '/home/mallory/shop.git'],
    ['', 'acme/shop'],
  ])('is false for %s and %s', (a, b) => {
    expect(isSameRepository(a, b)).toBe(false);
    expect(isSameRepository(b, a)).toBe(false);
  });
});
