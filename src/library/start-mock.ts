import type { MockOptions } from '../mock/options.ts';
import { ownCopy } from '../own-options.ts';
import type { Mock } from './mock.ts';

/**
 * Starts a mock of the whole service on a socket of this machine, for a test suite of your own. It keeps the process alive
 * until it is closed. What it is made of is loaded by the first call: who only wants a client never pays for it.
 * @throws ConfigError where the port is taken; UsageError for a list of no outcomes
 */
export async function startMock(given: MockOptions = {}): Promise<Mock> {
  const options = ownCopy(given);
  if (options.counts !== undefined) options.counts = ownCopy(options.counts);
  if (options.data !== undefined) options.data = ownCopy(options.data);
  if (options.faults !== undefined) options.faults = options.faults.map(ownCopy);
  return (await import('./mock.ts')).startMock(options);
}
