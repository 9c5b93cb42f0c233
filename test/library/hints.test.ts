import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ClientOptions,
  createClient,
  RungateError,
  type ServiceClient,
  startMock,
} from '../../src/index.ts';
import { rejection } from '../client/rejection.ts';
import { serve, unreachableUrl } from '../transport/serve.ts';

async function mockUrl(): Promise<string> {
  const mock = await startMock();
  onTestFinished(() => mock.close());
  return mock.url;
}

const redirect = async (location: string) =>
  (await serve(({ response }) => response.writeHead(302, { location }).end())).url;

type Call = (client: ServiceClient) => Promise<unknown>;
const status: Call = (client) => client.run.status('run_1');
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1In0.c2ln';
const apiKey = 'key_live_0123456789abcdef';

const cases: [string, Call, () => Promise<string> | string, Partial<ClientOptions>][] = [
  ['an address that is not encrypted', status, () => 'http://service.example', { apiKey }],
  ['a token in place of the API key', status, mockUrl, { token }],
  ['an API key for API keys', (client) => client.keys.delete('k'), mockUrl, { apiKey }],
  ['a refused key', status, mockUrl, { apiKey }],
  ['a token as the API key', status, mockUrl, { apiKey: token }],
  ['an unreachable service', status, unreachableUrl, { apiKey }],
  [
    'plain HTTP where TLS is expected',
    status,
    async () => (await unreachableUrl()).replace('http', 'https'),
    { apiKey },
  ],
  ['a redirect elsewhere', status, () => redirect('https://elsewhere.example/'), { apiKey }],
  ['no response in time', status, async () => (await serve(() => {})).url, { apiKey, requestTimeoutMs: 20 }],
];

const commandLine = /RUNGATE_|(^|[\s(])--[a-z]/;

/** Returns the text of an error for people. */
const textOf = (error: RungateError) => `${error.message} → ${error.hint}`;

describe('an error of the library names only options of the library:', () => {
  it.each(cases)('%s', async (_what, call, url, options) => {
    const client = createClient({ apiUrl: await url(), ...options });
    onTestFinished(() => client.close());
    const error = await rejection(call(client), RungateError);
    expect(error.hint).toBeDefined();
    expect(textOf(error)).not.toMatch(commandLine);
  });
});
