import type { Env } from './provider-row.ts';
import { isSameRepository } from './provider-url.ts';

/** The variables with the repository that a change comes from (head) and the one that it goes to (base). */
interface Sides {
  readonly head: string;
  readonly base: string;
  /** Set, and not `false`, for every pull request. A pull request with an unknown head or base counts as a fork's. */
  readonly pull?: string;
}

/** From the documentation of each CI: see `fixtures/ci/<name>/variables.txt`. Some of these CI systems are not detected otherwise. */
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

/** Variables that are set only for changes from forks. */
const forkVariables = ['CIRCLE_PR_NUMBER', 'CIRCLE_PR_REPONAME', 'CIRCLE_PR_USERNAME', 'CHANGE_FORK'];

/** GitHub events that a change from a fork may cause. */
const possibleForkEvents =
  /^(?:pull_request|workflow_run|issue_comment|discussion_comment|check_run|check_suite|deployment|status$)/;

type Payload = { readonly [key: string]: Payload | undefined } & { readonly full_name?: string };

/** Returns whether the GitHub event is about a fork. An event that cannot be read counts as a fork's if it may be one. */
function githubFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  const name = env.GITHUB_EVENT_NAME ?? '';
  if (name === '') return false;
  try {
    const event: Payload = JSON.parse(new TextDecoder().decode(readFile(env.GITHUB_EVENT_PATH ?? '')));
    const base = event.repository?.full_name ?? env.GITHUB_REPOSITORY;
    const isOutside = (head: Payload | null | undefined) =>
      typeof head?.full_name !== 'string' || base === undefined || !isSameRepository(head.full_name, base);
    // A comment's payload does not contain the head repository of the pull request.
    if (event.issue != null) return event.issue.pull_request !== undefined;
    const suite = event.check_suite ?? event.check_run?.check_suite;
    // A dispatch that a comment caused carries the pull request in `client_payload`.
    const pull = event.pull_request ?? event.client_payload?.pull_request;
    if (pull != null) return isOutside(pull.head?.repo);
    if (event.workflow_run != null) return isOutside(event.workflow_run.head_repository);
    // A fork's commit can be deployed by its id or its pull request, but not as a branch or a tag.
    if (event.deployment != null) return !/^refs\/(?:heads|tags)\//.test(env.GITHUB_REF ?? '');
    // Vercel also dispatches its deployments of forks, and its payload does not say so.
    if (event.client_payload?.git != null) return true;
    // The branches of the repository that contain the commit.
    if (name === 'status') return event.branches?.[0] === undefined;
    // The suite of a fork has no branch.
    if (suite != null) return suite.head_branch == null;
  } catch {}
  return possibleForkEvents.test(name);
}

/**
 * Returns whether this pipeline runs for a change from a fork, whose author may not have access to the repository. Such a
 * pipeline usually gets no secrets; this detects the cases where it does.
 */
export function runsForFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  const textOf = (name: string) => env[name]?.trim() ?? '';
  return (
    githubFork(env, readFile) ||
    textOf('SYSTEM_PULLREQUEST_ISFORK').toLowerCase() === 'true' ||
    forkVariables.some((name) => textOf(name) !== '') ||
    sides.some(({ head, base, pull = '' }) => {
      const [from, to] = [textOf(head), textOf(base)];
      if (from !== '' && to !== '') return !isSameRepository(from, to);
      return !['', 'false'].includes(textOf(pull).toLowerCase());
    })
  );
}

/** The remedy if GitHub gives a pull request of a fork or of Dependabot no secrets; null if another cause is likelier. */
export function withheldHint(env: Env, readFile: (path: string) => Uint8Array): string | null {
  if (env.GITHUB_ACTOR === 'dependabot[bot]')
    return 'Dependabot pull requests get no Actions secrets: add the secret under Settings → Secrets and variables → Dependabot';
  const isPull = /^pull_request(?!_target$)/.test(env.GITHUB_EVENT_NAME ?? '');
  if (!isPull || !githubFork(env, readFile)) return null;
  return 'pull requests from forks get no secrets: a maintainer can push the commit to a branch of this repository and start the workflow there (workflow_dispatch), or use pull_request_target behind an environment with reviewers';
}
