import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemClock } from '../clock.ts';
import { type ChildResult, capture } from './children.ts';
import { readStat } from './process-events.ts';
import { spawnCommand } from './spawn.ts';

export interface GroupOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Time after which the command and its descendants are stopped. */
  limitMs: number;
  /** Stops them at once. */
  signal: AbortSignal;
  /** Receives their standard output and standard error as they arrive. */
  onOutput(bytes: Uint8Array): void;
}

export interface GroupResult extends ChildResult {
  /** The limit or the signal ended the command. */
  stopped: boolean;
  /** The command ended by itself but left processes behind, which were then stopped. */
  leftBehind: boolean;
}

const windows = process.platform === 'win32';
/** How long processes may outlive the command that started them, such as a `tee` that writes its last lines. */
const settleMs = 300;
/** How long processes may take to end after SIGTERM. */
const stopMs = 2_000;

/** Returns whether a process received the signal; signal 0 only checks that one exists. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  const { pid, exitCode } = child;
  if (windows || pid === undefined) {
    if (exitCode !== null) return false;
    // Windows has no process groups. The full path, since Windows looks for a program in the working directory first.
    if (signal !== 0)
      capture([`${process.env.SystemRoot}\\System32\\taskkill.exe`, '/pid', `${pid}`, '/t', '/f']);
    return child.kill(signal);
  }
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Returns whether only zombies are left of the group. In a container, they may never be reaped. */
function onlyZombies(group: number): boolean {
  try {
    const stats = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return stats.map(readStat).every((stat) => stat?.group !== group || 'ZX'.includes(stat.state));
  } catch {
    // Not Linux.
    return false;
  }
}

async function groupEnds(child: ChildProcess, withinMs: number): Promise<boolean> {
  const gone = () =>
    !signalGroup(child, 0) || (!windows && child.pid !== undefined && onlyZombies(child.pid));
  for (const until = performance.now() + withinMs; !gone(); await systemClock.sleep(25)) {
    if (performance.now() >= until) return false;
  }
  return true;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM');
  if (await groupEnds(child, stopMs)) return;
  signalGroup(child, 'SIGKILL');
  await groupEnds(child, settleMs);
}

/** Runs a command without input, in its own process group, and ends the whole group before it returns. */
export async function runGroup(command: readonly string[], options: GroupOptions): Promise<GroupResult> {
  const { env, limitMs, signal, onOutput } = options;
  const child = spawnCommand(command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    detached: !windows,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  child.stdout.on('data', onOutput);
  child.stderr.on('data', onOutput);
  const ended = new Promise<ChildResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, by) => resolve({ code, signal: by }));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const killAll = () => void signalGroup(child, 'SIGKILL');
  process.on('exit', killAll);
  const over = new AbortController();
  const timeUp = systemClock.sleep(limitMs, AbortSignal.any([over.signal, signal])).then(
    () => null,
    () => null,
  );
  try {
    const result = await Promise.race([ended, timeUp]);
    const stopped = result === null;
    const leftBehind = !stopped && !(await groupEnds(child, settleMs));
    if (stopped || leftBehind) await stopGroup(child);
    // A process that left the group (setsid) may keep the streams open for ever.
    await Promise.race([closed, systemClock.sleep(settleMs, over.signal)]);
    return { ...(result ?? (await ended)), stopped, leftBehind };
  } finally {
    over.abort();
    process.off('exit', killAll);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
