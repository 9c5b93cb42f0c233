import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { textOf } from '../docs/pages.ts';
import { shellExamples } from '../docs/shell-examples.ts';
import { root } from '../e2e/built.ts';
import { buildExecutable } from '../executable.ts';
import { folderForFile } from '../folders.ts';
import { releaseJob, runStep, step } from './workflow-steps.ts';

const binary = join(root, 'dist/binary/linux-x64');
const tag = `v${version}`;
const others = { 'linux-arm64': 'rungate', 'macos-arm64': 'rungate', 'windows-x64': 'rungate.exe' };
const files = [
  'rungate-linux-arm64.tar.xz',
  'rungate-linux-x64.tar.xz',
  'rungate-macos-arm64.tar.xz',
  'rungate-windows-x64.zip',
  'rungate.cdx.json',
];

const folder = folderForFile();
/** The files that the job `archive` uploads. */
let release: string;
/** Its output: the checksums. */
let sums: string;

/** Creates a folder with files; those in `bin` are programs. */
function workplace(content: Record<string, string> = {}): string {
  const where = mkdtempSync(join(folder, 'job-'));
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(dirname(join(where, name)), { recursive: true });
    writeFileSync(join(where, name), text);
    if (name.startsWith('bin/')) chmodSync(join(where, name), 0o755);
  }
  return where;
}
const pathWith = (where: string) => [join(where, 'bin'), process.env.PATH].join(delimiter);

beforeAll(async () => {
  buildExecutable('linux-x64');
  const where = workplace({ 'built/sbom/rungate.cdx.json': '{}' });
  cpSync(binary, join(where, 'built/rungate-linux-x64'), { recursive: true });
  // As in an artifact.
  chmodSync(join(where, 'built/rungate-linux-x64/rungate'), 0o644);
  for (const [target, name] of Object.entries(others)) {
    mkdirSync(join(where, `built/rungate-${target}`));
    writeFileSync(join(where, `built/rungate-${target}`, name), `for ${target}`);
    writeFileSync(join(where, `built/rungate-${target}`, 'LICENSE'), 'MIT');
  }
  const output = join(where, 'output');
  // The lowest level, to save time.
  const env = { GITHUB_OUTPUT: output, XZ_OPT: '-0 --threads=0' };
  const ended = await runStep(step(releaseJob('archive'), /^Archive$/), where, env);
  if (ended.code !== 0) throw new Error(ended.err);
  release = join(where, 'release');
  sums = /^sums<<END\n([\s\S]+)\nEND\n$/.exec(readFileSync(output, 'utf8'))?.[1] ?? '';
}, 120_000);

describe('the check of an executable on its runner', () => {
  const text = step(releaseJob('binaries'), /^Check the version/);
  const check = (where: string, ref: string) => {
    symlinkSync(join(root, 'scripts'), join(where, 'scripts'));
    return runStep(text, where, { GITHUB_REF_NAME: ref, TARGET: 'linux-x64' });
  };

  it('accepts this one', async () => {
    const where = workplace();
    symlinkSync(join(root, 'dist'), join(where, 'dist'));
    const { code, out, err } = await check(where, tag);
    expect(code, out + err).toBe(0);
    expect(err).toContain('gate failed (exit 1)');
  });

  it.each([
    ['passes every gate', '[ "$1" != --version ] || echo "$VERSION_LINE"'],
    ['fails every gate', '[ "$1" != --version ] || { echo "$VERSION_LINE"; exit; }; exit 1'],
  ])('refuses one that %s', async (_name, script) => {
    const line = execFileSync(join(binary, 'rungate'), ['--version'], { encoding: 'utf8' }).trim();
    const where = workplace();
    const fake = join(where, 'dist/binary/linux-x64/rungate');
    mkdirSync(dirname(fake), { recursive: true });
    writeFileSync(fake, `#!/bin/sh\nVERSION_LINE='${line}'\n${script}\n`);
    chmodSync(fake, 0o755);
    expect((await check(where, tag)).code).not.toBe(0);
  });
});

describe('the files of a release', () => {
  it('are an archive for each platform, the SBOM and the checksums of all', () => {
    expect(readdirSync(release).sort()).toEqual(['SHA256SUMS', ...files].sort());
    expect(sums.split('\n').map((line) => line.slice(66))).toEqual(files);
    expect(readFileSync(join(release, 'SHA256SUMS'), 'utf8')).toBe(`${sums}\n`);
  });

  it('contain an executable that runs, with its licences', () => {
    const where = workplace();
    execFileSync('tar', ['-xJf', join(release, 'rungate-linux-x64.tar.xz')], { cwd: where });
    const unpacked = join(where, 'rungate-linux-x64');
    expect(readdirSync(unpacked).sort()).toEqual(readdirSync(binary).sort());
    expect(readdirSync(unpacked)).toEqual(expect.arrayContaining(['LICENSE', 'NODE_LICENSE.txt']));
    const shown = execFileSync(join(unpacked, 'rungate'), ['--version'], { encoding: 'utf8' });
    expect(shown).toContain(`${version} (binary, Node `);
  });
});

/** Returns a folder with the files that have a checksum, in one of which a byte may be changed. */
function downloaded(changed?: string): string {
  const where = workplace();
  mkdirSync(join(where, 'release'));
  for (const name of files) linkSync(join(release, name), join(where, 'release', name));
  if (changed !== undefined) {
    const bytes = readFileSync(join(release, changed));
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    rmSync(join(where, 'release', changed));
    writeFileSync(join(where, 'release', changed), bytes);
  }
  return where;
}

