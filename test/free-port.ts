import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigError, type Mock, type MockOptions, startMock } from '../src/index.ts';

/** Returns a free port of this machine, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts a mock on a port that was just closed. Another test may have been given that port for a moment. */
export async function startMockAgain(options: MockOptions & { port: number }): Promise<Mock> {
  for (;;) {
    try {
      return await startMock(options);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
  }
}
