import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectCi } from '../../src/ci/provider.ts';
import { page, repositoryOf, repositoryOfRemote, webUrl } from '../../src/ci/provider-url.ts';

describe('the repository of a remote', () => {
  test.each([
    ['https://github.com/acme/web.git', 'acme/web'],
    ['https://gitlab-ci-token:glcbt-64_x@gitlab.example.com:8443/a/b/c/web.git', 'a/b/c/web'],
    ['https://user:p%40ss%2Fword@github.com/acme/web', 'acme/web'],
    ['https://user:p@ss@github.com/acme/web', 'acme/web'],
    ['git@github.com:acme/web.git', 'acme/web'],
    ['git@git.example.com:/acme/web.git', 'acme/web'],
    ['ssh://git:secret@git.example.com:2222/acme/web.git', 'acme/web'],
    ['ssh://git@[2001:db8::1]:2222/acme/web.git', 'acme/web'],
    ['https://dev.azure.com/acme/My%20Shop/_git/web', 'acme/My Shop/web'],
    ['https://acme.visualstudio.com/DefaultCollection/shop/_git/web', 'acme/shop/web'],
    ['git@ssh.dev.azure.com:v3/acme/My%20Shop/web', 'acme/My Shop/web'],
    ['https://tfs.corp.example/tfs/DefaultCollection/shop/_git/web', 'tfs/DefaultCollection/shop/web'],
    ['https://bitbucket.corp.example/scm/shop/web.git', 'shop/web'],
    ['ssh://git@bitbucket.corp.example:7999/shop/web.git', 'shop/web'],
    ['https://acme.visualstudio.com/scm/shop/web', 'acme/scm/shop/web'],
  ])('for %s is %s', (remote, name) => expect(repositoryOfRemote(remote)).toBe(name));

  test.each([
    ['nothing', null],
    ['a folder', '/srv/git/acme/web.git'],
    ['a share on Windows', '\\\\server\\git\\web.git'],
    ['an S3 object', 's3://bucket/acme/web'],
    ['a name without an owner', 'https://git.example.com/web.git'],
    ['`..` in the path', 'https://git.example.com/acme/../web'],
    ['an invalid escape', 'https://git.example.com/acme/%zz'],
    ['an escaped line break', 'https://git.example.com/acme/web%0aset'],
    ['a slash in a password', 'https://user:pa/ss@git.example.com/acme/web'],
    ['an `@` behind the host', 'https://git.example.com/acme/web@v1'],
    ['a very long name', `https://git.example.com/acme/${'x'.repeat(600)}`],
  ])('for %s is null', (_, remote) => expect(repositoryOfRemote(remote)).toBeNull());

  test('can be read from a slug too', () => {
    expect(repositoryOf('acme/web')).toBe('acme/web');
    expect(repositoryOf('a/b/c/web')).toBe('a/b/c/web');
    expect(repositoryOf('git@github.com:acme/web.git')).toBe('acme/web');
    for (const text of [
      'web',
      '/acme/web',
      './acme/web',
      'acme/..',
      'token@host/acme',
      'https://t/x@h/a/b',
      'a\\b/c',
    ])
      expect([text, repositoryOf(text)]).toEqual([text, null]);
  });
});

describe('a web address', () => {
  test.each([
    ['https://ci.example.com/job/7/', 'https://ci.example.com/job/7/'],
    ['https://user:secret@ci.example.com/job/7/', 'https://ci.example.com/job/7/'],
    ['https://ci.example.com/b?id=7&access_token=secret#log', 'https://ci.example.com/b?id=7#log'],
  ])('for %s is %s', (text, url) => expect(webUrl(text)).toBe(url));

  test.each([
    null,
    '',
    'ftp://ci.example.com/',
    'javascript:alert(1)',
    'https://user:1/pass@ci.example.com/',
  ])('for %j is null', (text) => expect(webUrl(text)).toBeNull());

  test('of a page has its parts escaped, and is null if a part is missing', () => {
    expect(page('https://a.example/', 'acme/web', 'runs', '7 8')).toBe(
      'https://a.example/acme/web/runs/7%208',
    );
    expect(page('https://a.example', '7?x=1#y')).toBe('https://a.example/7%3Fx%3D1%23y');
    expect(page('https://a.example', 'acme', null)).toBeNull();
    expect(page(null, 'acme')).toBeNull();
  });
});