describe('a job that publishes', () => {
  const compare = (id: string, where: string, own: string) =>
    runStep(step(releaseJob(id), /^Compare the checksums/), where, { SUMS: own });

  it.each(['release', 'image'])('goes on with the files that were built: %s', async (id) => {
    const where = downloaded();
    const { code, err } = await compare(id, where, sums);
    expect(code, err).toBe(0);
    if (id === 'release') return;
    expect(readdirSync(join(where, 'dist/binary')).sort()).toEqual(['linux-arm64', 'linux-x64']);
    expect(readFileSync(join(where, 'dist/binary/linux-arm64/rungate'), 'utf8')).toBe('for linux-arm64');
  });

  it.each([
    ['release', 'rungate-linux-x64.tar.xz'],
    ['release', 'rungate.cdx.json'],
    ['image', 'rungate-linux-arm64.tar.xz'],
  ])('stops if a byte differs: %s, %s', async (id, file) =>
    expect((await compare(id, downloaded(file), sums)).code).not.toBe(0),
  );

  it.each(['release', 'image'])('stops without checksums: %s', async (id) =>
    expect((await compare(id, downloaded(), '')).code).not.toBe(0),
  );
});

it('a release has the checksums of the job that built the files, not those beside the files', async () => {
  const where = workplace({ 'release/a': '', 'release/SHA256SUMS': 'planted' });
  const sum = `${'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}  a`;
  const ended = await runStep(step(releaseJob('release'), /^Compare/), where, { SUMS: sum });
  expect(ended.code, ended.err).toBe(0);
  expect(readFileSync(join(where, 'release/SHA256SUMS'), 'utf8')).toBe(`${sum}\n`);
});

/** A program that writes its arguments to `called`, one call a line. */
const recorder = '#!/bin/sh\nprintf "%s " "${0##*/}" "$@" >> "$CALLED"; echo >> "$CALLED"\n';

describe('the GitHub release', () => {
  it.each([
    ['v1.2.3', ''],
    ['v1.2.3-rc.1', '--prerelease '],
  ])('of %s has exactly the files with a checksum', async (ref, flag) => {
    const where = workplace({ 'bin/gh': recorder, 'release/planted': '', 'release/SHA256SUMS': `${sums}\n` });
    const called = join(where, 'called');
    const github = { GITHUB_SERVER_URL: 'https://git.example.test', GITHUB_REPOSITORY: 'acme/rungate' };
    const env = { ...github, GITHUB_REF_NAME: ref, PATH: pathWith(where), CALLED: called };
    const ended = await runStep(step(releaseJob('release'), /^Release$/), where, env);
    expect(ended.code, ended.err).toBe(0);
    expect(readFileSync(called, 'utf8')).toBe(
      `gh release create ${ref} --verify-tag --title rungate ${ref.slice(1)} ` +
        `--notes [Changes](https://git.example.test/acme/rungate/blob/${ref}/CHANGELOG.md) ` +
        `${flag}SHA256SUMS ${files.join(' ')} \n`,
    );
  });
});

/** Saves the files of the release as curl would, from any version. */
const curl = `#!/bin/bash
for argument in "$@"; do
  [[ "$argument" != */releases/download/v*/* ]] || cp "$RELEASE/\${argument##*/}" . || exit 22
done
`;

describe('docs/how-to/without-node.md', () => {
  const page = 'docs/how-to/without-node.md';
  const blocks = shellExamples(page, textOf(page))
    .filter(({ notRun }) => notRun?.startsWith('test/long/release-files.test.ts runs it'))
    .map(({ commands }) => commands.map(({ text }) => text).join('\n'));
  const one = (pattern: RegExp) => {
    const found = blocks.filter((text) => pattern.test(text));
    expect(found, String(pattern)).toHaveLength(1);
    return found[0] ?? '';
  };
  const sumOf = (file: string) =>
    sums
      .split('\n')
      .find((line) => line.endsWith(`  ${file}`))
      ?.slice(0, 64);
  const pipeline = () =>
    one(/<sha256>/).replace('<sha256>', sumOf('rungate-linux-x64.tar.xz') ?? 'no checksum');
  const run = (text: string, from: string, more: Record<string, string> = {}) => {
    const where = workplace({ 'bin/curl': curl });
    const env = { HOME: where, PATH: `${where}/.local/bin:${pathWith(where)}`, RELEASE: from, ...more };
    return runStep(`cd "$HOME"\n${text}`, where, env);
  };

  it('installs the executable and runs a gate', async () => {
    const script = [one(/--check --ignore-missing/), one(/mkdir/)].join('\n');
    const { code, out, err } = await run(script, release);
    expect(code, err).toBe(0);
    expect(out).toContain(`rungate-linux-x64.tar.xz: OK\n${version} (binary, Node `);
    expect(err).toContain('✓ shop / checkout');
  });

  it('never runs an executable from a damaged archive', async () => {
    const damaged = join(downloaded('rungate-linux-x64.tar.xz'), 'release');
    cpSync(join(release, 'SHA256SUMS'), join(damaged, 'SHA256SUMS'));
    for (const text of [one(/--check --ignore-missing/), pipeline()]) {
      const { code, out } = await run(text, damaged);
      expect(code).not.toBe(0);
      expect(out).toContain('rungate-linux-x64.tar.xz: FAILED');
      expect(out).not.toContain('binary, Node');
    }
  });
});
