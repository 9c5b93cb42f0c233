import { describe, expect, it } from 'vitest';
import { type Provider, providers } from '../../src/ci/context.ts';
import { likelyProviders } from '../../src/ci/likely-provider.ts';
import { pipelines } from '../../src/ci/pipelines.ts';

interface Seen {
  files?: string[];
  remote?: string;
  running?: Provider;
}

const likely = ({ files = [], remote, running }: Seen) =>
  likelyProviders({
    exists: (path) => files.includes(path),
    remote: remote ?? null,
    running: running ?? null,
  });

describe('the CI that a repository uses', () => {
  it.each<[string, Seen, Provider[]]>([
    ['nothing to tell by', {}, []],
    ['its file', { files: ['.gitlab-ci.yml'] }, ['gitlab']],
    ['its folder', { files: ['.circleci'] }, ['circleci']],
    ['a file of a CI without a pipeline of ours', { files: ['.travis.yml'] }, ['travis']],
    ['the remote over ssh', { remote: 'git@github.com:acme/shop.git' }, ['github']],
    ['the remote over https', { remote: 'https://user:pass@bitbucket.org/acme/shop' }, ['bitbucket']],
    ['the remote with a port', { remote: 'ssh://git@gitlab.acme.example:2222/a/b.git' }, ['gitlab']],
    ['a remote that only looks like one', { remote: 'https://example.com/github.com' }, []],
    ['where we run', { running: 'buildkite' }, ['buildkite']],
    ['a file before the remote', { files: ['Jenkinsfile'], remote: 'git@github.com:a/b' }, ['jenkins']],
    ['the remote before where we run', { remote: 'git@github.com:a/b', running: 'jenkins' }, ['github']],
    [
      'of two, the one of the remote',
      { files: ['.github/workflows', 'Jenkinsfile'], remote: 'git@github.com:a/b' },
      ['github'],
    ],
    ['two, and nothing to choose by', { files: ['.circleci', 'Jenkinsfile'] }, ['circleci', 'jenkins']],
    ['a folder that is there for issue templates too', { files: ['.github', '.circleci'] }, ['circleci']],
    ['that folder alone', { files: ['.github'] }, ['github']],
  ])('%s', (_name, seen, expected) => expect(likely(seen)).toEqual(expected));

  it('is found by some file, each that we know', () => {
    const signs: Record<Provider, string> = {
      github: '.github/workflows',
      gitlab: '.gitlab-ci.yml',
      circleci: '.circleci',
      jenkins: 'Jenkinsfile',
      azure: 'azure-pipelines.yml',
      bitbucket: 'bitbucket-pipelines.yml',
      buildkite: '.buildkite',
      teamcity: '.teamcity',
      travis: '.travis.yml',
      drone: '.drone.yml',
      woodpecker: '.woodpecker.yml',
      codebuild: 'buildspec.yml',
      cloudbuild: 'cloudbuild.yaml',
      semaphore: '.semaphore',
      appveyor: 'appveyor.yml',
    };
    for (const provider of providers) expect(likely({ files: [signs[provider]] })).toEqual([provider]);
  });

  it('is the one whose pipeline rungate init has written', () => {
    for (const { provider, file } of pipelines) {
      const folders = file.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/'));
      expect(likely({ files: folders })).toEqual([provider]);
    }
  });
});
