import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { StopSignal } from '../errors.ts';

/**
 * The parent process and, if the parent is a shell that a package runner started (`npx` → `sh -c` → rungate), that runner.
 * `runner` is null if there is none or it cannot be determined. Other ancestors do not matter: a script under `nohup`
 * outlives the terminal that started it, and so must rungate.
 */
export interface Lineage {
  readonly parent: number;
  readonly runner: number | null;
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh']);

/** npm sets its process title to `npm exec …`; others run as `node`, which some versions call `MainThread`, or under their own name. */
const runners = /^(npm|npx|pnpm|yarn|node|MainThread)/;

/** Fields of `/proc/<pid>/stat` on Linux. */
interface ProcessStat {
  name: string;
  state: string;
  parent: number;
  group: number;
}

/** Parses `pid (name) state ppid pgrp …`; the name itself may contain spaces and parentheses. */
export function parseStat(stat: string): ProcessStat | null {
  const [, name = '', state = '', parent, group] = /^\d+ \((.*)\) (\S) (\d+) (\d+) /s.exec(stat) ?? [];
  return group === undefined ? null : { name, state, parent: Number(parent), group: Number(group) };
}

/** Returns null if this is not Linux or the process has ended. */
export function readStat(pid: number | string): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Looks up the lineage of this process, given the parent's process id. */
export function readLineage(parent: number): Lineage {
  const shell = readStat(parent);
  if (shell === null || !shells.has(shell.name)) return { parent, runner: null };
  return { parent, runner: runners.test(readStat(shell.parent)?.name ?? '') ? shell.parent : null };
}

/** Returns whether this process was orphaned, or the shell between it and a package runner was. */
export function lineageChanged(before: Lineage, now: Lineage): boolean {
  return before.parent !== now.parent || (before.runner !== null && before.runner !== now.runner);
}

/** The command line of a package runner. npm writes its title there, and the others run as `node /…/pnpm.cjs exec …`. */
const runnerCommand = /(?:^|[/\0])(?:npm|npx|pnpm|yarn)\b/;

/** Returns whether a package runner started this process, directly or through a shell. Another program of Node's is none. */
function hasRunner({ parent, runner }: Lineage): boolean {
  try {
    return [parent, runner ?? parent].some((pid) =>
      // cspell:ignore cmdline
      runnerCommand.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1')),
    );
  } catch {
    // Other systems than Linux do not show the command, but runners set this variable.
    return process.env.npm_execpath !== undefined;
  }
}

/** Interval between checks of the parent process, well below the 5 s that a stop may take. */
const lineageMs = 400;

export const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export type SignalListener = (signal: StopSignal, orphaned?: boolean) => void;

/**
 * Calls back on SIGINT, SIGTERM, SIGHUP and when the parent process is gone; a second signal ends the process at once.
 * @param outlives whether the command goes on when the shell or the terminal that started it ends, as under `nohup`
 */
export function onStop(stop: SignalListener, outlives = false): () => void {
  let stopping = false;
  const stopOnce: SignalListener = (signal, orphaned) => {
    if (stopping) process.exit(128 + signalNumbers[signal]);
    stopping = true;
    stop(signal, orphaned);
  };
  // Node resets the signals that nohup ignores. nohup leaves no terminal whose end SIGHUP could mean.
  const isDetached = outlives && ![0, 1, 2].some((fd) => isatty(fd));
  const listener = (signal: StopSignal) => {
    if (signal !== 'SIGHUP' || !isDetached) stopOnce(signal);
  };
  for (const signal of stopSignals) process.on(signal, listener);
  // npx and npm do not pass SIGTERM on: they end, and this process would run on under another parent.
  const lineage = readLineage(process.ppid);
  const isWatching = !outlives || hasRunner(lineage);
  const stopWatching = every(lineageMs, () => {
    if (isWatching && !stopping && lineageChanged(lineage, readLineage(process.ppid)))
      stopOnce('SIGTERM', true);
  });
  return () => {
    stopWatching();
    for (const signal of stopSignals) process.off(signal, listener);
  };
}

/** Calls back at this interval until the returned function is called. It does not keep the process alive. */
export function every(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms);
  timer.unref();
  return () => clearInterval(timer);
}

const exitCallbacks = new Set<() => void>();
const events = ['exit', 'uncaughtExceptionMonitor'] as const;
const onEnd = () => {
  for (const callback of exitCallbacks) callback();
};
const onSignal = (signal: StopSignal) => {
  if (process.listenerCount(signal) > 1) return;
  onEnd();
  listenForEnd('off');
  // The kernel ignores a signal to process 1, as in a container, that has no listener.
  if (process.pid === 1) process.exit(128 + signalNumbers[signal]);
  process.kill(process.pid, signal);
};

function listenForEnd(how: 'on' | 'off'): void {
  for (const event of events) process[how](event, onEnd);
  for (const signal of stopSignals) process[how](signal, onSignal);
}

/**
 * Calls back when the process ends: before Node reports an uncaught error on stderr, and on a stop signal that has no other
 * listener.
 */
export function onExit(callback: () => void): () => void {
  if (exitCallbacks.size === 0) listenForEnd('on');
  exitCallbacks.add(callback);
  return () => {
    if (exitCallbacks.delete(callback) && exitCallbacks.size === 0) listenForEnd('off');
  };
}

/** Makes every stop signal end process 1, also one that no command listens for. */
export function endProcessOne(): void {
  if (process.pid === 1) onExit(() => {});
}

/** Makes an uncaught error end the process with this code, never with Node's own 1, which means that the run failed. */
export function onBug(code: number): void {
  process.exitCode = code;
  process.on('uncaughtException', (error) => {
    console.error('error: this is a bug in rungate; please report it with the lines below');
    console.error(error);
    process.exit(code);
  });
}
