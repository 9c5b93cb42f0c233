import type { StopSignal } from '../../errors.ts';
import { exitCodeOfSignal } from '../../exit.ts';
import { type Mock, startMock } from '../../mock/server.ts';
import { versionUrl } from '../../mock/version-page.ts';
import type { Context } from '../context.ts';
import { type MockFlags, mockOptions } from './flags.ts';

/** Returns the environment variables that point a command at the mock. */
export function mockEnvironment(mock: Mock): Record<string, string> {
  return { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
}

/** The default port of `mock serve`: fixed, so that exported settings stay valid. */
const defaultPort = 4010;

export async function serveCommand(context: Context, flags: MockFlags): Promise<number> {
  const { io, output } = context;
  const mock = await startMock({ ...mockOptions(flags, defaultPort, io), page: true });
  const settings = mockEnvironment(mock);
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}=${value}\n`);
  if (output.format === 'json' || output.format === 'ndjson') {
    const data = { schemaVersion: 1, url: mock.url, apiKey: mock.apiKey, token: mock.token };
    await output.data(data, { head: [], rows: [] });
  } else {
    await output.result(lines.join(''));
  }
  if (output.oneScreen) await output.note('to use the mock, paste these lines into another terminal');
  await output.note(`open ${mock.url}/ to see requests, end runs and switch faults on`);
  if (flags.deployed !== undefined)
    await output.note(`the version page is ${versionUrl(mock.url)}, and with .json it is JSON`);
  await output.note(`the mock listens on ${mock.url}; stop it with Ctrl-C`);
  let unsubscribe = () => {};
  const signal = await new Promise<StopSignal>((resolve) => {
    unsubscribe = io.onStop(resolve);
  });
  await mock.close();
  unsubscribe();
  return exitCodeOfSignal(signal);
}
