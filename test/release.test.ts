import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startMock } from '../src/mock/server.ts';
import { root, start } from './e2e/built.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let seed: string;
/** A clone of `origin`, with the built action in it, as after `npm run build`. */
let clone: string;

const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.test' };
const gitEnv = {
  ...identity,
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.test',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
const gitIn = (where: string, ...args: string[]) =>
  execFileSync('git', args, {
    cwd: where,
    encoding: 'utf8',
    env: { ...process.env, ...gitEnv },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
const git = (...args: string[]) => gitIn(clone, ...args);

function edit(file: string, from: RegExp, to: string): void {
  const text = readFileSync(join(clone, file), 'utf8');
  expect(text, file).toMatch(from);
  writeFileSync(join(clone, file), text.replace(from, to));
}

/** Says a version wherever it is said. */
function setVersion(version: string): void {
  edit('package.json', /"version": "[^"]+"/, `"version": "${version}"`);
  edit('package-lock.json', /"version": "[^"]+"/, `"version": "${version}"`);
  edit('package-lock.json', /("": \{\s+"name": "rungate",\s+"version": )"[^"]+"/, `$1"${version}"`);
  edit('src/version.ts', /version = '[^']+'/, `version = '${version}'`);
  edit('CHANGELOG.md', /^## .*$/m, `## ${version} (2026-01-31)`);
}

/** What the changelog begins with, committed. */
function heading(text: string): void {
  edit('CHANGELOG.md', /^## .*$/m, text);
  git('commit', '-qam', text);
}

function commitVersion(version: string): void {
  setVersion(version);
  git('commit', '-qam', version);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-release-test-'));
  seed = join(folder, 'seed');
  const files = ['package.json', 'package-lock.json', 'CHANGELOG.md', '.gitignore', 'action.yml', 'action'];
  for (const file of [...files, 'scripts/release.mjs', 'src/version.ts'])
    cpSync(join(root, file), join(seed, file), { recursive: true });
  gitIn(seed, 'init', '-q', '-b', 'main');
  gitIn(seed, 'add', '-A');
  gitIn(seed, 'commit', '-qm', 'first');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(() => {
  clone = join(mkdtempSync(join(folder, 'case-')), 'clone');
  const origin = join(dirname(clone), 'origin.git');
  gitIn(folder, 'clone', '-q', '--bare', seed, origin);
  gitIn(folder, 'clone', '-q', origin, clone);
  cpSync(join(root, 'dist/action'), join(clone, 'dist/action'), { recursive: true });
  // What a release has no need of.
  writeFileSync(join(clone, 'dist/cli.js'), '');
  commitVersion('1.2.3');
});

const release = (args: string[], env: Record<string, string> = {}) =>
  start(process.execPath, ['scripts/release.mjs', ...args], { ...gitEnv, ...env }, clone).ended;
const quick = (...args: string[]) => release([...args, '--skip-checks']);
const tags = (where = clone) => gitIn(where, 'tag').split('\n').filter(Boolean);
const origin = () => join(dirname(clone), 'origin.git');

describe('npm run release', () => {
  it('tags a commit beside main that has the built action, and leaves main as it was', async () => {
    const main = git('rev-parse', 'main');
    const ended = await quick('1.2.3');
    expect(ended.code, ended.err).toBe(0);
    expect(tags()).toEqual(['v1', 'v1.2.3']);
    const tagged = git('rev-parse', 'v1.2.3^{commit}');
    expect(git('rev-parse', 'v1^{commit}')).toBe(tagged);
    expect(git('rev-list', '--parents', '-n1', tagged)).toBe(`${tagged} ${main}`);

    expect(git('rev-parse', 'main')).toBe(main);
    expect(git('ls-tree', '-r', '--name-only', 'main', 'dist')).toBe('');
    expect(git('branch', '--contains', tagged)).toBe('');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('branch', '--show-current')).toBe('main');

    const added = git('diff', '--name-status', 'main', tagged).split('\n');
    expect(added.sort()).toEqual(
      readdirSync(join(root, 'dist/action'), { recursive: true })
        .map((file) => `A\tdist/action/${file}`)
        .sort(),
    );
  });

  it('what is tagged runs as an action, with nothing installed', async () => {
    await quick('1.2.3');
    const action = join(dirname(clone), 'action');
    mkdirSync(action);
    git('archive', '-o', join(action, 'tag.tar'), 'v1');
    execFileSync('tar', ['xf', 'tag.tar'], { cwd: action });
    const mock = await startMock({ outcome: ['passed', 'failed'], duration: 100, retryAfterSeconds: 0.1 });
    try {
      const env = {
        'INPUT_API-URL': mock.url,
        'INPUT_API-KEY': mock.apiKey,
        INPUT_PROJECT: 'shop',
        INPUT_PROCESS: 'checkout',
        INPUT_STRICT: 'true',
        RUNNER_TEMP: action,
        GITHUB_ACTIONS: 'true',
      };
      const main = () => start(process.execPath, [join(action, 'action/main.js')], env, action).ended;
      expect(await main()).toMatchObject({ code: 0 });
      expect(await main()).toMatchObject({ code: 1 });
    } finally {
      await mock.close();
    }
  });

  it('the next one moves the tag of the major version; a candidate does not', async () => {
    await quick('1.2.3');
    const first = git('rev-parse', 'v1^{commit}');
    commitVersion('1.3.0-rc.1');
    expect(await quick('1.3.0-rc.1')).toMatchObject({ code: 0 });
    expect(git('rev-parse', 'v1^{commit}')).toBe(first);
    commitVersion('1.3.0');
    expect(await quick('1.3.0')).toMatchObject({ code: 0 });
    expect(git('rev-parse', 'v1^{commit}')).toBe(git('rev-parse', 'v1.3.0^{commit}'));
    expect(git('rev-parse', 'v1.2.3^{commit}')).toBe(first);
    expect(tags()).toEqual(['v1', 'v1.2.3', 'v1.3.0', 'v1.3.0-rc.1']);
  });

  it('--dry-run says what it would do, and does not', async () => {
    const ended = await quick('1.2.3', '--dry-run', '--push');
    expect(ended.code, ended.err).toBe(0);
    expect(ended.out).toMatch(/would tag v1\.2\.3 and v1/);
    expect(ended.out).toMatch(/would run: git push/);
    expect(tags()).toEqual([]);
    expect(tags(origin())).toEqual([]);
  });

  it('pushes with --push alone, and tags alone', async () => {
    await quick('1.2.3');
    expect(tags(origin())).toEqual([]);
    const before = gitIn(origin(), 'rev-parse', 'main');
    commitVersion('1.2.4');
    const ended = await quick('1.2.4', '--push');
    expect(ended.code, ended.err).toBe(0);
    expect(tags(origin())).toEqual(['v1', 'v1.2.4']);
    commitVersion('1.2.5');
    expect(await quick('1.2.5', '--push')).toMatchObject({ code: 0 });
    expect(gitIn(origin(), 'rev-parse', 'v1^{commit}')).toBe(git('rev-parse', 'v1.2.5^{commit}'));
    expect(gitIn(origin(), 'rev-parse', 'main')).toBe(before);
  });

  it.each<[string, string, () => void, RegExp]>([
    ['a change that is not committed', '1.2.3', () => writeFileSync(join(clone, 'new'), ''), /not committed/],
    [
      'another version than the files say',
      '1.2.4',
      () => {},
      /package\.json says 1\.2\.3[\s\S]*version\.ts says/,
    ],
    ['a changelog without the version', '1.2.3', () => heading('## 1.2.2'), /CHANGELOG/],
    [
      'a changelog that says it is not released',
      '1.2.3',
      () => heading('## 1.2.3 (not released)'),
      /is not released/,
    ],
    ['a tag that is there', '1.2.3', () => void git('tag', 'v1.2.3', 'HEAD~1'), /a tag v1\.2\.3 already/],
    ['another branch', '1.2.3', () => void git('switch', '-qc', 'other'), /the branch other, not main/],
    [
      'an action that is not built',
      '1.2.3',
      () => rmSync(join(clone, 'dist'), { recursive: true }),
      /not built/,
    ],
    ['no version', 'v1', () => {}, /"v1" is no version/],
  ])('is refused: %s', async (_name, version, spoil, message) => {
    spoil();
    const before = tags();
    const ended = await quick(version);
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(message);
    expect(tags()).toEqual(before);
  });

  it('installs, lints, checks types, tests and builds first, and stops where one fails', async () => {
    const log = join(dirname(clone), 'npm.log');
    const npm = join(dirname(clone), 'bin/npm');
    mkdirSync(dirname(npm));
    writeFileSync(npm, `#!/bin/sh\necho "$*" >> '${log}'\ntest "$*" != "$FAIL"\n`);
    chmodSync(npm, 0o755);
    const PATH = [dirname(npm), process.env.PATH].join(delimiter);
    expect((await release(['1.2.3'], { PATH, FAIL: 'test' })).code).not.toBe(0);
    expect(tags()).toEqual([]);
    rmSync(log);
    expect(await release(['1.2.3'], { PATH, FAIL: '' })).toMatchObject({ code: 0 });
    expect(readFileSync(log, 'utf8')).toBe('ci\nrun lint\nrun types\ntest\nrun build\n');
    expect(tags()).toEqual(['v1', 'v1.2.3']);
  });
});

describe('the workflows', () => {
  const workflows = join(root, '.github/workflows');
  const read = (name: string) => readFileSync(join(workflows, name), 'utf8');
  // biome-ignore lint/suspicious/noExplicitAny: looked at key by key, and missing keys fail the test.
  const parsed = (name: string): any => parseYaml(read(name));
  const names = existsSync(workflows) ? readdirSync(workflows) : [];

  it('are two', () => expect(names.sort()).toEqual(['ci.yml', 'release.yml']));

  it.each(names)('%s: least permissions, a limit for each job, every action pinned by its commit', (name) => {
    const { permissions, jobs, concurrency } = parsed(name);
    expect(concurrency.group).toBeTruthy();
    const granted = [
      permissions,
      ...Object.values<{ permissions?: object }>(jobs).map((job) => job.permissions ?? {}),
    ];
    expect(Object.assign({}, ...granted)).toEqual(
      name === 'release.yml' ? { contents: 'read', 'id-token': 'write' } : { contents: 'read' },
    );
    for (const job of Object.values<{
      'timeout-minutes'?: number;
      steps: { uses?: string; with?: object }[];
    }>(jobs)) {
      expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
      for (const step of job.steps) {
        if (step.uses?.startsWith('actions/checkout'))
          expect(step.with).toEqual({ 'persist-credentials': false });
      }
    }
    for (const [line] of read(name).matchAll(/^.*\buses:.*$/gm))
      expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it.each(names)('%s: no secret, no registry, nothing from outside in a shell line', (name) => {
    expect(read(name)).not.toMatch(/secrets\.|pull_request_target|https?:|registry-url|NODE_AUTH_TOKEN/);
    for (const [line] of read(name).matchAll(/^\s*(- )?run:.*$/gm)) expect(line).not.toContain('${{');
  });

  it('ci.yml runs on the Node versions that are documented, the least of package.json among them', () => {
    const { node } = parsed('ci.yml').jobs.test.strategy.matrix;
    const [, documented] =
      /tested on Node ([\d, and]+)\./.exec(readFileSync(join(root, 'docs/ci.md'), 'utf8')) ?? [];
    expect(node).toEqual(documented?.split(/, | and /).map(Number));
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(Number(/(\d+)/.exec(engines.node)?.[1])).toBe(node[0]);
    const steps: { run?: string }[] = parsed('ci.yml').jobs.test.steps;
    expect(steps.flatMap((step) => step.run ?? [])).toEqual([
      'npm ci',
      'npm run lint',
      'npm run types',
      'npm test',
    ]);
  });

  it('release.yml publishes a tag of a version with provenance, and not the moving tag', () => {
    const { on, jobs } = parsed('release.yml');
    expect(on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+*'] } });
    const lines = jobs.npm.steps.map((step: { run?: string }) => step.run ?? '').join('\n');
    const publishing = lines.split('\n').filter((line: string) => line.includes('npm publish'));
    expect(publishing.length).toBeGreaterThan(0);
    for (const line of publishing) expect(line).toContain('--provenance');
    expect(lines.indexOf('npm test')).toBeLessThan(lines.indexOf('npm publish'));
  });

  it('the action is not in the package: it is in the tags', () => {
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).files).toContain('!dist/action');
  });
});
