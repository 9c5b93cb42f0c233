import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { fakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { byProcess, startService } from './service.ts';

const processGlobals = { Request: globalThis.Request, Response: globalThis.Response };

/** Sends text as it is and returns all that comes back until the server closes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const socket = createConnection(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      seen += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(seen));
  });
}

describe('what came over the wire', () => {
  it('is recorded as it came, with the status that went back', async () => {
    const { mock, clock, call, post } = await startService();
    clock.advance(1234);
    await post('/api/ci/runs', ' {"projectSlug": "shop", "processSlug": "é"}', { 'Idempotency-Key': 'k' });
    await call('GET', '/api/ci/runs/a%2Fb?x=1&x=2&y=%20');
    expect(mock.requests).toEqual([
      {
        endpoint: 'run.trigger',
        method: 'POST',
        path: '/api/ci/runs',
        query: {},
        headers: expect.objectContaining({ 'idempotency-key': 'k', 'x-api-key': mock.apiKey }),
        body: ' {"projectSlug": "shop", "processSlug": "é"}',
        at: Date.UTC(2026, 0, 1) + 1234,
        status: 201,
      },
      expect.objectContaining({
        endpoint: 'run.status',
        path: '/api/ci/runs/a%2Fb',
        query: { x: ['1', '2'], y: ' ' },
        body: '',
        status: 422,
      }),
    ]);
  });

  it('is recorded where it leads nowhere, too', async () => {
    const { mock, call } = await startService();
    await call('GET', '/api/nothing');
    expect(mock.requests).toMatchObject([{ endpoint: null, path: '/api/nothing', status: 404 }]);
  });

  it('is kept for the last 10,000 requests', async () => {
    const { mock } = await startService();
    const request = 'GET /first HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const others = 'GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(9_999);
    const last = 'GET /last HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    await raw(mock.port, request + others + last);
    expect(mock.requests).toHaveLength(10_000);
    expect(mock.requests[0]?.path).toBe('/a');
    expect(mock.requests.at(-1)?.path).toBe('/last');
  });
});

describe('the same seed', () => {
  it('gives the same key, token, ids and replies, and another seed gives others', async () => {
    const tell = async (seed: number) => {
      const { mock, post } = await startService({ seed });
      const run = await post('/api/ci/runs', byProcess);
      return [mock.apiKey, mock.token, run.text, run.headers.get('date'), run.headers.get('x-request-id')];
    };
    const [first, again, other] = [await tell(7), await tell(7), await tell(8)];
    expect(again).toEqual(first);
    expect(first[3]).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
    for (const index of [0, 1, 2, 4]) expect(other[index]).not.toBe(first[index]);
  });

  it('makes a key and a token that look like real ones', async () => {
    const { mock } = await startService();
    expect(mock.apiKey).toMatch(/^rg_[0-9A-Za-z]{40}$/);
    const [head, claims, signature] = mock.token.split('.');
    const read = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(head)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(read(claims)).toMatchObject({ sub: expect.stringMatching(/^user_/), tenant: 'tenant_1' });
    expect(signature).toMatch(/^[0-9A-Za-z]{43}$/);
  });

  it('gives way to a key and a token of the caller', async () => {
    const { mock, trigger } = await startService({ apiKey: 'mine', token: 'my.own.token' });
    expect([mock.apiKey, mock.token]).toEqual(['mine', 'my.own.token']);
    expect(await trigger()).toMatch(/^run_/);
  });

  it('takes the place that app URLs begin with', async () => {
    const { post } = await startService({ appUrlBase: 'http://localhost:1/app' });
    const { appUrl, runId } = (await post('/api/ci/runs', { ...byProcess, projectSlug: 'a/b' })).json();
    expect(appUrl).toBe(`http://localhost:1/app/projects/a%2Fb/runs/${runId}`);
  });
});

describe('the socket', () => {
  it('listens on a free port of this machine only', async () => {
    const { mock } = await startService();
    expect(mock.url).toBe(`http://127.0.0.1:${mock.port}`);
    expect(mock.port).toBeGreaterThan(0);
  });

  it('says which port was taken', async () => {
    const { mock } = await startService();
    await expect(
      startMock({ port: mock.port, clock: fakeClock(Date.UTC(2026, 0, 1)) }),
    ).rejects.toMatchObject({
      code: 'config',
      message: `the mock cannot listen on port ${mock.port} of 127.0.0.1: it is already taken`,
    });
  });

  it('refuses to start without an outcome', async () => {
    await expect(startMock({ outcome: [] })).rejects.toMatchObject({ code: 'usage' });
  });

  it('closes at once while a reply is stalled and a connection is idle, and may be closed twice', async () => {
    const { mock } = await startService();
    mock.faults.add({ kind: 'stall-headers' });
    const idle = raw(mock.port, '').catch(() => 'reset');
    const stalled = raw(mock.port, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => mock.requests.length > 0);
    await mock.close();
    await mock.close();
    expect(await stalled).toBe('');
    expect(await idle).toBe('');
    await expect(fetch(mock.url)).rejects.toThrow('fetch failed');
  });

  it('answers a request without a host with 400', async () => {
    const { mock } = await startService();
    expect(await raw(mock.port, 'GET / HTTP/1.0\r\n\r\n')).toContain(' 400 Bad Request');
  });

  it('outlives a client that goes away in the middle of its request', async () => {
    const { mock, trigger } = await startService();
    const socket = createConnection(mock.port, '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.write('POST /api/ci/runs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{', () =>
        resolve(),
      );
    });
    socket.destroy();
    expect(await trigger()).toMatch(/^run_/);
    expect(mock.requests).toHaveLength(1);
  });

  it('leaves the Request and Response of the process as they are', async () => {
    const { call } = await startService();
    await call('GET', '/');
    expect(globalThis.Request).toBe(processGlobals.Request);
    expect(globalThis.Response).toBe(processGlobals.Response);
  });
});
