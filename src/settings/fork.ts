type Env = Readonly<Record<string, string | undefined>>;

/** The events that give a workflow secrets though its files may be a stranger's. */
const githubEvents = ['pull_request_target', 'workflow_run', 'issue_comment'];

type Json = { readonly [key: string]: Json | undefined } & { readonly full_name?: string };

/** What GitHub says of the event: a fork, the repository's own, or nothing that could be read, which is no good sign. */
function githubFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  if (!githubEvents.includes(env.GITHUB_EVENT_NAME ?? '')) return false;
  try {
    const event: Json = JSON.parse(new TextDecoder().decode(readFile(env.GITHUB_EVENT_PATH ?? '')));
    // A comment does not say where the pull request comes from.
    if (env.GITHUB_EVENT_NAME === 'issue_comment') return event.issue?.pull_request !== undefined;
    const head = event.pull_request?.head?.repo ?? event.workflow_run?.head_repository;
    return head?.full_name === undefined || head.full_name !== event.repository?.full_name;
  } catch {
    return true;
  }
}

/** `owner/name` of a repository's URL, of whatever kind: Buildkite writes the two that are compared differently. */
const ownerAndName = (url: string | undefined) => /[:/]([^:/]+\/[^:/]+?)(?:\.git)?\/?$/.exec(url ?? '')?.[1];

const differ = (a: string | undefined, b: string | undefined) =>
  a !== undefined && a !== '' && b !== undefined && b !== '' && a !== b;

/**
 * Whether this pipeline runs for a change that somebody without access to the repository has made. A fork's pipeline
 * usually gets no secrets; these are the ways by which it does.
 */
export function runsForFork(env: Env, readFile: (path: string) => Uint8Array): boolean {
  return (
    githubFork(env, readFile) ||
    differ(env.CI_MERGE_REQUEST_SOURCE_PROJECT_ID, env.CI_MERGE_REQUEST_PROJECT_ID) ||
    env.SYSTEM_PULLREQUEST_ISFORK?.toLowerCase() === 'true' ||
    // CircleCI sets it for pull requests from forks only.
    (env.CIRCLECI === 'true' && (env.CIRCLE_PR_REPONAME ?? '') !== '') ||
    differ(ownerAndName(env.BUILDKITE_PULL_REQUEST_REPO), ownerAndName(env.BUILDKITE_REPO))
  );
}
