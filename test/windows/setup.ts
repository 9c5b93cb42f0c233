import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error a script without types
import { installNode } from '../../scripts/node-builds.mjs';

/** Node 24 and later do not start in Wine 8. */
export const nodeVersions = ['20', '22'];

const has = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Installs Wine from Debian's packages where it is missing. */
function installWine(): void {
  if (has('wine')) return;
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'wine', 'wine64']]) {
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 });
  }
  if (!has('wine'))
    throw new Error(
      'Wine is missing, and apt-get could not install it: install Debian’s packages wine and wine64',
    );
}

/** Installs Node for Windows and, on other systems, gives the run its own Wine prefix: the C: drive and the registry. */
export default function setup(): () => void {
  for (const version of nodeVersions) installNode(version, 'win32', 'x64');
  if (process.platform === 'win32') return () => {};
  installWine();
  const prefix = mkdtempSync(join(tmpdir(), 'rungate-wine-'));
  process.env.WINEPREFIX = prefix;
  process.env.WINEDEBUG = '-all';
  const { status } = spawnSync('wine', ['wineboot', '--init'], { stdio: 'ignore', timeout: 120_000 });
  if (status !== 0) throw new Error('Wine could not create its prefix');
  // Wine looks here for servers and their shares.
  const server = join(prefix, 'dosdevices/unc/localhost');
  mkdirSync(server, { recursive: true });
  symlinkSync('/', join(server, 'Z$'));
  return () => {
    spawnSync('wineserver', ['--kill']);
    rmSync(prefix, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
}
