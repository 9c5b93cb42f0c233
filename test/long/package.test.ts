import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error a build script, which has no types
import { licences } from '../../scripts/licenses.mjs';
import { root, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';

/** The package that `npm publish` would send, with the build of `npm run build`. */
const folder = folderForFile();
let tarball: string;
let unpacked: string;
let files: string[];

beforeAll(async () => {
  const packed = await start('npm', ['pack', '--pack-destination', folder], {}, root).ended;
  if (packed.code !== 0) throw new Error(packed.err);
  tarball = join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '');
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  unpacked = join(folder, 'package');
  files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(unpacked.length + 1))
    .sort();
});

const manifest = () => JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
const bytes = () => new Uint8Array(readFileSync(tarball));

describe('the packed tarball', () => {
  it('has no problems, by publint', async () => {
    const { messages } = await publint({ pack: { tarball: bytes().buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types that resolve, by arethetypeswrong', async () => {
    const result = await checkPackage(createPackageFromTarballData(bytes()));
    if (result.types === false) throw new Error('no types in the package');
    expect(Object.keys(result.entrypoints)).toEqual(
      expect.arrayContaining(['.', './webhook', './webhook/express', './webhook/lambda']),
    );
    // The package is ESM only, which Node 20.19 and later load with require(). The resolution `node10` is that of
    // Node versions before `exports`, which are below `engines`.
    const problems = result.problems.filter(
      (problem) =>
        problem.kind !== 'CJSResolvesToESM' &&
        !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    );
    expect(problems).toEqual([]);
  });

  it('has no dependencies and no install scripts', () => {
    for (const kind of [
      'dependencies',
      'optionalDependencies',
      'bundleDependencies',
      'bundledDependencies',
    ]) {
      expect(manifest()[kind], kind).toBeUndefined();
    }
    // A wider range than the hub supports: the replay guard works with every version, also beside one that a project has.
    expect(manifest().peerDependencies).toEqual({ '@redis/client': '>=1' });
    expect(manifest().peerDependenciesMeta).toEqual({ '@redis/client': { optional: true } });
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']) {
      expect(manifest().scripts?.[script], script).toBeUndefined();
    }
    // npm runs node-gyp if this file exists.
    expect(files).not.toContain('binding.gyp');
  });

  it('needs neither import.meta nor require, which a bundle to CommonJS and Jest do not have', () => {
    for (const file of files.filter((name) => /^dist\/.*\.js$/.test(name))) {
      const text = readFileSync(join(unpacked, file), 'utf8');
      expect(text, file).not.toMatch(/\bimport\.meta\b|\bcreateRequire\b|\btypeof require\b/);
    }
  });

  it('contains no source maps, metafiles, sources or tests', () => {
    expect(files.filter((file) => /\.map$|metafile|^(src|test|dist\/action)\//.test(file))).toEqual([]);
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      expect(readFileSync(join(unpacked, file), 'utf8'), file).not.toMatch(/^\/\/# sourceMappingURL=/m);
    }
  });
});

interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}
const metafile = (name: string): Metafile => JSON.parse(readFileSync(join(root, 'dist', name), 'utf8'));

/** Returns the folders of the packages that are in the output. */
function bundled(names: readonly string[]): string[] {
  const inputs = names
    .flatMap((name) => Object.values(metafile(name).outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([path, { bytesInOutput }]) => path.includes('node_modules/') && bytesInOutput > 0);
  const folderOf = (path: string) => {
    const end = path.lastIndexOf('node_modules/') + 'node_modules/'.length;
    const parts = path.slice(end).split('/');
    return path.slice(0, end) + parts.slice(0, parts[0]?.startsWith('@') ? 2 : 1).join('/');
  };
  return [...new Set(inputs.map(([path]) => folderOf(path)))];
}

describe.each([
  {
    of: 'package',
    metafiles: ['metafile-esm.json', 'webhook/metafile-esm.json', 'receipt/metafile-esm.json'],
    folder: 'dist',
  },
  { of: 'action', metafiles: ['metafile-action.json'], folder: 'dist/action' },
])('the licences of the packages that are bundled in the $of', ({ metafiles, folder: dist }) => {
  const text = () => readFileSync(join(root, dist, 'THIRD_PARTY_LICENSES.txt'), 'utf8');

  it('are complete, with their copyright lines', () => {
    const folders = bundled(metafiles);
    expect(folders).toEqual(expect.arrayContaining(['node_modules/commander', 'node_modules/zod']));
    expect(folders.some((one) => one.endsWith('node_modules/undici'))).toBe(true);
    for (const one of folders) {
      const { name, version } = JSON.parse(readFileSync(join(root, one, 'package.json'), 'utf8'));
      expect(text(), name).toContain(`\n${name} ${version}\nLicense: `);
      const file = readdirSync(join(root, one)).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) continue; // The build has added the text, or has failed.
      const copyright = /^.*copyright (?:\(c\)|©|\d).*$/im.exec(readFileSync(join(root, one, file), 'utf8'));
      if (copyright !== null) expect(text(), name).toContain(copyright[0].trimEnd());
    }
    expect(text()).toContain('Copyright Fedor Indutny, 2018.'); // llhttp, inside undici
  });

  it('have the same text in any order, and name no folder', () => {
    const folders = bundled(metafiles);
    expect(licences(root, folders.toReversed())).toBe(text());
    expect(licences(root, folders.toSorted())).toBe(text());
    expect(text()).not.toContain(root);
    expect(text()).not.toContain('\r');
  });

  it('cover every file of code: none is from an earlier build', () => {
    const known = new Set(metafiles.flatMap((name) => Object.keys(metafile(name).outputs)));
    const code = readdirSync(join(root, dist), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && (dist === 'dist/action' || !file.startsWith('action/')))
      .map((file) => `${dist}/${file}`);
    expect(code.filter((file) => !known.has(file))).toEqual([]);
    expect(code.length).toBeGreaterThan(0);
  });
});