describe('a credential in an address', () => {
  const mark = 'hunter2';
  /** Characters that may separate the parts of an address. */
  const part = fc.string({
    unit: fc.constantFrom(
      ...':/@?#\\%&=+;, []{}"\'<>|~!$*()_-.ab1'.split(''),
      '%40',
      '%2F',
      '//',
      '://',
      'ssh://',
    ),
    maxLength: 8,
  });
  const secret = fc.tuple(part, part).map(([before, after]) => `${before}${mark}${after}`);
  const user = fc.constantFrom(
    '',
    'user',
    'x-access-token',
    '1',
    'user:1',
    'a/b',
    'host.example',
    'https://a',
  );
  const address = fc
    .tuple(fc.constantFrom('https://', 'http://', 'ssh://', 'git://', 'git+ssh://', ''), user, secret)
    .chain(([scheme, name, password]) =>
      fc
        .constantFrom(
          'git.example.com/acme/web.git',
          'git.example.com:8443/a/b/c',
          'git.example.com:acme/web',
          'h/x/y',
        )
        .chain((place) =>
          fc.constantFrom(
            `${scheme}${name}:${password}@${place}`,
            `${scheme}${password}@${place}`,
            `${scheme}${password}:x-oauth-basic@${place}`,
          ),
        ),
    );

  test('never appears in a repository or a web address, whatever characters it contains', () =>
    fc.assert(
      fc.property(address, (text) => {
        expect(repositoryOfRemote(text) ?? '').not.toContain(mark);
        expect(repositoryOf(text) ?? '').not.toContain(mark);
        expect(webUrl(text) ?? '').not.toContain(mark);
      }),
      { numRuns: 1000 },
    ));

  test('never appears in a context, from git or from any variable with an address', () => {
    const places = [
      [{ GITHUB_ACTIONS: 'true' }, ['GITHUB_REPOSITORY', 'GITHUB_SERVER_URL']],
      [{ GITLAB_CI: 'true' }, ['CI_PROJECT_PATH', 'CI_PIPELINE_URL', 'CI_REPOSITORY_URL']],
      [{ CIRCLECI: 'true' }, ['CIRCLE_REPOSITORY_URL', 'CIRCLE_BUILD_URL', 'CIRCLE_PULL_REQUEST']],
      [
        { BUILD_TAG: 'jenkins-a-1', BUILD_NUMBER: '1', JOB_NAME: 'a' },
        ['GIT_URL', 'BUILD_URL', 'JENKINS_URL'],
      ],
      [
        { TF_BUILD: 'True', BUILD_BUILDID: '1', SYSTEM_TEAMPROJECT: 'p' },
        ['BUILD_REPOSITORY_URI', 'SYSTEM_COLLECTIONURI'],
      ],
      [{ BUILDKITE: 'true' }, ['BUILDKITE_REPO', 'BUILDKITE_BUILD_URL', 'BUILDKITE_PULL_REQUEST_REPO']],
      [{ TEAMCITY_VERSION: '1' }, ['BUILD_URL']],
      [{ TRAVIS: 'true' }, ['TRAVIS_REPO_SLUG', 'TRAVIS_BUILD_WEB_URL']],
      [{ DRONE: 'true' }, ['DRONE_REPO', 'DRONE_BUILD_LINK', 'DRONE_GIT_HTTP_URL']],
      [{ CI: 'woodpecker' }, ['CI_REPO', 'CI_PIPELINE_URL', 'CI_REPO_CLONE_URL']],
      [
        { CODEBUILD_BUILD_ID: 'a:1', CODEBUILD_BUILD_ARN: 'a' },
        ['CODEBUILD_SOURCE_REPO_URL', 'CODEBUILD_PUBLIC_BUILD_URL'],
      ],
      [{ BUILDER_OUTPUT: '/o', _PR_NUMBER: '1' }, ['REPO_FULL_NAME', '_HEAD_REPO_URL']],
      [{}, []],
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...places), address, ([env, names], text) => {
        const filled = { ...env, ...Object.fromEntries(names.map((name) => [name, text])) };
        const context = detectCi(filled, { remote: text, branch: null, commit: null });
        expect(JSON.stringify(context)).not.toContain(mark);
      }),
      { numRuns: 1000 },
    );
  });
});
