import type { MockOptions } from '../mock/options.ts';
import type { Mock } from './mock.ts';

/**
 * Starts a mock of the whole service on a socket of this machine, for your tests. It keeps the process alive
 * until it is closed. The mock is loaded on the first call, so programs that use only the client do not load it.
 * @throws ConfigError if the port is taken; UsageError if an option is unknown or has the wrong type
 * @example
 * ```ts
 * import { gate, startMock } from 'rungate';
 *
 * const mock = await startMock({ outcome: 'failed' });
 * const report = await gate({
 *   apiUrl: mock.url,
 *   apiKey: mock.apiKey,
 *   trigger: { projectSlug: 'shop', processSlug: 'checkout' },
 * });
 * console.log(report.result); // fail
 * await mock.close();
 * ```
 */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  return (await import('./mock.ts')).startMock(options);
}
