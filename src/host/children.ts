import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { stopSignals } from './process-events.ts';
import { spawnCommand } from './spawn.ts';

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Returns the program on the path. Windows itself would look for `git.exe` in the working directory first. */
function onPath(name: string): string {
  if (process.platform !== 'win32' || isAbsolute(name)) return name;
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, `${name}.exe`)).find((path) => existsSync(path)) ?? '';
}

/** Returns the environment without rungate's settings and the inputs of its action, some of which are secrets. */
export function withoutOwn(env: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:RUNGATE|INPUT)_/i.test(name)));
}

/**
 * Returns the output of a quick command, or null if it failed or took too long.
 * @param onFailure receives what a command that fails prints to stderr @param timeout milliseconds
 */
export function capture(
  [file = '', ...args]: readonly string[],
  onFailure: (stderr: string) => void = () => {},
  timeout = 2000,
): string | null {
  // Here and below: load the module when a command runs, not at every start.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const program = onPath(file);
  if (program === '') return null;
  const { status, stdout, stderr } = spawnSync(program, args, {
    env: withoutOwn(process.env),
    timeout,
    // `spawnSync` would wait for a command that ignores SIGTERM.
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return stdout.toString();
  onFailure(String(stderr));
  return null;
}

/** Runs a command with this process's own streams, and passes stop signals on to it. */
export async function run(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChildResult> {
  const child = spawnCommand(command, { stdio: 'inherit', env });
  const { isatty } = process.getBuiltinModule('node:tty');
  // A terminal sends Ctrl-C and its end to every process, and a second signal would end the child before it has cleaned up. On
  // Windows, no other process sends signals, and `kill` ends a process at once.
  const forward = (signal: NodeJS.Signals) => {
    if (process.platform !== 'win32' && (signal === 'SIGTERM' || !isatty(0))) child.kill(signal);
  };
  for (const signal of stopSignals) process.on(signal, forward);
  try {
    const [code, signal] = await once(child, 'close');
    return { code, signal };
  } finally {
    for (const signal of stopSignals) process.off(signal, forward);
  }
}

/**
 * Starts a program that may outlive this process. Returns false if it cannot be started or fails at once: some openers exit, others run until the
 * browser closes.
 */
export function launch(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  patienceMs = 2000,
): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(file, args, { stdio: 'ignore', detached: true, env, windowsHide: true });
  return new Promise((resolve) => {
    const settle = (isGood: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(isGood);
    };
    const timer = setTimeout(settle, patienceMs, true);
    child.once('error', () => settle(false));
    child.once('exit', (code) => settle(code === 0));
  });
}
