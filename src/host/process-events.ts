/** Calls back time and again until the returned function is called. It keeps no process alive. */
export function every(ms: number, beat: () => void): () => void {
  const timer = setInterval(beat, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** Calls back when the process ends, before a bug is told of on stderr. */
export function onExit(last: () => void): () => void {
  const events = ['exit', 'uncaughtExceptionMonitor'] as const;
  for (const event of events) process.on(event, last);
  return () => {
    for (const event of events) process.off(event, last);
  };
}
