import type { StopCause } from '../errors.ts';
import type { CiContext, GitFacts } from './context.ts';
import { type Env, factsOf, type ProviderRow, type Reader, readerOf } from './provider-row.ts';
import { azure, github, gitlab } from './providers/hosting.ts';
import { bitbucket, buildkite, cloudbuild, drone, teamcity, travis, woodpecker } from './providers/plain.ts';
import { circleci, codebuild, jenkins } from './providers/servers.ts';

/*
 * No library fits (reviewed in November 2026). ci-info 4.4 provides little more than the CI's name, and reads process.env when
 * it is loaded. env-ci 11 runs git, provides no event, attempt or parallel position, and for five CI systems reports the merge commit
 * of a pull request as its head.
 *
 * If an environment matches several CI systems, the first row wins: a CI system that runs inside another comes before it. CodeBuild,
 * TeamCity and Jenkins start the agents of other CI systems, which inherit their variables. Cloud Build is last because its
 * variables have common names.
 */
export const rows: readonly ProviderRow[] = [
  github,
  gitlab,
  circleci,
  azure,
  bitbucket,
  buildkite,
  travis,
  drone,
  woodpecker,
  codebuild,
  teamcity,
  jenkins,
  cloudbuild,
];

/** CI systems without a row, in whose pull requests git has a merge commit or the target branch. */
const unknown: Partial<ProviderRow> = {
  pull: ['APPVEYOR_PULL_REQUEST_NUMBER', 'SEMAPHORE_GIT_PR_NUMBER'],
};

/**
 * Returns the CI context from the environment and from git. In GitHub Actions, only the file that GITHUB_EVENT_PATH names
 * contains the head of a pull request; without its text in `eventPayload`, the commit is null.
 */
export function detectCi(env: Env, git?: GitFacts, eventPayload?: string): CiContext {
  const row = rows.find((row) => isDetected(row, readerOf(env)));
  const read = readerOf(env, eventPayload);
  if (row !== undefined) isDetected(row, read);
  const facts = factsOf(row ?? unknown, read, git);
  return { provider: row?.provider ?? null, ...facts, variables: read.variables() };
}

function isDetected({ detect }: ProviderRow, read: Reader): boolean {
  return typeof detect === 'string' ? read.text(detect)?.toLowerCase() === 'true' : detect(read);
}

/** Returns the only line of git's output; null without output, and for several lines. */
function oneLine(output: string | null): string | null {
  const [first, ...more] = (output ?? '').split(/\r?\n/).filter((text) => text.trim() !== '');
  return first === undefined || more.length > 0 ? null : first.trim();
}

/**
 * Returns facts about the working copy. `read` runs git with these arguments and returns its output, or null if it fails. The
 * remote may contain credentials.
 */
export function gitFacts(read: (args: string[]) => string | null): GitFacts {
  const line = (...args: string[]) => oneLine(read(args));
  const commit = line('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const branch = line('symbolic-ref', '--short', '--quiet', 'HEAD');
  return {
    // Not `git remote get-url`: it would apply `insteadOf`, which may contain a token.
    remote: line('config', '--get', 'remote.origin.url'),
    branch: branch === 'HEAD' ? null : branch,
    commit: commit !== null && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : null,
  };
}

/**
 * Returns the repository's default branch: that of the remote, or else the first of the usual ones that exists.
 * @param read as for `gitFacts`
 */
export function defaultBranchOf(read: (args: string[]) => string | null): string {
  const remote = oneLine(read(['symbolic-ref', '--short', '--quiet', 'refs/remotes/origin/HEAD']));
  if (remote?.startsWith('origin/')) return remote.slice('origin/'.length);
  const usual = [oneLine(read(['config', '--get', 'init.defaultBranch'])), 'main', 'master'];
  const names = usual.filter((name) => name !== null);
  const exists = (name: string) => read(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`]) !== null;
  return names.find(exists) ?? names[0] ?? 'main';
}

/** Returns the reason that is sent with a cancel: why rungate cancels, and in which job. */
export function cancelReason(why: StopCause | 'timeout' | 'orphaned', env: Env): string {
  const known = { timeout: 'the wait timed out', orphaned: 'the process that started it has ended' };
  const what = `rungate: ${why === 'timeout' || why === 'orphaned' ? known[why] : `stopped by ${why}`}`;
  const { provider, job, buildUrl } = detectCi(env);
  if (provider === null) return what;
  return [what, `in ${provider}${job === null ? '' : ` job ${job}`}`, buildUrl].filter(Boolean).join(' ');
}
