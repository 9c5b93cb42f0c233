import type { CiContext, GitFacts } from './context.ts';
import { cleanRef, cleanSha, cleanText, type Env, readerOf } from './provider-env.ts';
import { type Facts, factsOf, type ProviderRow } from './provider-row.ts';
import { repositoryOfRemote } from './provider-url.ts';
import { appveyor } from './providers/appveyor.ts';
import { azure } from './providers/azure.ts';
import { circleci } from './providers/circleci.ts';
import { codebuild } from './providers/codebuild.ts';
import { github } from './providers/github.ts';
import { gitlab } from './providers/gitlab.ts';
import { jenkins } from './providers/jenkins.ts';
import { bitbucket, buildkite, cloudbuild, drone, teamcity, travis, woodpecker } from './providers/rows.ts';
import { semaphore } from './providers/semaphore.ts';

/*
 * No library stands under this table. Looked at in November 2026, in their sources:
 *
 * - ci-info 4.4 (53 vendors, no dependencies, well kept): says which CI it is and whether it builds a pull request, and
 *   no more. It reads process.env when it is loaded: it can neither be told what to read nor be asked twice.
 * - env-ci 11 (31 services, well kept; brings execa and java-properties): takes the environment as an argument, but runs
 *   git and reads event and properties files by itself. It knows no event, attempt, matrix or parallel position. Of a
 *   pull request it gives the merge commit at GitHub, GitLab, Azure, Travis and AppVeyor, and the branch that it goes to
 *   as `branch`; GitLab's number is the id of the instance; a part of a URL that is missing is the text "undefined".
 *
 * The order is that of precedence, for an environment that fits several: what runs inside another comes first.
 * CodeBuild, TeamCity and Jenkins start agents and runners of others, which inherit their variables; Cloud Build is
 * last, since its variables have everyday names.
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
  semaphore,
  appveyor,
  codebuild,
  teamcity,
  jenkins,
  cloudbuild,
];

/**
 * What git knows, where the CI does not say. For a pull request git is asked for the repository alone: what is checked
 * out there may be the merge that the CI made up. An abbreviated commit is completed from the one that it begins.
 */
function filledFromGit(facts: Facts, git: GitFacts): Facts {
  const repository = facts.repository ?? repositoryOfRemote(cleanText(git.remote));
  const commit = cleanSha(git.commit);
  const isBegun = facts.commitSha !== null && commit?.startsWith(facts.commitSha) === true;
  const known = { ...facts, repository, commitSha: isBegun ? commit : facts.commitSha };
  if (facts.event === 'pull_request' || facts.pullRequest !== null) return known;
  return {
    ...known,
    ref: facts.ref ?? (facts.event === 'tag' ? null : cleanRef(git.branch)),
    commitSha: known.commitSha ?? commit,
  };
}

/**
 * Where and for what we are running, from the environment, from what git knows, and, in GitHub Actions, from the text
 * of the file that GITHUB_EVENT_PATH names: only that has a pull request's head, which without it is null.
 */
export function detectCi(env: Env, git?: GitFacts, eventPayload?: string): CiContext {
  const withGit = (facts: Facts) => (git === undefined ? facts : filledFromGit(facts, git));
  for (const row of rows) {
    const read = readerOf(env, eventPayload);
    if (!(typeof row.detect === 'string' ? read.isTrue(row.detect) : row.detect(read))) continue;
    const facts = withGit(factsOf(row, read));
    return { provider: row.provider, ...facts, variables: read.variables() };
  }
  return { provider: null, ...withGit(factsOf({}, readerOf({}))), variables: [] };
}
