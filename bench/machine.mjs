import { arch, availableParallelism, cpus, loadavg, totalmem, type } from 'node:os';

/** Returns the load average of the last minute: the number of processes running or waiting for a processor. */
export const loadNow = () => Math.round(loadavg()[0] * 100) / 100;

/** Describes the machine without naming it or its owner. */
export function describeMachine() {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${arch()}`,
    load: loadNow(),
  };
}
