import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { TestRunner } from 'vitest';

/** Waits until the condition holds. The wait ends when the test times out. */
export async function until(holds: () => unknown): Promise<void> {
  const signal = TestRunner.getCurrentTest()?.context.signal;
  while (!(await holds())) {
    signal?.throwIfAborted();
    await pause(5);
  }
}

/** Lets the event loop run, for tests that check that something does not happen. */
export async function turns(count = 50): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}
