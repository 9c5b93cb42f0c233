import { once } from 'node:events';
import { stopSignals } from './process-events.ts';

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What a quick command prints, or null when it failed or took more than 2 s. */
export function capture([file = '', ...args]: readonly string[]): string | null {
  // Loaded here and below, when a command is run, not at every start.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync(file, args, {
    timeout: 2000,
    // One that ignores SIGTERM would be waited for.
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.toString() : null;
}

/** Runs a command with this process's own streams; stop signals are passed on to it. */
export async function run(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChildResult> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(file, args, { stdio: 'inherit', env, shell: process.platform === 'win32' });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of stopSignals) process.on(signal, pass);
  try {
    const [code, signal] = await once(child, 'close');
    return { code, signal };
  } finally {
    for (const signal of stopSignals) process.off(signal, pass);
  }
}

/**
 * Starts a program that may outlive this process, with no streams of ours. Returns false if it cannot be started or fails
 * within 2 s: some openers end at once, others stay for as long as the browser does.
 */
export function launch(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(file, args, { stdio: 'ignore', detached: true, env, windowsHide: true });
  return new Promise((resolve) => {
    const settle = (isGood: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(isGood);
    };
    const timer = setTimeout(settle, 2000, true);
    child.once('error', () => settle(false));
    child.once('exit', (code) => settle(code === 0));
  });
}
