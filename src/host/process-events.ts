import { readFileSync } from 'node:fs';
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

/** npm sets its process title to `npm exec …`; others run as `node` or under their own name. */
const runners = /^(npm|npx|pnpm|yarn|node)/;

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

/** Interval between checks of the parent process, well below the 5 s that a stop may take. */
const lineageMs = 400;

export const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export function onStop(stop: (signal: StopSignal) => void): () => void {
  let stopping = false;
  const once = (signal: StopSignal) => {
    if (stopping) process.exit(128 + signalNumbers[signal]);
    stopping = true;
    stop(signal);
  };
  for (const signal of stopSignals) process.on(signal, once);
  // npx and npm do not pass SIGTERM on: they end, and this process would run on under another parent.
  const lineage = readLineage(process.ppid);
  const stopWatching = every(lineageMs, () => {
    if (!stopping && lineageChanged(lineage, readLineage(process.ppid))) once('SIGTERM');
  });
  return () => {
    stopWatching();
    for (const signal of stopSignals) process.off(signal, once);
  };
}

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
