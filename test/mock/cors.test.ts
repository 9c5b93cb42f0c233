import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';

const origin = 'http://localhost:5173';
const mocks: MockServer[] = [];
afterEach(() => Promise.all(mocks.splice(0).map((mock) => mock.close())));

async function start(options: MockOptions = {}): Promise<MockServer> {
  const mock = await startMock({ cors: [origin, 'https://shop.example'], ...options });
  mocks.push(mock);
  return mock;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
}

/** Returns the status code and the headers with which a browser decides. `fetch` would not send an Origin header. */
function ask(mock: MockServer, path: string, { method = 'GET', headers = {} }: Asked = {}) {
  return new Promise<Record<string, unknown>>((resolve, reject) => {
    const options = { port: mock.port, path, method, headers: { 'x-api-key': mock.apiKey, ...headers } };
    request(options, (response) => {
      response.resume();
      const cors = Object.entries(response.headers).filter(([name]) => /^access-control-|^vary$/.test(name));
      resolve({ status: response.statusCode, ...Object.fromEntries(cors) });
    })
      .on('error', reject)
      .end();
  });
}

const preflight = (from: string): Asked => ({
  method: 'OPTIONS',
  headers: {
    origin: from,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-api-key',
  },
});
const allowed = (from: string) => ({
  vary: 'origin',
  'access-control-allow-origin': from,
  'access-control-expose-headers': '*',
});

describe('a page of an origin in --cors', () => {
  it.each([origin, 'https://shop.example'])('from %s may read the API', async (from) => {
    const mock = await start();
    expect(await ask(mock, '/api/orders.json', { headers: { origin: from } })).toEqual({
      status: 200,
      ...allowed(from),
    });
  });

  it('may send any header, as its preflight says, which is neither recorded nor met by faults', async () => {
    const mock = await start({ faults: [{ kind: 'status', status: 503 }] });
    expect(await ask(mock, '/api/ci/runs', preflight(origin))).toEqual({
      status: 204,
      ...allowed(origin),
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type,x-api-key',
    });
    expect(mock.requests).toEqual([]);
    expect(mock.faults.pending).toBe(1);
  });

  it.each(['/', '/_mock/faults', '/_mock/page/state', '/_mock/version', '/projects/a/runs/b', '/apis'])(
    'may not use %s',
    async (path) => {
      const mock = await start({ page: true, deployed: 'v1' });
      for (const asked of [preflight(origin), { headers: { origin } }])
        expect(Object.keys(await ask(mock, path, asked))).not.toContain('access-control-allow-origin');
    },
  );
});

describe('a page of another origin', () => {
  const others = ['http://localhost:5174', 'https://localhost:5173', 'http://shop.example', 'null'];

  it.each([...others, 'https://shop.example.evil.test'])('such as %s may not use the API', async (from) => {
    const mock = await start();
    expect(await ask(mock, '/api/orders.json', { headers: { origin: from } })).toEqual({
      status: 200,
      vary: 'origin',
    });
    expect(await ask(mock, '/api/orders.json', preflight(from))).toEqual({ status: 405, vary: 'origin' });
  });
});

it('without --cors, no page may use the API', async () => {
  const mock = await start({ cors: undefined });
  expect(await ask(mock, '/api/orders.json', { headers: { origin } })).toEqual({ status: 200 });
});
