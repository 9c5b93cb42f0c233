import { describe, expect, test } from 'vitest';
import { providers } from '../../src/ci/context.ts';
import { detectCi, rows } from '../../src/ci/provider.ts';
import { inCi } from '../../src/output/motion.ts';
import { detect, type Fixture, fixtures, titled, titledUnknown, wrongCommit } from './provider-fixtures.ts';

describe('a CI system', () => {
  test('is not detected by variables that other programs set too', () => {
    const nothing = [
      { CI: 'true' },
      {
        CI: '1',
        CONTINUOUS_INTEGRATION: 'true',
        BUILD_NUMBER: '7',
        BUILD_ID: '7',
        BUILD_URL: 'https://a.example/',
      },
      { GITHUB_ACTIONS: '', GITLAB_CI: ' ', CIRCLECI: 'false', TRAVIS: '0', BUILDKITE: 'no', DRONE: 'false' },
      // A Jenkins server or the image of an agent, without a build.
      { JENKINS_HOME: '/var/jenkins_home', JENKINS_URL: 'https://ci.example.com/' },
      // A shell in Google Cloud, without a build.
      { PROJECT_ID: 'shop', LOCATION: 'europe-west1', BRANCH_NAME: 'main', COMMIT_SHA: wrongCommit },
      { CODEBUILD_SRC_DIR: '/src', AWS_REGION: 'eu-west-1' },
      { GITHUB_TOKEN: 't', GITHUB_REPOSITORY: 'a/b', CI_PIPELINE_ID: '1', CIRCLE_TOKEN: 't' },
    ];
    expect(nothing.map((env) => detectCi(env).provider)).toEqual(nothing.map(() => null));
  });

  test.each(titledUnknown)('without a row is still CI, not a desktop: %s', (_, { env, event }) => {
    const git = { remote: null, branch: 'main', commit: wrongCommit };
    const { provider, ref } = detectCi(env, git);
    expect(provider).toBeNull();
    expect(inCi(env)).toBe(true);
    // Git has the target branch in a pull request.
    expect(ref).toBe(event === 'pull_request' ? null : 'main');
  });

  test('takes precedence over the CI that it runs inside, whatever the order of the variables', () => {
    const order = rows.map((row) => row.provider);
    const sample = (place: string) =>
      fixtures.find((one) => one.place === place && one.name !== 'no-automap')?.env;
    for (const [outer, inner] of order.flatMap((a, i) => order.slice(0, i).map((b) => [a, b] as const))) {
      // Some CI systems share names: the inner CI overwrites the variables that it inherits.
      const env = { ...sample(outer), ...sample(inner) };
      const reversed = Object.fromEntries(Object.entries(env).toReversed());
      expect([outer, inner, detectCi(env).provider]).toEqual([outer, inner, inner]);
      expect(detectCi(reversed)).toEqual(detectCi(env));
    }
  });

  test('has exactly one row in the table', () =>
    expect(rows.map((row) => row.provider).toSorted()).toEqual(providers.toSorted()));
});

describe('git', () => {
  const git = { remote: 'git@github.com:acme/web.git', branch: 'main', commit: '1'.repeat(40) };
  test('provides no commit for a pull request that only its event shows', () => {
    const env = {
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'pull_request_target',
      GITHUB_REF: 'refs/heads/main',
    };
    expect(detectCi(env, git)).toMatchObject({ commitSha: null, ref: null });
  });

  test('fills in only the facts that the CI does not provide', () => {
    const { repository, ref, commitSha } = detectCi({ TEAMCITY_VERSION: '2026.1' }, git);
    expect([repository, ref, commitSha]).toEqual(['acme/web', 'main', git.commit]);
    const pushed = fixtures.find((one) => one.place === 'gitlab' && one.name === 'push') as Fixture;
    expect(detect({ ...pushed, git })).toEqual(pushed.expected);
  });

  // TeamCity does not tell a pull request.
  test.each(titled.filter(([, { event, place }]) => event === 'pull_request' && place !== 'teamcity'))(
    'provides no commit and no branch for %s',
    (_, fixture) => {
      const other = { remote: 'git@github.com:other/other.git', branch: 'other', commit: wrongCommit };
      const { commitSha, ref } = detect({ ...fixture, git: other });
      expect([commitSha, ref]).not.toContain('other');
      expect(commitSha).not.toBe(wrongCommit);
    },
  );
});

describe('untrusted values', () => {
  const env = (values: Record<string, string>) => ({
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: 'push',
    ...values,
  });

  test('are trimmed, and null if they are empty', () => {
    expect(detectCi(env({ GITHUB_JOB: '  gate\n' })).job).toBe('gate');
    expect(detectCi(env({ GITHUB_JOB: ' \t\n' })).job).toBeNull();
  });

  test.each(['a\nb', 'a\u001b[31mb', 'a\u0000b', 'a\u009bb', 'x'.repeat(1001)])(
    'are null if they contain control characters or are too long: %j',
    (value) => {
      const { job, step, ref, repository, temporaryFolder, variables } = detectCi(
        env({
          GITHUB_JOB: value,
          GITHUB_ACTION: value,
          GITHUB_REF: `refs/heads/${value}`,
          GITHUB_REPOSITORY: `acme/${value}`,
          RUNNER_TEMP: value,
        }),
      );
      expect([job, step, ref, repository, temporaryFolder]).toEqual([null, null, null, null, null]);
      expect(variables).toEqual(['GITHUB_ACTIONS', 'GITHUB_EVENT_NAME']);
    },
  );

  test.each(['HEAD', 'main', '83a20e', 'g'.repeat(40), 'a'.repeat(65), '--all'])(
    'are not read as a commit: %j',
    (GITHUB_SHA) => expect(detectCi(env({ GITHUB_SHA })).commitSha).toBeNull(),
  );

  test('in a payload are used only if they are a valid commit, branch or number', () => {
    const pull = env({ GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_REF: 'refs/heads/main' });
    const payload = { pull_request: { number: '7; rm', head: { sha: '$(id)', ref: 'a\u001b[2Jb' } } };
    expect(detectCi(pull, undefined, JSON.stringify(payload))).toMatchObject({
      commitSha: null,
      ref: null,
    });
  });
});
