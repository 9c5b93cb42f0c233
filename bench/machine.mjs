import { arch, availableParallelism, cpus, loadavg, totalmem, type } from 'node:os';

/** How busy the machine was in the last minute: the processes that ran or waited for a processor. */
export const loadNow = () => Math.round(loadavg()[0] * 100) / 100;

/** Where and when: nothing that names this machine or its owner. */
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
