import { describe, expect, it } from 'vitest';
import { pages, textOf } from './pages.ts';
import { shellExamples } from './shell-examples.ts';
import { matches } from './stable-output.ts';

describe('the comparison of output', () => {
  it.each([
    ['a\nb', 'a\nc', false],
    ['a\n…\nd', 'a\nb\nc\nd', true],
    ['…\nd', 'a\nbd', false],
    ['a.c', 'abc', false],
  ])('matches the pattern %j with the output %j: %j', (shown, real, expected) => {
    expect(matches(shown, real)).toBe(expected);
  });
});

it('every example is run except these, for the reason that the page gives', () => {
  const examples = pages.flatMap((page) => shellExamples(page, textOf(page)));
  const left = examples.flatMap(({ page, notRun }) => (notRun === null ? [] : [`${page}: ${notRun}`]));
  expect(left).toEqual([
    'AGENTS.md: they run tests, this one included',
    'CONTRIBUTING.md: needs a clone',
    'CONTRIBUTING.md: they run tests, this one included',
    'CONTRIBUTING.md: these run everything, this test included',
    'CONTRIBUTING.md: needs the npm registry',
    'CONTRIBUTING.md: these run everything, this test included',
    'README.md: the project’s CI runs both',
    'docs/how-to/deployed-build.md: needs a deployed shop',
    'docs/how-to/deployed-build.md: needs a deployed shop',
    'docs/how-to/deployed-build.md: needs a deployed shop',
    'docs/how-to/github.md: needs a repository on GitHub',
    'docs/how-to/github.md: needs a repository on GitHub',
    'docs/how-to/gitlab.md: needs a project on GitLab',
    'docs/how-to/gitlab.md: needs the package in node_modules',
    'docs/how-to/hub.md: needs root and systemd',
    'docs/how-to/migrate-from-a-loop.md: needs gh and a repository',
    'docs/how-to/migrate-from-a-loop.md: needs a Datadog account',
    'docs/how-to/other-ci.md: needs an organization on CircleCI',
    'docs/how-to/other-ci.md: needs a key',
    'docs/how-to/proof.md: needs Docker and a registry',
    'docs/how-to/proof.md: needs cosign and an identity',
    'docs/how-to/without-node.md: test/long/release-files.test.ts runs it with the files of a local release',
    'docs/how-to/without-node.md: test/long/release-files.test.ts runs it with the files of a local release',
    'docs/how-to/without-node.md: it was only read, since it needs a release',
    'docs/how-to/without-node.md: it was only read, since it needs a release',
    'docs/how-to/without-node.md: test/long/release-files.test.ts runs it with the files of a local release',
    'docs/how-to/without-node.md: it was only read, since it needs a release',
    'docs/how-to/without-node.md: the tests build one before they run it',
    'docs/how-to/without-node.md: test/image runs it in the image',
    'docs/how-to/without-node.md: test/image runs it in the image',
    'docs/how-to/without-node.md: test/image runs it in the image',
    'docs/how-to/without-node.md: needs Docker with buildx',
    'docs/project/fleet.md: takes an hour; prints the table below',
    'docs/project/fleet.md: takes ten minutes; prints the tables',
    'docs/project/performance.md: takes minutes on an otherwise idle machine',
    'docs/project/performance.md: takes minutes on an otherwise idle machine',
    'docs/reference/network.md: needs a certificate',
    'docs/reference/output.md: needs the Buildkite agent',
    'docs/reference/webhooks.md: needs a receiver at that address',
    'docs/start/first-steps.md: the project’s CI runs it',
    'docs/start/first-steps.md: needs a clone',
  ]);
});
