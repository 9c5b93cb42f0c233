import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { installationOf } from '../../src/ci/installation.ts';

const [npm, pnpm, yarn] = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock'] as const;
const pnpmInstall = 'npx --yes pnpm@10.1.0 install --frozen-lockfile --ignore-scripts';
const rungate = { devDependencies: { rungate: '^0.1.0' } };
const installed = (manifest: unknown, ...lockfiles: string[]) =>
  installationOf(
    {
      manifest: typeof manifest === 'string' || manifest === null ? manifest : JSON.stringify(manifest),
      exists: (name) => lockfiles.includes(name),
    },
    '1.2.3',
  );

const managedBy = (packageManager: string) => ({ ...rungate, packageManager });

describe('an installation from the lockfile', () => {
  it.each<[string, object, string[], string]>([
    ['package-lock.json', rungate, [npm], 'npm ci --ignore-scripts'],
    ['npm-shrinkwrap.json', rungate, ['npm-shrinkwrap.json'], 'npm ci --ignore-scripts'],
    ['pnpm with a checksum', managedBy('pnpm@10.1.0+sha512.ab12'), [pnpm], pnpmInstall],
    ['Yarn 1', managedBy('yarn@1.22.22'), [yarn], pnpmInstall.replace('pnpm@10.1.0', 'yarn@1.22.22')],
    ['two lockfiles, by packageManager', managedBy('pnpm@10.1.0'), [npm, pnpm], pnpmInstall],
  ])('works with %s', (_name, manifest, lockfiles, install) =>
    expect(installed(manifest, ...lockfiles)).toEqual({
      install,
      start: 'npx --no-install rungate',
      caveat: null,
      files: ['package.json', expect.toBeOneOf(lockfiles)],
    }),
  );

  it.each([
    ['file:./vendor/rungate-0.1.0.tgz', ['vendor/rungate-0.1.0.tgz']],
    ['file:../rungate', []],
    ['file:/tmp/rungate-0.1.0.tgz', []],
  ])('from %s needs the archive in the repository, if there is one', (rungate, archives) => {
    const files = ['package.json', 'package-lock.json', ...archives];
    expect(installed({ devDependencies: { rungate } }, 'package-lock.json').files).toEqual(files);
  });
});

describe('an installation of the pinned version, with the reason', () => {
  it.each<[string, unknown, string[], RegExp]>([
    ['a package.json that is not JSON', '{', [npm], /does not list rungate/],
    ['rungate in __proto__', `{"__proto__":${JSON.stringify(rungate)}}`, [npm], /does not list/],
    ['pnpm without a version', rungate, [pnpm], /packageManager .* version of pnpm/],
    ['Yarn 4', managedBy('yarn@4.5.0'), [yarn], /cannot write a step that uses yarn\.lock/],
    ['bun.lockb', managedBy('bun@1.2.0'), ['bun.lockb'], /cannot write a step that uses bun\.lockb/],
  ])('is used for %s', (_name, manifest, lockfiles, caveat) =>
    expect(installed(manifest, ...lockfiles)).toEqual({
      install: null,
      start: 'npx --yes rungate@1.2.3',
      caveat: expect.stringMatching(caveat),
    }),
  );
});

it('takes nothing but an exact version from package.json into the shell command', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom('pnpm@1.0.0; curl x', 'pnpm@1.0.0\nx', 'pnpm@$(x)', 'yarn@1.0.0 && x', 'pnpm@1.0.0-`x`'),
    fc.string().map((text) => `pnpm@1.0.0-${text}`),
    fc.string().map((text) => `yarn@1.22.22+${text}`),
  );
  fc.assert(
    fc.property(texts, (packageManager) => {
      for (const lockfile of ['pnpm-lock.yaml', 'yarn.lock', 'package-lock.json']) {
        const { install } = installed({ ...rungate, packageManager }, lockfile);
        expect(install ?? '').toMatch(/^[\w. @-]*$/);
        expect(install ?? '').not.toMatch(/@(?!\d+\.\d+\.\d+(-[\w.-]+)? install)/);
      }
    }),
  );
});
