import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  createClient,
  RungateError,
  type ServiceClient,
  startMock,
} from '../../src/index.ts';
import { rejection } from '../client/rejection.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts a service that responds to everything in one odd way. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the address of a port that no server listens on. */
async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function mockUrl(): Promise<string> {
  const mock = await startMock();
  closers.push(() => mock.close());
  return mock.url;
}

const redirect = (to: string) => serve((_, response) => response.writeHead(302, { location: to }).end());

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
  ['an unreachable service', status, nowhere, { apiKey }],
  [
    'plain HTTP where TLS is expected',
    status,
    async () => (await nowhere()).replace('http', 'https'),
    { apiKey },
  ],
  ['a redirect elsewhere', status, () => redirect('https://elsewhere.example/'), { apiKey }],
  ['no response in time', status, () => serve(() => {}), { apiKey, requestTimeoutMs: 20 }],
];

const commandLine = /RUNGATE_|(^|[\s(])--[a-z]/;

/** Returns the text of an error for people. */
const textOf = (error: RungateError) => `${error.message} → ${error.hint}`;

describe('an error of the library names only options of the library:', () => {
  it.each(cases)('%s', async (_what, call, url, options) => {
    const client = createClient({ apiUrl: await url(), ...options });
    closers.push(() => client.close());
    const error = await rejection(call(client), RungateError);
    expect(error.hint).toBeDefined();
    expect(textOf(error)).not.toMatch(commandLine);
  });
});
