import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves with the match once stdout or stderr shows the pattern. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
}

/** File descriptors for standard output and standard error; without one, the output is collected. */
export interface Streams {
  out?: number | undefined;
  err?: number | undefined;
}

/** Does not exist, so that the profiles of the user who runs the tests are not used. */
const noProfiles = join(tmpdir(), 'rungate-no-profiles');

/** Starts a command and collects its output. */
export function start(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
  streams: Streams = {},
): Running {
  const child = spawn(file, args, {
    env: {
      ...process.env,
      NO_COLOR: '1',
      CI: undefined,
      XDG_CONFIG_HOME: env.HOME === undefined ? noProfiles : undefined,
      ...env,
    },
    cwd,
    stdio: ['ignore', streams.out ?? 'pipe', streams.err ?? 'pipe'],
  });
  let out = '';
  let err = '';
  const watchers = new Set<() => void>();
  const grew = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout?.on('data', (chunk) => {
    out += chunk;
    grew();
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
    grew();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  return {
    child,
    ended,
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(out + err);
          if (match === null) return;
          watchers.delete(look);
          resolve(match);
        };
        watchers.add(look);
        look();
        void ended.then((result) => {
          if (!pattern.test(out + err))
            reject(new Error(`ended without ${pattern}: ${JSON.stringify(result)}`));
        });
      }),
  };
}
