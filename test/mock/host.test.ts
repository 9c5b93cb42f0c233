import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { mockOptions } from '../../src/commands/mock/commands.ts';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { cli, memoryIo } from '../cli/harness.ts';

const mocks: MockServer[] = [];
afterEach(() => Promise.all(mocks.splice(0).map((mock) => mock.close())));

async function start(options: MockOptions = {}): Promise<MockServer> {
  const mock = await startMock(options);
  mocks.push(mock);
  return mock;
}

function ask(mock: MockServer, path: string, host: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-api-key': mock.apiKey };
    request({ port: mock.port, host: '127.0.0.1', path, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    })
      .on('error', reject)
      .end();
  });
}

const paths = [
  '/api/orders.json',
  '/_mock/faults',
  '/',
  '/projects/a/runs/b',
  '/_mock/page/state',
  '/nowhere',
];

test.each(paths)('on a loopback address, %s rejects the name of another host', async (path) => {
  const mock = await start({ page: true });
  for (const host of [
    'evil.example.com',
    'localhost.evil.example.com',
    `evil.example.com:${mock.port}`,
    '127.0.0.1.evil.test',
  ]) {
    const { status, text } = await ask(mock, path, host);
    expect({ host, status }).toEqual({ host, status: 421 });
    expect(text).toContain('--allow-host <name>');
  }
  expect(mock.requests).toEqual([]);
});

const served = ['/api/orders.json', '/_mock/faults', '/'];

test.each(served)(
  '%s accepts the names of this machine and an allowed one, but neither its subdomains nor similar names',
  async (path) => {
    const mock = await start({ page: true, allowHosts: ['Mock.Test', 'other.test:4010'] });
    for (const name of ['LocalHost', '127.0.0.1', '[::1]', 'MOCK.TEST', 'other.test'])
      for (const host of [name, `${name}:${mock.port}`, `${name}:1`])
        expect({ host, ...(await ask(mock, path, host)) }).toMatchObject({ host, status: 200 });
    for (const host of ['a.mock.test', 'mock.test.evil', 'mock.tes'])
      expect({ host, ...(await ask(mock, path, host)) }).toMatchObject({ host, status: 421 });
  },
);

test.each(['LOCALHOST', '127.1', '::ffff:127.0.0.1'])(
  'a mock that listens on %s accepts its own address and no other name',
  async (host) => {
    const mock = await start({ host });
    const headers = { 'x-api-key': mock.apiKey };
    expect((await fetch(`${mock.url}/api/orders.json`, { headers })).status).toBe(200);
    expect((await ask(mock, '/api/orders.json', 'evil.example.com')).status).toBe(421);
  },
);

test('on every address, only the service itself accepts other names', async () => {
  const mock = await start({ host: '0.0.0.0', page: true });
  expect((await ask(mock, '/api/orders.json', 'ci-host.example.com')).status).toBe(200);
  for (const path of ['/_mock/faults', '/', '/_mock/page/state'])
    expect((await ask(mock, path, 'evil.example.com')).status).toBe(421);
});

const addresses = Object.values(networkInterfaces()).flatMap((found) => found?.map(({ address }) => address));

test.each(['0.0.0.0', ...(addresses.includes('::1') ? ['::'] : [])])(
  'a mock that listens on %s has a URL that this machine can use',
  async (host) => {
    const { io } = memoryIo();
    const mock = await start({ ...mockOptions({ host }, 0, io), page: true });
    expect(mock.url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
    expect((await fetch(mock.url)).status).toBe(200);
    expect((await ask(mock, '/_mock/faults', 'evil.example.com')).status).toBe(421);
  },
);

test.each([
  ['192.0.2.1', 'this machine does not have the address'],
  ['mock.invalid', 'the name cannot be resolved'],
])('--host %s is refused: %s', async (host, reason) => {
  const { code, err } = await cli(['mock', 'serve', '--port', '0', '--host', host]);
  expect([code, err]).toEqual([78, expect.stringContaining(reason)]);
});
