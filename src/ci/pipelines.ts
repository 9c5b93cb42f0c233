import type { Provider } from './context.ts';
import { azure } from './pipelines/azure.ts';
import { bitbucket } from './pipelines/bitbucket.ts';
import { buildkite } from './pipelines/buildkite.ts';
import { circleci } from './pipelines/circleci.ts';
import { github } from './pipelines/github.ts';
import { gitlab } from './pipelines/gitlab.ts';
import { jenkins } from './pipelines/jenkins.ts';
import type { Pipeline } from './pipelines/pipeline.ts';

export { type Installation, installationOf, pinned } from './installation.ts';
export type { Pipeline, Plan } from './pipelines/pipeline.ts';
export { gateLines } from './pipelines/pipeline.ts';

/** The CIs that a whole pipeline is known of: docs/ci.md shows these texts, and `rungate init` writes them. */
export const pipelines: readonly Pipeline[] = [
  github,
  gitlab,
  circleci,
  jenkins,
  azure,
  bitbucket,
  buildkite,
];

/** The CIs of which only the command is known. */
type Other =
  | 'teamcity'
  | 'travis'
  | 'drone'
  | 'woodpecker'
  | 'codebuild'
  | 'cloudbuild'
  | 'semaphore'
  | 'appveyor';

/** What shows that a repository uses one of the other CIs. */
const otherSigns: Readonly<Record<Other, string[]>> = {
  teamcity: ['.teamcity'],
  travis: ['.travis.yml'],
  drone: ['.drone.yml'],
  woodpecker: ['.woodpecker.yml', '.woodpecker.yaml', '.woodpecker'],
  codebuild: ['buildspec.yml', 'buildspec.yaml'],
  cloudbuild: ['cloudbuild.yaml', 'cloudbuild.yml'],
  semaphore: ['.semaphore'],
  appveyor: ['appveyor.yml', '.appveyor.yml'],
};

export function pipelineOf(provider: Provider): Pipeline | undefined {
  return pipelines.find((one) => one.provider === provider);
}

/** What there is to tell by which CI a repository uses. */
export interface Clues {
  /** Whether a path below the repository's root is there. */
  isThere(path: string): boolean;
  /** URL of the remote `origin`; null without one. */
  readonly remote: string | null;
  /** The CI that we run in. */
  readonly running: Provider | null;
}

/** The host of a remote: of a URL, or of `user@host:path`. */
function hostOf(remote: string): string {
  const [, host = ''] = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)[:/]/i.exec(remote) ?? [];
  return host.toLowerCase();
}

/** Folders that are there for other things than the CI too count only where nothing else does. */
const weakSigns: readonly string[] = ['.github'];

/**
 * The CIs that a repository may use, the likeliest alone where one is: by its files, of several by the remote's host,
 * then by that host alone, then by where we run.
 */
export function likelyProviders({ isThere, remote, running }: Clues): Provider[] {
  const signs = [
    ...pipelines.map((one) => [one.provider, one.signs] as const),
    ...(Object.entries(otherSigns) as [Provider, string[]][]),
  ];
  const by = (counts: (sign: string) => boolean): Provider[] =>
    signs
      .filter(([, all]) => all.some((sign) => counts(sign) && isThere(sign)))
      .map(([provider]) => provider);
  const host = remote === null ? '' : hostOf(remote);
  const ofHost = pipelines.filter((one) => one.host?.test(host)).map((one) => one.provider);
  const strong = by((sign) => !weakSigns.includes(sign));
  if (strong.length > 1) {
    const both = strong.filter((provider) => ofHost.includes(provider));
    return both.length === 1 ? both : strong;
  }
  if (strong.length === 1) return strong;
  if (ofHost.length > 0) return ofHost;
  if (running !== null) return [running];
  return by((sign) => weakSigns.includes(sign));
}
