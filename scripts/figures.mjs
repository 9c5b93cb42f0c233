// Prints figures of the working tree beside those of a commit: npm run figures [-- <commit>]
//
// Without an argument, the commit is the parent: HEAD for a working tree with changes, or else HEAD^. No figure has a limit.
// Both trees are built with the packages in node_modules.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figuresOf, kindOf, pagePaths } from './docs-figures.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} tree @param {string} command @param {readonly string[]} args */
const output = (tree, command, ...args) =>
  execFileSync(command, args, {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** @param {string} tree @param {string} folder */
function linesIn(tree, folder) {
  const files = readdirSync(join(tree, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/node_modules/'));
  return files.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}

/** @param {string} tree @param {(kind: string) => boolean} wanted */
const wordsOf = (tree, wanted) =>
  pagePaths(tree)
    .filter((path) => wanted(kindOf(path)))
    .reduce((sum, path) => sum + figuresOf(readFileSync(join(tree, path), 'utf8')).words, 0);

/** Returns the built files that `run wait` loads for a run that has ended. @param {string} tree */
function loadedByWait(tree) {
  const script = [
    'run=$(node bin/rungate.js run trigger --project a --process b --no-wait)',
    'NODE_DEBUG=esm node bin/rungate.js run wait "$run" --quiet 2>&1',
  ].join('\n');
  const mock = ['bin/rungate.js', 'mock', 'exec', '--outcome', 'passed', '--duration', '1ms'];
  const log = output(tree, 'node', ...mock, '--', 'sh', '-ec', script);
  return [
    ...new Set([...log.matchAll(/file:\/\/[^'"\s]*\/(dist\/[\w.-]+\.js)/g)].map(([, file]) => String(file))),
  ];
}

/**
 * Returns the bytes of built files by the package or the part of `src` that they come from, the largest first.
 * @param {string} tree @param {readonly string[]} files
 */
function bytesByPart(tree, files) {
  const { outputs } = JSON.parse(readFileSync(join(tree, 'dist/metafile-esm.json'), 'utf8'));
  /** @type {Record<string, number>} */
  const bytes = {};
  for (const [path, { bytesInOutput }] of files.flatMap((file) => Object.entries(outputs[file].inputs))) {
    const [, name, folder] = /node_modules\/((?:@[^/]+\/)?[^/]+)|^(src\/[^/]+)\//.exec(path) ?? [];
    const part = name ?? folder ?? 'others';
    bytes[part] = (bytes[part] ?? 0) + bytesInOutput;
  }
  return Object.entries(bytes).toSorted(([, one], [, other]) => other - one);
}

/** @param {string} tree @returns {Record<string, number>} */
function measured(tree) {
  output(tree, 'npm', 'run', '--silent', 'build');
  const files = loadedByWait(tree);
  const [{ size }] = JSON.parse(output(tree, 'npm', 'pack', '--dry-run', '--json'));
  return {
    'src, lines': linesIn(tree, 'src'),
    'test, lines': linesIn(tree, 'test'),
    'pages for users, words': wordsOf(tree, (kind) => ['start', 'how-to', 'reference', 'why'].includes(kind)),
    'pages of the project, words': wordsOf(tree, (kind) => kind === 'project'),
    'package, bytes': size,
    'files that `run wait` loads': files.length,
    'their bytes': files.reduce((sum, file) => sum + statSync(join(tree, file)).size, 0),
    ...Object.fromEntries(bytesByPart(tree, files).map(([part, bytes]) => [`their bytes, ${part}`, bytes])),
  };
}

/** Returns the figures of a commit. @param {string} commit */
function measuredAt(commit) {
  const tree = mkdtempSync(join(tmpdir(), 'rungate-figures-'));
  try {
    output(root, 'sh', '-ec', `git archive "${commit}" | tar -x -C "${tree}"`);
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    return measured(tree);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const parent = output(root, 'git', 'status', '--porcelain') === '' ? 'HEAD^' : 'HEAD';
const commit = output(root, 'git', 'rev-parse', '--short', process.argv[2] ?? parent).trim();
const before = measuredAt(commit);
const after = measured(root);
console.log(`| figure | ${commit} | now | change |\n| --- | --- | --- | --- |`);
for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
  const [then, now] = [before[name] ?? 0, after[name] ?? 0];
  const change = now - then;
  console.log(`| ${name} | ${then} | ${now} | ${change > 0 ? '+' : ''}${change} |`);
}
