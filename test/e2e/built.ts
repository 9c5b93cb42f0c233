import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/version.ts';

/** The built command, as npm installs it. `npm test` builds it first. */
export const bin = fileURLToPath(new URL('../../bin/rungate.js', import.meta.url));
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Links the built file into a folder's node_modules, where npx finds it. Returns the path of the command. */
export function installInto(folder: string): string {
  const home = join(folder, 'node_modules/rungate');
  const command = join(folder, 'node_modules/.bin/rungate');
  for (const path of [home, dirname(command)]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'rungate', version, bin: 'rungate.sh' }));
  writeFileSync(join(home, 'rungate.sh'), `#!/bin/sh\nexec node '${bin}' "$@"\n`);
  chmodSync(join(home, 'rungate.sh'), 0o755);
  symlinkSync('../rungate/rungate.sh', command);
  return command;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves once stderr or stdout shows the pattern. */
  shows(pattern: RegExp): Promise<void>;
}

/** Starts a command and collects its output. */
export function start(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Running {
  const child = spawn(file, args, {
    env: { ...process.env, NO_COLOR: '1', CI: undefined, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  const watchers = new Set<() => void>();
  const grew = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', (chunk) => {
    out += chunk;
    grew();
  });
  child.stderr.on('data', (chunk) => {
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
          if (!pattern.test(out + err)) return;
          watchers.delete(look);
          resolve();
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

export function rungate(args: readonly string[], env: Record<string, string> = {}): Running {
  return start(process.execPath, [bin, ...args], env);
}
