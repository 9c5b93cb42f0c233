// Makes a release of the checked-out commit: npm run release -- <version> [--dry-run] [--push] [--skip-checks]
//
// GitHub runs an action from the files of a tag, so the tag must contain the built files, which the main branch never has. They go into
// a separate commit off main, with main's commit as its parent; the tags `v<version>` and `v<major>` point to it.
// The branch, the index and the files of the checkout are not changed. Nothing is pushed without --push.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { addressOf, withRepository } from './repository.mjs';

/** The built files that action.yml needs. */
const built = 'dist/action';

function stop(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        push: { type: 'boolean', default: false },
        'skip-checks': { type: 'boolean', default: false },
      },
    });
    const [version] = positionals;
    if (positionals.length !== 1) throw new Error('give one version, such as 1.2.3');
    if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?$/.test(version)) {
      throw new Error(`"${version}" is not a version such as 1.2.3 or 1.2.3-rc.1`);
    }
    return { version, ...values };
  } catch (error) {
    return stop(error.message);
  }
}

const options = readArguments();
const { version } = options;
const tag = `v${version}`;
// A release candidate does not move the tag of the major version.
const majorTag = version.includes('-') ? null : `v${version.split('.')[0]}`;

const git = (args, env = {}) =>
  execFileSync('git', args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
function npm(...args) {
  console.log(`\n$ npm ${args.join(' ')}`);
  execFileSync('npm', args, { stdio: 'inherit' });
}
const lines = (text) => text.split('\n').filter((line) => line !== '');

/** Whether the commit is on main of origin; release.yml publishes no other. */
function isOnOrigin() {
  try {
    git(['fetch', '--quiet', 'origin', 'refs/heads/main']);
    git(['merge-base', '--is-ancestor', 'HEAD', 'FETCH_HEAD']);
    return true;
  } catch {
    return false;
  }
}

/** Returns what is missing in package.json about the repository, from which the help and the docs get its address. */
function repositoryProblem(manifest) {
  const remedy = 'npm pkg set repository=https://<host>/<owner>/rungate && npm run generate';
  try {
    if (addressOf(manifest) === '') return `package.json names no repository: ${remedy}`;
    const source = readFileSync('src/repository.ts', 'utf8');
    const isDerived =
      isDeepStrictEqual(manifest, withRepository(manifest)) && source.includes(`'${addressOf(manifest)}'`);
    return isDerived ? null : 'package.json has a repository that other places lack: npm run generate';
  } catch (error) {
    return error.message;
  }
}

/** Returns all problems at once. */
function problems() {
  const found = [];
  if (git(['status', '--porcelain']) !== '') found.push('there are uncommitted changes');
  const branch = git(['branch', '--show-current']);
  if (branch !== 'main')
    found.push(branch === '' ? 'no branch is checked out' : `the branch is ${branch}, not main`);
  if (lines(git(['tag', '--list', tag])).length > 0) found.push(`the tag ${tag} already exists`);
  if (git(['ls-files', 'dist']) !== '') found.push('dist is committed on main');
  if (options.push && !isOnOrigin()) found.push('origin/main does not have this commit: push main first');

  const json = (file) => JSON.parse(readFileSync(file, 'utf8'));
  const lock = json('package-lock.json');
  const repository = repositoryProblem(json('package.json'));
  if (repository !== null) found.push(repository);
  for (const page of ['README.md', 'docs/start/first-steps.md'])
    if (/n[o']t on npm yet|(?:once|until) rungate is on npm/i.test(readFileSync(page, 'utf8')))
      found.push(`${page} says that rungate is not on npm yet`);
  const versions = {
    'package.json': json('package.json').version,
    'package-lock.json': lock.packages?.['']?.version ?? lock.version,
    'src/version.ts': /version = '([^']+)'/.exec(readFileSync('src/version.ts', 'utf8'))?.[1],
  };
  for (const [file, other] of Object.entries(versions)) {
    if (other !== version) found.push(`${file} has ${other}, not ${version}`);
  }
  const heading = readFileSync('CHANGELOG.md', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('## '));
  if (heading?.split(' ')[1] !== version)
    found.push(`CHANGELOG.md begins with "${heading}", not with "## ${version}"`);
  else if (heading.includes('not released')) found.push(`CHANGELOG.md marks ${version} as not released`);
  return found;
}

/** Creates the commit off main with the files of main and the built files. */
function commitOff(main) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-release-'));
  try {
    const index = { GIT_INDEX_FILE: join(folder, 'index') };
    git(['read-tree', main], index);
    git(['add', '--force', '--', built], index);
    const tree = git(['write-tree'], index);
    return git([
      'commit-tree',
      tree,
      '-p',
      main,
      '-m',
      `rungate ${version}\n\nThe files of main and the built action.`,
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.chdir(git(['rev-parse', '--show-toplevel']));
const wrong = problems();
if (wrong.length > 0) stop(`no release was made:\n${wrong.map((problem) => `  - ${problem}`).join('\n')}`);
const main = git(['rev-parse', 'HEAD']);

if (!options['skip-checks']) {
  npm('ci');
  npm('run', 'lint');
  npm('run', 'types');
  npm('run', 'test:all');
  npm('run', 'test:long');
  npm('run', 'build');
  if (git(['status', '--porcelain']) !== '' || git(['rev-parse', 'HEAD']) !== main) {
    stop('building and testing changed the checkout');
  }
}
if (!existsSync(join(built, 'index.js'))) stop(`${built} is not built`);

const refs = [tag, ...(majorTag === null ? [] : [majorTag])];
const push = [
  'push',
  '--atomic',
  'origin',
  `refs/tags/${tag}`,
  ...(majorTag === null ? [] : [`+refs/tags/${majorTag}`]),
];
if (options['dry-run']) {
  console.log(`would tag ${refs.join(' and ')}: main ${main.slice(0, 12)} and the files of ${built}`);
  console.log(options.push ? `would run: git ${push.join(' ')}` : 'would push nothing');
} else {
  const commit = commitOff(main);
  const added = lines(git(['diff', '--name-only', main, commit]));
  if (added.some((file) => !file.startsWith(`${built}/`)))
    stop(`the tag would contain more than ${built}: ${added}`);
  git(['tag', '--annotate', tag, commit, '-m', `rungate ${version}`]);
  if (majorTag !== null) git(['tag', '--force', majorTag, commit]);
  console.log(
    `tagged ${refs.join(' and ')}: ${commit.slice(0, 12)}, ${added.length} files on top of main ${main.slice(0, 12)}`,
  );
  if (options.push) git(push);
  else console.log(`not pushed: git ${push.join(' ')}`);
}
