import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Provider } from '../../src/ci/context.ts';
import { installationOf } from '../../src/ci/installation.ts';
import { likelyProviders } from '../../src/ci/likely-provider.ts';
import { pipelines } from '../../src/ci/pipelines.ts';
import { version } from '../../src/version.ts';
import { planned } from './planned.ts';

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
    ['nothing without a marker', {}, []],
    ['a file', { files: ['.gitlab-ci.yml'] }, ['gitlab']],
    ['a file of a CI system that rungate has no pipeline for', { files: ['.travis.yml'] }, ['travis']],
    ['the remote over ssh', { remote: 'git@github.com:acme/shop.git' }, ['github']],
    ['the remote with a port', { remote: 'ssh://git@gitlab.acme.example:2222/a/b.git' }, ['gitlab']],
    ['the host of a remote, not its path', { remote: 'https://example.com/github.com' }, []],
    ['a file before the remote', { files: ['Jenkinsfile'], remote: 'git@github.com:a/b' }, ['jenkins']],
    [
      'the remote before the CI that rungate runs in',
      { remote: 'git@github.com:a/b', running: 'jenkins' },
      ['github'],
    ],
    [
      'files of two CI systems without a remote',
      { files: ['.circleci', 'Jenkinsfile'] },
      ['circleci', 'jenkins'],
    ],
    [
      'another CI before .github, which may have only issue templates',
      { files: ['.github', '.circleci'] },
      ['circleci'],
    ],
  ])('is found by %s', (_name, seen, expected) => expect(likely(seen)).toEqual(expected));

  it('is found by the pipeline that rungate init writes', () => {
    for (const { provider, file } of pipelines) {
      const folders = file.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/'));
      expect(likely({ files: folders })).toEqual([provider]);
    }
  });
});

it('docs/how-to/without-node.md shows the pipelines with the image, which init writes for a repository without a package.json', () => {
  const page = readFileSync(new URL('../../docs/how-to/without-node.md', import.meta.url), 'utf8');
  const root = { manifest: null, exists: () => false };
  const installation = installationOf(root, version, `ghcr.io/OWNER/rungate:${version}`);
  const withImage = pipelines.filter(({ takesImage }) => takesImage);
  expect(withImage.map(({ provider }) => provider)).toEqual(['gitlab', 'jenkins']);
  for (const { text } of withImage) expect(page).toContain(text({ ...planned, installation }));
  // The other pipelines run on machines with Node.
  expect(installationOf({ ...root, manifest: '{}' }, version, 'x').start).toMatch(/^npx /);
});
