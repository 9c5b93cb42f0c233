import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
// @ts-expect-error a script without types
import { installNode } from '../../scripts/node-builds.mjs';
import type { MockServer } from '../../src/mock/server.ts';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

interface Surroundings {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** The first folder on the path; by default the one with node.exe. */
  tools?: string;
  /** The file that is the standard input; by default it is empty. */
  stdin?: string;
}

/** The tests also run on Windows itself. */
export const isWindows = process.platform === 'win32';

/** Returns the Windows path of a file: Z: is the root folder in Wine. */
export const windowsPath = (path: string) => (isWindows ? path : `Z:${path.replaceAll('/', '\\')}`);

/** Returns the path of a file through the share of its drive, such as `\\\\localhost\\C$\\x`. */
export const sharePath = (path: string) => windowsPath(path).replace(/^(\w):/, '\\\\localhost\\$1$');

/** Returns the command that starts a Windows program. */
export const onWindows = (file: string, ...args: readonly string[]): [file: string, args: string[]] =>
  isWindows ? [file, [...args]] : ['wine', [file, ...args]];

export const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Node for Windows, as a path of this system. */
export const node: string = installNode(process.env.WINDOWS_NODE, 'win32', 'x64');
/** The executable under test; without it, Node runs the built package. */
const executable = process.env.WINDOWS_PROGRAM;
export const isExecutable = executable !== undefined;

/** Copies the built package into a folder. */
export function installPackage(folder: string): void {
  const filter = (from: string) => !/dist.binary$/.test(from);
  for (const part of ['package.json', 'bin', 'dist', 'docs/rungate.schema.json'])
    cpSync(here(`../../${part}`), join(folder, part), { recursive: true, filter });
}

/** Copies the program under test into a folder, and returns the command that starts the copy. */
export function install(folder: string): Command {
  if (executable === undefined) {
    installPackage(folder);
    return [node, windowsPath(join(folder, 'bin/rungate.js'))];
  }
  const copy = join(folder, 'rungate.exe');
  cpSync(executable, copy);
  return [copy];
}

type Command = readonly [file: string, ...args: string[]];
/** The command that starts the program under test. */
export const program: Command =
  executable === undefined ? [node, windowsPath(here('../../bin/rungate.js'))] : [executable];

const logs = mkdtempSync(join(tmpdir(), 'rungate-windows-logs-'));
let count = 0;
afterAll(() => rmSync(logs, { recursive: true, force: true }));

/** Creates a folder with a space and a letter beyond ASCII in its name, removed after the tests of the file. */
export function folderWithSpace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate windows é '));
  // Windows refuses to remove the working directory of a process, such as a console that is about to end.
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return folder;
}

/** The variables of a CI system or of npm around the tests, which would change what rungate does. */
const outside = /^(?:CI$|GITHUB_|RUNNER_|RUNGATE_|npm_)/i;

/**
 * Returns the environment of a Windows program. In Wine, it has its own PATH, TEMP and APPDATA.
 * @param tools the folder with node.exe
 */
export function windowsEnv(more: Readonly<Record<string, string>> = {}, tools = dirname(node)) {
  const outer = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outside.test(name)));
  const own = {
    // Node for Windows refuses to start in Wine otherwise.
    NODE_SKIP_PLATFORM_CHECK: '1',
    NODE_OPTIONS: `--require=${windowsPath(here('wine.cjs')).replaceAll('\\', '/')}`,
    // File names are UTF-8.
    LC_ALL: 'C.UTF-8',
    WINEPATH: windowsPath(tools),
  };
  const path = { PATH: `${tools};${process.env.PATH}` };
  return { ...outer, ...(isWindows ? path : own), NO_COLOR: '1', ...more } as Record<string, string>;
}

/** Runs a Windows program. Its streams are files, since Wine 8 does not give Node a pipe of another system as a stream. */
export async function start(file: string, args: readonly string[], around: Surroundings): Promise<Ended> {
  count += 1;
  const [out, err] = [join(logs, `${count}.out`), join(logs, `${count}.err`)];
  const files = [openSync(around.stdin ?? devNull, 'r'), openSync(out, 'w'), openSync(err, 'w')];
  const child = spawn(...onWindows(file, ...args), {
    cwd: around.cwd,
    stdio: files as [number, number, number],
    env: windowsEnv(around.env, around.tools),
  });
  for (const one of files) closeSync(one);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  return { code, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') };
}

/** Runs the program under test, or a copy of it. */
export function rungate(args: readonly string[], around: Surroundings, [file, ...first] = program) {
  return start(file, [...first, ...args], around);
}

export const serviceEnv = (mock: MockServer) => ({
  RUNGATE_API_URL: mock.url,
  RUNGATE_API_KEY: mock.apiKey,
  RUNGATE_TOKEN: mock.token,
});

/** npm's folder on this system. */
export const npmFolder = isWindows
  ? join(dirname(process.execPath), 'node_modules/npm')
  : dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));

/** Writes the `.cmd` file with which npm starts a script of a package. */
export async function npmShim(script: string, shim: string): Promise<void> {
  await createRequire(import.meta.url)(join(npmFolder, 'node_modules/cmd-shim'))(script, shim);
  if (isWindows) return;
  // Wine's cmd ends a batch file at a `goto` without a label, which only avoids the question "Terminate batch job (Y/N)?".
  const text = readFileSync(`${shim}.cmd`, 'utf8');
  writeFileSync(`${shim}.cmd`, text.replace('goto #_undefined_# 2>NUL || title %COMSPEC% & ', ''));
}
