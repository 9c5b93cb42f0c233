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
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
// @ts-expect-error a build script, which has no types
import { withRepository } from '../../scripts/repository.mjs';
import { root, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';
import {
  jobsOf,
  parsed,
  read,
  releaseJob,
  runStep as run,
  shellOf,
  step,
  workflows,
} from './workflow-steps.ts';

const folder = folderForFile();
const seed = join(folder, 'seed');
/** The pages that say that there is no release, until there is one. */
const pages = ['README.md', 'docs/start/first-steps.md'];

/** A clone of `origin` with the built action, as after `npm run build`. */
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

/** Sets the repository as `npm run generate` does; an empty address removes it. */
function setRepository(where: string, address: string): void {
  const [manifest, source] = [join(where, 'package.json'), join(where, 'src/repository.ts')];
  const fields = { ...JSON.parse(readFileSync(manifest, 'utf8')), repository: address || undefined };
  writeFileSync(manifest, `${JSON.stringify(withRepository(fields), null, 2)}\n`);
  const text = readFileSync(source, 'utf8');
  writeFileSync(source, text.replace(/(?<=const repository: string = ')[^']*/, address));
}

/** Writes the version to every file that contains it. */
function setVersion(version: string): void {
  edit('package.json', /"version": "[^"]+"/, `"version": "${version}"`);
  edit('package-lock.json', /"version": "[^"]+"/, `"version": "${version}"`);
  edit('package-lock.json', /("": \{\s+"name": "rungate",\s+"version": )"[^"]+"/, `$1"${version}"`);
  edit('src/version.ts', /version = '[^']+'/, `version = '${version}'`);
  edit('CHANGELOG.md', /^## .*$/m, `## ${version} (2026-01-31)`);
}

/** Replaces the first heading of the changelog and commits it. */
function setHeading(text: string): void {
  edit('CHANGELOG.md', /^## .*$/m, text);
  git('commit', '-qam', text);
}

function commitVersion(version: string): void {
  setVersion(version);
  git('commit', '-qam', version);
}

const pushMain = () => git('push', '-q', 'origin', 'main');

beforeAll(() => {
  const files = ['package.json', 'package-lock.json', 'CHANGELOG.md', '.gitignore', 'action.yml', 'action'];
  const sources = ['scripts/release.mjs', 'scripts/repository.mjs', 'src/version.ts', 'src/repository.ts'];
  for (const file of [...files, ...sources]) cpSync(join(root, file), join(seed, file), { recursive: true });
  mkdirSync(join(seed, 'docs/start'), { recursive: true });
  for (const page of pages) writeFileSync(join(seed, page), '');
  setRepository(seed, 'https://git.example.test/acme/rungate');
  gitIn(seed, 'init', '-q', '-b', 'main');
  gitIn(seed, 'add', '-A');
  gitIn(seed, 'commit', '-qm', 'first');
});

beforeEach(() => {
  clone = join(mkdtempSync(join(folder, 'case-')), 'clone');
  const origin = join(dirname(clone), 'origin.git');
  gitIn(folder, 'clone', '-q', '--bare', seed, origin);
  gitIn(folder, 'clone', '-q', origin, clone);
  cpSync(join(root, 'dist/action'), join(clone, 'dist/action'), { recursive: true });
  // Not part of a release.
  writeFileSync(join(clone, 'dist/cli.js'), '');
  commitVersion('1.2.3');
  pushMain();
});

const release = (args: string[], env: Record<string, string> = {}) =>
  start(process.execPath, ['scripts/release.mjs', ...args], { ...gitEnv, ...env }, clone).ended;
const quick = (...args: string[]) => release([...args, '--skip-checks']);
const tags = (where = clone) => gitIn(where, 'tag').split('\n').filter(Boolean);
const origin = () => join(dirname(clone), 'origin.git');

describe('npm run release', () => {
  it('tags a commit off main with the built action and does not change main', async () => {
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

  it('with --dry-run only prints what it would do', async () => {
    const ended = await quick('1.2.3', '--dry-run', '--push');
    expect(ended.code, ended.err).toBe(0);
    expect(ended.out).toMatch(/would tag v1\.2\.3 and v1/);
    expect(ended.out).toMatch(/would run: git push/);
    expect(tags()).toEqual([]);
    expect(tags(origin())).toEqual([]);
  });

  it('pushes only with --push, and only tags', async () => {
    await quick('1.2.3');
    expect(tags(origin())).toEqual([]);
    commitVersion('1.2.4');
    pushMain();
    const ended = await quick('1.2.4', '--push');
    expect(ended.code, ended.err).toBe(0);
    expect(tags(origin())).toEqual(['v1', 'v1.2.4']);
    commitVersion('1.2.5');
    pushMain();
    const before = gitIn(origin(), 'rev-parse', 'main');
    expect(await quick('1.2.5', '--push')).toMatchObject({ code: 0 });
    expect(gitIn(origin(), 'rev-parse', 'v1^{commit}')).toBe(git('rev-parse', 'v1.2.5^{commit}'));
    expect(gitIn(origin(), 'rev-parse', 'main')).toBe(before);
  });

  it.each<[string, string, () => void, RegExp]>([
    ['an uncommitted change', '1.2.3', () => writeFileSync(join(clone, 'new'), ''), /uncommitted changes/],
    [
      'a version that differs from the files',
      '1.2.4',
      () => {},
      /package\.json has 1\.2\.3[\s\S]*version\.ts has/,
    ],
    ['a changelog without the version', '1.2.3', () => setHeading('## 1.2.2'), /CHANGELOG/],
    [
      'an existing tag',
      '1.2.3',
      () => void git('tag', 'v1.2.3', 'HEAD~1'),
      /the tag v1\.2\.3 already exists/,
    ],
    [
      'a package without a repository',
      '1.2.3',
      () => setRepository(clone, ''),
      /names no repository: npm pkg set/,
    ],
    ...pages.map((page): [string, string, () => void, RegExp] => [
      `${page} if it says that there is no release`,
      '1.2.3',
      () => writeFileSync(join(clone, page), "rungate isn't on npm yet"),
      /\.md says that rungate is not on npm yet/,
    ]),
    ['an invalid version', 'v1', () => {}, /"v1" is not a version/],
  ])('refuses %s', async (_name, version, spoil, message) => {
    spoil();
    const before = tags();
    const ended = await quick(version);
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(message);
    expect(tags()).toEqual(before);
  });
});

/** The jobs of release.yml that publish something. */
const publishing: Readonly<Record<string, object>> = {
  publish: { contents: 'read', 'id-token': 'write' },
  release: { contents: 'write', 'id-token': 'write', attestations: 'write' },
  image: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
};
const permissionsOf = (workflow: string, job: string) =>
  workflow !== 'release.yml'
    ? undefined
    : (publishing[job] ?? (job === 'archive' ? {} : { contents: 'read' }));

describe('the workflows', () => {
  const names = existsSync(workflows) ? readdirSync(workflows) : [];

  it.each(names)(
    '%s has minimal permissions, a time limit for each job, and actions pinned by commit',
    (name) => {
      const { permissions, concurrency } = parsed(name);
      expect(concurrency.group).toBeTruthy();
      expect(permissions).toEqual(name === 'release.yml' ? {} : { contents: 'read' });
      for (const [id, job] of jobsOf(name)) {
        expect(job.permissions, id).toEqual(permissionsOf(name, id));
        expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
        for (const step of job.steps) {
          if (step.uses?.startsWith('actions/checkout'))
            expect(step.with).toMatchObject({ 'persist-credentials': false });
        }
      }
      for (const [line] of read(name).matchAll(/^.*\buses:.*$/gm))
        expect(line).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    },
  );

  it.each(names)('%s uses no secrets, no registry and no expressions in shell code', (name) => {
    expect(read(name)).not.toMatch(/secrets\.|pull_request_target|https?:|registry-url|NODE_AUTH_TOKEN/);
    for (const [, job] of jobsOf(name)) expect(shellOf(job)).not.toContain('${{');
  });

  it('ci.yml tests the documented Node versions, from the minimum in package.json on', () => {
    const { node } = parsed('ci.yml').jobs.test.strategy.matrix;
    const page = readFileSync(join(root, 'docs/project/platforms.md'), 'utf8');
    const [, documented] = /\| Linux, x64 +\| Node ([\d, and]+?) +\|/.exec(page) ?? [];
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
});

describe('release.yml', () => {
  it('starts for the tag of a version, but not for the tag of a major version', () =>
    expect(parsed('release.yml').on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+*'] } }));

  it.each(jobsOf('release.yml'))(
    'the job %s either can publish or runs code of the repository and its dependencies, never both',
    (id, job) => {
      for (const { uses } of job.steps) expect(uses ?? 'actions/').toMatch(/^actions\//);
      if (publishing[id] === undefined) return;
      const commands =
        /\b(npm|npx|node|bash|sh|make|corepack|yarn|pnpm|rungate (?!\$\{)|docker run)\b[^\n]*/g;
      const ran = [...shellOf(job).matchAll(commands)].map(([command]) => command);
      expect(
        ran.filter(
          (command) => !/^npm stage publish "\$tarball" --provenance .*--ignore-scripts/.test(command),
        ),
      ).toEqual([]);
      expect(ran).toHaveLength(id === 'publish' ? 2 : 0);
    },
  );

  it('publishes nothing before the tag is checked, and the package also if the rest fails', () => {
    for (const id of Object.keys(publishing)) expect(releaseJob(id).needs).toContain('tag');
    expect(releaseJob('publish').needs).toEqual(['tag', 'build']);
    expect(releaseJob('build').needs).toBeUndefined();
    expect(releaseJob('release').needs).toEqual(['tag', 'archive']);
    expect(releaseJob('archive').needs).toEqual(['build', 'binaries']);
    expect(releaseJob('image').needs).toEqual(['tag', 'archive', 'image-check']);
  });

  it('tests and packs what it publishes', () =>
    expect(shellOf(releaseJob('build'))).toMatch(/npm ci\n[\s\S]*npm run test:all\n[\s\S]*npm pack/));

  it('passes only checksums to the jobs that publish, besides files', () => {
    const passed = Object.keys(publishing).flatMap((id) =>
      releaseJob(id).steps.flatMap(({ env }) => Object.values(env ?? {})),
    );
    expect(new Set(passed)).toEqual(
      new Set([
        '${{ needs.build.outputs.sha256 }}',
        '${{ needs.archive.outputs.sums }}',
        '${{ github.token }}',
        '${{ github.repository }}',
      ]),
    );
    expect(Object.keys(releaseJob('build').outputs ?? {})).toEqual(['sha256']);
    expect(Object.keys(releaseJob('archive').outputs ?? {})).toEqual(['sums']);
  });

  /** Runs a step with a checkout of the tag in the folder `tag` of the working directory. */
  const runStep = (text: string, where: string, env: Record<string, string>) =>
    run(text, where, { ...gitEnv, ...env });

  describe('the check of the tag accepts or refuses', () => {
    const text = step(releaseJob('tag'), /tag/);
    const other = () => git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'not on main');
    const withFile = (path: string, parent: string) => {
      mkdirSync(dirname(join(clone, path)), { recursive: true });
      writeFileSync(join(clone, path), 'planted');
      git('read-tree', 'v1.2.3');
      git('add', '--force', path);
      const commit = git('commit-tree', git('write-tree'), '-p', parent, '-m', path);
      git('reset', '-q', '--hard');
      return commit;
    };

    it.each<[string, () => string, boolean]>([
      ['made by npm run release', () => git('rev-parse', 'v1.2.3^{commit}'), true],
      ['behind an annotated tag', () => git('rev-parse', 'v1.2.3'), true],
      ['the commit of main itself', () => git('rev-parse', 'main'), false],
      ['whose parent is not on main', () => withFile('dist/action/index.js', other()), false],
      [
        'with two parents',
        () => git('commit-tree', 'v1.2.3^{tree}', '-p', 'HEAD', '-p', other(), '-m', 'merge'),
        false,
      ],
      ['that adds a file beside dist/action', () => withFile('dist/actions/x', 'main'), false],
      ['that changes a source', () => withFile('package.json', 'main'), false],
      ['that has a file in place of the folder', () => withFile('dist/action', 'main'), false],
      ['that adds a workflow', () => withFile('.github/workflows/x.yml', 'main'), false],
      ['that adds nothing', () => other(), false],
      ['that does not exist', () => '1'.repeat(40), false],
    ])('a commit %s: %#', async (_name, commitOf, right) => {
      await quick('1.2.3');
      rmSync(join(clone, 'dist'), { recursive: true });
      const commit = commitOf();
      const where = join(dirname(clone), 'runner');
      mkdirSync(where);
      gitIn(where, 'clone', '-q', origin(), 'tag');
      // Fetch the objects as a checkout of the tag does; main is that of origin.
      gitIn(join(where, 'tag'), 'remote', 'add', 'objects', clone);
      if (!/^1+$/.test(commit)) {
        git('update-ref', 'refs/tags/candidate', commit);
        gitIn(join(where, 'tag'), 'fetch', '-q', 'objects', 'refs/tags/candidate');
      }
      const ended = await runStep(text, where, { GITHUB_SHA: commit, GITHUB_REF_NAME: 'v1.2.3' });
      expect(ended.code === 0, ended.out + ended.err).toBe(right);
    });
  });

  /** Publishes a tarball with a fake npm. Returns the arguments of npm, or null if it was not called. */
  async function publish(version: string, ref: string, sum?: string): Promise<string | null> {
    const where = mkdtempSync(join(folder, 'publish-'));
    const tarball = `package/rungate-${version}.tgz`;
    mkdirSync(join(where, 'package'));
    writeFileSync(join(where, tarball), 'packed');
    const [sha256 = ''] = execFileSync('sha256sum', [tarball], { cwd: where, encoding: 'utf8' }).split(' ');
    const [npm, log] = [join(where, 'bin/npm'), join(where, 'npm.log')];
    mkdirSync(dirname(npm));
    writeFileSync(npm, `#!/bin/sh\necho "$*" > '${log}'\n`);
    chmodSync(npm, 0o755);
    const PATH = [dirname(npm), process.env.PATH].join(delimiter);
    const env = { PATH, GITHUB_REF_NAME: ref, SHA256: sum ?? sha256 };
    const { code } = await runStep(step(releaseJob('publish'), /^Publish$/), where, env);
    const called = existsSync(log);
    expect(code === 0).toBe(called);
    return called ? readFileSync(log, 'utf8').trim() : null;
  }

  it.each([
    ['1.2.3', ''],
    ['1.2.3-rc.1', ' --tag next'],
  ])('stages the tarball of %s from the build without running its scripts', async (version, more) =>
    expect(await publish(version, `v${version}`)).toBe(
      `stage publish ./package/rungate-${version}.tgz --provenance --access public --ignore-scripts${more}`,
    ),
  );

  it.each([
    ['that differs from the one of the build', 'v1.2.3', '0'.repeat(64)],
    ['without a checksum', 'v1.2.3', ''],
    ['of another version than the tag', 'v1.2.4', undefined],
  ])('does not publish a tarball %s', async (_name, ref, sum) =>
    expect(await publish('1.2.3', ref, sum)).toBeNull(),
  );
});
