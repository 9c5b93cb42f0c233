import type { StopSignal } from '../errors.ts';
import { lineageChanged, readLineage } from './lineage.ts';

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
const onSignal = (signal: NodeJS.Signals) => {
  if (process.listenerCount(signal) > 1) return;
  onEnd();
  listen('off');
  process.kill(process.pid, signal);
};

function listen(how: 'on' | 'off'): void {
  for (const event of events) process[how](event, onEnd);
  for (const signal of stopSignals) process[how](signal, onSignal);
}

/**
 * Calls back when the process ends: before Node reports an uncaught error on stderr, and on a stop signal that has no other
 * listener.
 */
export function onExit(callback: () => void): () => void {
  if (exitCallbacks.size === 0) listen('on');
  exitCallbacks.add(callback);
  return () => {
    if (exitCallbacks.delete(callback) && exitCallbacks.size === 0) listen('off');
  };
}
