import type { Provider } from './context.ts';
import { hostOf } from './provider-url.ts';

/** The files and folders that show that a repository uses a CI system, in the order in which the CI systems are offered. */
const markers: Readonly<Record<Provider, readonly string[]>> = {
  github: ['.github/workflows'],
  gitlab: ['.gitlab-ci.yml'],
  circleci: ['.circleci'],
  jenkins: ['Jenkinsfile'],
  azure: ['azure-pipelines.yml', '.azure-pipelines'],
  bitbucket: ['bitbucket-pipelines.yml'],
  buildkite: ['.buildkite'],
  teamcity: ['.teamcity'],
  travis: ['.travis.yml'],
  drone: ['.drone.yml'],
  woodpecker: ['.woodpecker.yml', '.woodpecker.yaml', '.woodpecker'],
  codebuild: ['buildspec.yml', 'buildspec.yaml'],
  cloudbuild: ['cloudbuild.yaml', 'cloudbuild.yml'],
};

/** This folder has other uses too, so it counts only if nothing else does. */
const weakMarker = '.github';

/** The CI systems that belong to the host of a remote. */
const hosts: readonly (readonly [RegExp, Provider])[] = [
  [/^github\.com$/, 'github'],
  [/^gitlab\.|\.gitlab\./, 'gitlab'],
  [/^dev\.azure\.com$/, 'azure'],
  [/^bitbucket\.org$/, 'bitbucket'],
];

export interface Clues {
  exists(path: string): boolean;
  /** URL of the remote `origin`; null without one. */
  readonly remote: string | null;
  /** The CI that rungate runs in. */
  readonly running: Provider | null;
}

/**
 * Returns the CI that a repository most likely uses, or several if they are equally likely. A CI system whose files exist comes
 * first (of several, the one that belongs to the remote's host), then the CI of that host, then the CI that rungate runs in.
 */
export function likelyProviders({ exists, remote, running }: Clues): Provider[] {
  const host = hostOf(remote ?? '') ?? '';
  const ofHost = hosts.filter(([pattern]) => pattern.test(host)).map(([, provider]) => provider);
  const present = (Object.entries(markers) as [Provider, string[]][])
    .filter(([, paths]) => paths.some(exists))
    .map(([provider]) => provider);
  const both = present.filter((provider) => ofHost.includes(provider));
  if (present.length > 0) return both.length === 1 ? both : present;
  if (ofHost.length > 0) return ofHost;
  if (running !== null) return [running];
  return exists(weakMarker) ? ['github'] : [];
}
