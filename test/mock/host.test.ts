import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { mockOptions } from '../../src/commands/mock-flags.ts';
import { type Mock, type MockOptions, startMock } from '../../src/mock/server.ts';
import { memoryIo } from '../cli/harness.ts';

const mocks: Mock[] = [];
afterEach(() => Promise.all(mocks.splice(0).map((mock) => mock.close())));

async function start(options: MockOptions = {}): Promise<Mock> {
  const mock = await startMock(options);
  mocks.push(mock);
  return mock;
}

function ask(mock: Mock, path: string, host: string): Promise<{ status: number; text: string }> {
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

const paths = ['/api/orders.json', '/openapi.json', '/_mock/faults', '/', '/_mock/page/state', '/nowhere'];

test.each(paths)('on a loopback address, %s is not served under the name of another host', async (path) => {
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

test('the names of this machine are served, with a port and without', async () => {
  const mock = await start();
  for (const host of ['localhost', `localhost:${mock.port}`, `127.0.0.1:${mock.port}`, `[::1]:${mock.port}`])
    expect((await ask(mock, '/api/orders.json', host)).status).toBe(200);
});

test('a name that is allowed is served, and no name below or beside it', async () => {
  const mock = await start({ allowHosts: ['mock.test'] });
  expect((await ask(mock, '/api/orders.json', `mock.test:${mock.port}`)).status).toBe(200);
  for (const host of ['a.mock.test', 'mock.test.evil', 'mock.tes'])
    expect((await ask(mock, '/api/orders.json', host)).status).toBe(421);
});

test('without --seed each start has a new key and token, and the same data', async () => {
  const { io } = memoryIo();
  const [one, two] = [await start(mockOptions({}, 0, io)), await start(mockOptions({}, 0, io))];
  expect(one.apiKey).toMatch(/^rg_\w{40}$/);
  expect(one.apiKey).not.toBe(two.apiKey);
  expect(one.token).not.toBe(two.token);
  const orders = (mock: Mock) => ask(mock, '/api/orders/summary.json', 'localhost');
  expect(await orders(one)).toEqual(await orders(two));
});

test('with --seed the key and token follow from it', async () => {
  const { io } = memoryIo();
  const seeded = mockOptions({ seed: '7' }, 0, io);
  const [one, two] = [await start(seeded), await start(seeded)];
  expect([one.apiKey, one.token]).toEqual([two.apiKey, two.token]);
});
