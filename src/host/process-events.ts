import { stopSignals } from './stop-signals.ts';

/** Calls back time and again until the returned function is called. It keeps no process alive. */
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
