import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
// @ts-expect-error a script without types
import { installNode } from '../../scripts/node-builds.mjs';
import type { Mock } from '../../src/mock/server.ts';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

interface Surroundings {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** The file that is the standard input; by default it is empty. */
  stdin?: string;
}

/** Returns the Windows path of a file: Z: is the root folder in Wine. */
export const windowsPath = (path: string) => `Z:${path.replaceAll('/', '\\')}`;

export const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Node for Windows, as a path of this system. */
export const node: string = installNode(process.env.WINDOWS_NODE, 'win32', 'x64');
export const program = windowsPath(here('../../bin/rungate.js'));

const logs = mkdtempSync(join(tmpdir(), 'rungate-windows-logs-'));
let count = 0;
afterAll(() => rmSync(logs, { recursive: true, force: true }));

/** Creates a folder with a space and a letter beyond ASCII in its name, removed after the tests of the file. */
export function folderWithSpace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate windows é '));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the environment of a Windows program. Windows has its own PATH, TEMP and APPDATA. */
export function wineEnv(more: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  return {
    ...process.env,
    // Node for Windows refuses to start in Wine otherwise.
    NODE_SKIP_PLATFORM_CHECK: '1',
    NODE_OPTIONS: `--require=${windowsPath(here('wine.cjs')).replaceAll('\\', '/')}`,
    // File names are UTF-8.
    LC_ALL: 'C.UTF-8',
    WINEPATH: windowsPath(dirname(node)),
    NO_COLOR: '1',
    CI: undefined,
    ...more,
  };
}

/** Runs a Windows program. Its streams are files, since Wine 8 does not give Node a pipe of another system as a stream. */
export async function wine(file: string, args: readonly string[], around: Surroundings): Promise<Ended> {
  count += 1;
  const [out, err] = [join(logs, `${count}.out`), join(logs, `${count}.err`)];
  const files = [openSync(around.stdin ?? '/dev/null', 'r'), openSync(out, 'w'), openSync(err, 'w')];
  const child = spawn('wine', [file, ...args], {
    cwd: around.cwd,
    stdio: files as [number, number, number],
    env: wineEnv(around.env),
  });
  for (const one of files) closeSync(one);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  return { code, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') };
}

export const rungate = (args: readonly string[], around: Surroundings) =>
  wine(node, [program, ...args], around);

export const serviceEnv = (mock: Mock) => ({
  RUNGATE_API_URL: mock.url,
  RUNGATE_API_KEY: mock.apiKey,
  RUNGATE_TOKEN: mock.token,
});
