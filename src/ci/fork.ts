import type { Env } from './provider-env.ts';
import { isSameRepository } from './provider-url.ts';

/** The variables by which a CI names the repository that a change comes from, and the one that it goes to. */
interface Sides {
  readonly head: string;
  readonly base: string;
  /** Set, and not `false`, for every pull request. One whose sides are not both known may be from anywhere. */
  readonly pull?: string;
}

/** After the documentation of each CI: see `fixtures/ci/<provider>/variables.txt`. */
const sides: readonly Sides[] = [
  { head: 'CI_MERGE_REQUEST_SOURCE_PROJECT_ID', base: 'CI_MERGE_REQUEST_PROJECT_ID' },
  { head: 'CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY', base: 'CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY' },
  { head: 'TRAVIS_PULL_REQUEST_SLUG', base: 'TRAVIS_REPO_SLUG', pull: 'TRAVIS_PULL_REQUEST' },
  { head: 'SEMAPHORE_GIT_PR_SLUG', base: 'SEMAPHORE_GIT_REPO_SLUG', pull: 'SEMAPHORE_GIT_PR_NUMBER' },
  {
    head: 'APPVEYOR_PULL_REQUEST_HEAD_REPO_NAME',
    base: 'APPVEYOR_REPO_NAME',
    pull: 'APPVEYOR_PULL_REQUEST_NUMBER',
  },
  { head: 'BUILDKITE_PULL_REQUEST_REPO', base: 'BUILDKITE_REPO', pull: 'BUILDKITE_PULL_REQUEST' },
  { head: 'SYSTEM_PULLREQUEST_SOURCEREPOSITORYURI', base: 'BUILD_REPOSITORY_URI' },
  { head: '_HEAD_REPO_URL', base: 'REPO_FULL_NAME' },
  { head: 'ghprbAuthorRepoGitUrl', base: 'ghprbGhRepository' },
  { head: 'gitlabSourceRepoHttpUrl', base: 'gitlabTargetRepoHttpUrl' },
  { head: 'gitlabSourceRepoSshUrl', base: 'gitlabTargetRepoSshUrl' },
];

/** What is set for changes from forks alone. */
const marks = ['CIRCLE_PR_NUMBER', 'CIRCLE_PR_REPONAME', 'CIRCLE_PR_USERNAME', 'CHANGE_FORK'];

/** The events of GitHub that may be about a change from anywhere. */
const githubEvents = /^(pull_request|workflow_run|issue_comment|check_run|check_suite)/;

type Json = { readonly [key: string]: Json | undefined } & { readonly full_name?: string };

/** What GitHub says of any event: a fork, the repository's own, or nothing that could be read, which is no good sign. */
function githubFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  const name = env.GITHUB_EVENT_NAME ?? '';
  if (name === '') return false;
  try {
    const event: Json = JSON.parse(new TextDecoder().decode(readFile(env.GITHUB_EVENT_PATH ?? '')));
    const base = event.repository?.full_name ?? env.GITHUB_REPOSITORY;
    const isOutside = (head: Json | null | undefined) =>
      typeof head?.full_name !== 'string' || base === undefined || !isSameRepository(head.full_name, base);
    // A comment does not say where the pull request comes from.
    if (event.issue != null) return event.issue.pull_request !== undefined;
    const suite = event.check_suite ?? event.check_run?.check_suite;
    // A dispatch by a comment carries the pull request along.
    const pull = event.pull_request ?? event.client_payload?.pull_request;
    if (pull != null) return isOutside(pull.head?.repo);
    if (event.workflow_run != null) return isOutside(event.workflow_run.head_repository);
    // GitHub knows no branch for a suite of a fork.
    if (suite != null) return suite.head_branch == null;
  } catch {}
  return githubEvents.test(name);
}

/**
 * Whether this pipeline runs for a change that somebody without access to the repository has made. A fork's pipeline
 * usually gets no secrets; these are the ways by which it does.
 */
export function runsForFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  const given = (name: string) => env[name]?.trim() ?? '';
  return (
    githubFork(env, readFile) ||
    given('SYSTEM_PULLREQUEST_ISFORK').toLowerCase() === 'true' ||
    marks.some((name) => given(name) !== '') ||
    sides.some(({ head, base, pull = '' }) => {
      const [from, to] = [given(head), given(base)];
      if (from !== '' && to !== '') return !isSameRepository(from, to);
      return !['', 'false'].includes(given(pull).toLowerCase());
    })
  );
}
