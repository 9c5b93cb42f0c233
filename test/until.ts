import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** Returns once the condition holds. The test's own timeout ends a wait in vain. */
export async function until(holds: () => unknown): Promise<void> {
  while (!holds()) await pause(5);
}

/** Lets the event loop turn, so that everything that is ready happens: for tests that something does not. */
export async function turns(count = 50): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}
