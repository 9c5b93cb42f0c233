// Builds rungate as single executables, from what `npm run build` wrote to dist/binary:
//
//   npm run build:binary                                       for this machine
//   npm run build:binary -- --target linux-arm64,windows-x64   for others
//
// Each is a Node of the npm registry with dist/binary as its application: dist/binary/<target>/rungate, or rungate.exe.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeExecutable } from './executable.mjs';
import { installNode } from './node-builds.mjs';

/** The newest build of the current LTS that all platforms have. release.yml and the SBOM read the same file. */
const nodeVersion = readFileSync(new URL('binary-node-version', import.meta.url), 'utf8').trim();

const targets = {
  'linux-x64': ['linux', 'x64'],
  'linux-arm64': ['linux', 'arm64'],
  'windows-x64': ['win32', 'x64'],
  'macos-arm64': ['darwin', 'arm64'],
};

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist/binary');

/** Returns Node for a platform: this process if it fits, since the registry does not have every build for macOS. */
function nodeFor(platform, arch) {
  const isThis =
    process.version === `v${nodeVersion}` && process.platform === platform && process.arch === arch;
  return isThis ? process.execPath : installNode(nodeVersion, platform, arch);
}

/** Returns the licence of Node, which is elsewhere on Windows. */
const licenceOf = (node) =>
  [join(dirname(node), '../LICENSE'), join(dirname(node), 'LICENSE')].find(existsSync);

/** Runs a gate against the mock, and writes what this Node compiled for it to a file. */
function compile(node, file) {
  const mock = [join(root, 'bin/rungate.js'), 'mock', 'exec', '--duration', '1ms', '--retry-after', '0.1'];
  const gate = [node, join(root, 'scripts/code-cache.cjs'), file];
  // Without the variables of a CI system, to which a gate reports, and without the user's settings.
  const { PATH, SystemRoot } = process.env;
  const env = { PATH, SystemRoot, RUNGATE_CONFIG_DIR: dirname(file) };
  execFileSync(process.execPath, [...mock, '--', ...gate], { cwd: dirname(file), env, stdio: 'ignore' });
}

async function build(target) {
  const [platform, arch] = targets[target];
  const builder = nodeFor(process.platform, process.arch);
  const work = mkdtempSync(join(tmpdir(), 'rungate-binary-'));
  try {
    const codeCache = join(work, 'code-cache');
    // Compiled code fits only the platform on which Node compiled it.
    if (platform === process.platform && arch === process.arch) compile(builder, codeCache);
    else writeFileSync(codeCache, '');
    const file = join(folder, target, platform === 'win32' ? 'rungate.exe' : 'rungate');
    mkdirSync(join(folder, target), { recursive: true });
    const application = {
      main: join(folder, 'main.cjs'),
      assets: { 'cli.cjs': join(folder, 'cli.cjs'), 'code-cache': codeCache },
    };
    await writeExecutable(file, application, builder, nodeFor(platform, arch));
    const licences = {
      LICENSE: join(root, 'LICENSE'),
      'THIRD_PARTY_LICENSES.txt': join(folder, 'THIRD_PARTY_LICENSES.txt'),
      'NODE_LICENSE.txt': licenceOf(builder),
    };
    for (const [name, from] of Object.entries(licences)) copyFileSync(from, join(folder, target, name));
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const own = Object.keys(targets).find(
  (name) => targets[name].join() === [process.platform, process.arch].join(),
);
const { values } = parseArgs({ options: { target: { type: 'string', default: own ?? '' } } });
const chosen = values.target.split(',');
const unknown = chosen.find((name) => !Object.hasOwn(targets, name));
if (unknown !== undefined) {
  console.error(
    `build:binary: there is no target "${unknown}": choose from ${Object.keys(targets).join(', ')}`,
  );
  process.exitCode = 1;
} else {
  for (const target of chosen) console.log(await build(target));
}
