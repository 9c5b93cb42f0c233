import type { Provider } from './context.ts';

/** The files and folders that show that a repository uses a CI. The order is that of the choices. */
const signs: Readonly<Record<Provider, readonly string[]>> = {
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
  semaphore: ['.semaphore'],
  appveyor: ['appveyor.yml', '.appveyor.yml'],
};

/** Exists for other purposes too, so it counts only if nothing else does. */
const weakSign = '.github';

/** The CIs that come with the host of a remote. */
const hosts: readonly (readonly [RegExp, Provider])[] = [
  [/^github\.com$/, 'github'],
  [/^gitlab\.|\.gitlab\./, 'gitlab'],
  [/^(ssh\.)?dev\.azure\.com$|\.visualstudio\.com$/, 'azure'],
  [/^bitbucket\.org$/, 'bitbucket'],
];

/** Returns the host of a remote: of a URL, or of `user@host:path`. */
function hostOf(remote: string): string {
  const [, host = ''] = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)[:/]/i.exec(remote) ?? [];
  return host.toLowerCase();
}

/** What shows which CI a repository uses. */
export interface Clues {
  /** Whether a path below the repository's root exists. */
  exists(path: string): boolean;
  /** URL of the remote `origin`; null without one. */
  readonly remote: string | null;
  /** The CI that we run in. */
  readonly running: Provider | null;
}

/**
 * Returns the CIs that a repository may use, or only the likeliest: the one whose files exist, among several the one of the
 * remote's host, then the one of that host, then the one that we run in.
 */
export function likelyProviders({ exists, remote, running }: Clues): Provider[] {
  const host = hostOf(remote ?? '');
  const ofHost = hosts.filter(([pattern]) => pattern.test(host)).map(([, provider]) => provider);
  const found = (Object.entries(signs) as [Provider, string[]][])
    .filter(([, paths]) => paths.some(exists))
    .map(([provider]) => provider);
  if (found.length > 1) {
    const both = found.filter((provider) => ofHost.includes(provider));
    return both.length === 1 ? both : found;
  }
  if (found.length === 1) return found;
  if (ofHost.length > 0) return ofHost;
  if (running !== null) return [running];
  return exists(weakSign) ? ['github'] : [];
}
