import type { StopSignal } from '../../errors.ts';
import { exitCodeOfSignal } from '../../exit.ts';
import { type Mock, startMock } from '../../mock/server.ts';
import type { Context } from '../context.ts';
import { type MockFlags, mockOptions } from './flags.ts';

/** The settings that point a command at the mock. */
export function mockEnvironment(mock: Mock): Record<string, string> {
  return { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
}

/** Where `mock serve` listens unless told otherwise: fixed, so that settings can be kept. */
const usualPort = 4010;

/** `rungate mock serve`: serves until it is stopped. */
export async function serveCommand(context: Context, flags: MockFlags): Promise<number> {
  const { io, output } = context;
  const mock = await startMock({ ...mockOptions(flags, usualPort, io), page: true });
  const settings = mockEnvironment(mock);
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}=${value}\n`);
  if (output.format === 'json' || output.format === 'ndjson') {
    const data = { schemaVersion: 1, url: mock.url, apiKey: mock.apiKey, token: mock.token };
    await output.data(data, { head: [], rows: [] });
  } else {
    await output.result(lines.join(''));
  }
  if (output.oneScreen) await output.note('to use it, paste the lines above into another terminal');
  await output.note(`its page, to see requests, end runs and switch faults on: ${mock.url}/`);
  await output.note(`the mock serves at ${mock.url}; stop it with Ctrl-C`);
  let unsubscribe = () => {};
  const signal = await new Promise<StopSignal>((resolve) => {
    unsubscribe = io.onStop(resolve);
  });
  await mock.close();
  unsubscribe();
  return exitCodeOfSignal(signal);
}
