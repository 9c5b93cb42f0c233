import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error a build script, which has no types
import { addressOf, withRepository } from '../scripts/repository.mjs';
import { version } from '../src/version.ts';
import { root } from './e2e/built.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const address = 'https://git.example.test/acme/rungate';

it.each([address, `git+${address}.git`, { type: 'git', url: `git+${address}.git` }])(
  'package.json may give the repository as %j',
  (repository) => {
    const { homepage: _homepage, ...rest } = manifest;
    expect(withRepository({ ...rest, repository })).toMatchObject({
      author: 'acme',
      homepage: `${address}#readme`,
      repository: { type: 'git', url: `git+${address}.git` },
      bugs: `${address}/issues`,
    });
  },
);

it.each(['acme/rungate', 'http://git.example.test/acme/rungate', 'https://git.example.test/rungate'])(
  'package.json may not give the repository as %s',
  (repository) => expect(() => addressOf({ repository })).toThrow('https://<host>/<owner>/rungate'),
);

it('the program and package.json have the same version', () => expect(version).toBe(manifest.version));

const folders = ['.', 'site', 'test/bundlers', 'test/prism', 'test/runtimes', 'test/workflows'];

it.each(folders)('npm verifies every package that it can install in %s', (folder) => {
  const text = readFileSync(`${folder}/package-lock.json`, 'utf8');
  const { '': _root, ...packages } = JSON.parse(text).packages as Record<string, Record<string, unknown>>;
  expect(Object.keys(packages).filter((place) => packages[place]?.integrity === undefined)).toEqual([]);
  // Without these, npm uses the registry that is configured.
  expect(Object.keys(packages).filter((place) => packages[place]?.resolved !== undefined)).toEqual([]);
});
