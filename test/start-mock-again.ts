import { ConfigError, type Mock, type MockOptions, startMock } from '../src/index.ts';

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
