import type { StopSignal } from '../errors.ts';
import { lineageChanged, readLineage } from './lineage.ts';

/** How often the parent process is looked at: well within the 5 s that a stop may take. */
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
  // npx and npm do not pass SIGTERM on: they end, we are given to another parent and would run on.
  const lineage = readLineage(process.ppid);
  const stopWatching = every(lineageMs, () => {
    if (!stopping && lineageChanged(lineage, readLineage(process.ppid))) once('SIGTERM');
  });
  return () => {
    stopWatching();
    for (const signal of stopSignals) process.off(signal, once);
  };
}

export function every(ms: number, beat: () => void): () => void {
  const timer = setInterval(beat, ms);
  timer.unref();
  return () => clearInterval(timer);
}

const lasts = new Set<() => void>();
const events = ['exit', 'uncaughtExceptionMonitor'] as const;
const onEnd = () => {
  for (const last of lasts) last();
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
 * Calls back when the process ends, before a bug is told of on stderr; also when a signal ends it that nobody else
 * listens to.
 */
export function onExit(last: () => void): () => void {
  if (lasts.size === 0) listen('on');
  lasts.add(last);
  return () => {
    if (lasts.delete(last) && lasts.size === 0) listen('off');
  };
}
