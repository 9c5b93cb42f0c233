import { namesOf } from '../http/options.ts';
import type { MockOptions } from '../mock/options.ts';
import { ownOptions } from '../own-options.ts';
import type { Mock } from './mock.ts';

const mockOptionNames = namesOf<MockOptions>({
  port: true,
  host: true,
  allowHosts: true,
  seed: true,
  clock: true,
  outcome: true,
  duration: true,
  retryAfterSeconds: true,
  apiKey: true,
  token: true,
  counts: true,
  appUrlBase: true,
  data: true,
  rateLimit: true,
  deliveries: true,
  tenantSecret: true,
  faults: true,
  page: true,
});

/**
 * Starts a mock of the whole service on a socket of this machine, for a test suite of your own. It keeps the process alive
 * until it is closed. What it is made of is loaded by the first call: who only wants a client never pays for it.
 * @throws ConfigError where the port is taken; UsageError for a list of no outcomes
 */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  return (await import('./mock.ts')).startMock(ownOptions(options, mockOptionNames));
}
