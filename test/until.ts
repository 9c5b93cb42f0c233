import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** Waits until the condition holds; the timeout of the test limits the wait. */
export async function until(holds: () => unknown): Promise<void> {
  while (!(await holds())) await pause(5);
}

/** Lets the event loop run, for tests that check that something does not happen. */
export async function turns(count = 50): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}
