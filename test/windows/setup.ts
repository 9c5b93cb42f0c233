import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error a script without types
import { installNode } from '../../scripts/node-builds.mjs';
import { buildExecutable } from '../executable.ts';

export const nodeVersions = ['20', '24'] as const;

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

/**
 * Hides `VirtualAlloc2` from programs. In Wine 8 it reserves no placeholders, so that Node 24 and later abort. V8 reserves memory
 * in another way if Windows does not have the function.
 */
function hideVirtualAlloc2(prefix: string): void {
  const file = join(prefix, 'drive_c/windows/system32/kernelbase.dll');
  const library = readFileSync(file);
  const [mark, name] = ['Wine builtin DLL', '\0VirtualAlloc2\0'];
  if (!library.includes(mark) || !library.includes(name))
    throw new Error(`${file} is not what Wine installs`);
  // Wine loads its own file instead of one with its mark.
  library.fill(0, library.indexOf(mark), library.indexOf(mark) + mark.length);
  // The names of a library are sorted, and stay so.
  for (let at = library.indexOf(name); at !== -1; at = library.indexOf(name, at))
    library.write('VirtualAlloc0', at + 1);
  writeFileSync(file, library);
  process.env.WINEDLLOVERRIDES = 'kernelbase=n';
}

/** Builds the executable and installs Node for Windows. On other systems, gives the run its own Wine prefix: the C: drive and the registry. */
export default function setup(): () => void {
  for (const version of nodeVersions) installNode(version, 'win32', 'x64');
  buildExecutable('windows-x64');
  if (process.platform === 'win32') return () => {};
  installWine();
  const prefix = mkdtempSync(join(tmpdir(), 'rungate-wine-'));
  process.env.WINEPREFIX = prefix;
  process.env.WINEDEBUG = '-all';
  const { status } = spawnSync('wine', ['wineboot', '--init'], { stdio: 'ignore', timeout: 120_000 });
  if (status !== 0) throw new Error('Wine could not create its prefix');
  hideVirtualAlloc2(prefix);
  // Wine looks here for servers and their shares.
  const server = join(prefix, 'dosdevices/unc/localhost');
  mkdirSync(server, { recursive: true });
  symlinkSync('/', join(server, 'Z$'));
  return () => {
    spawnSync('wineserver', ['--kill']);
    rmSync(prefix, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
}
