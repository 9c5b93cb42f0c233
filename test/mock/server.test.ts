import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { fakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { byProcess, startService } from './service.ts';

/** Sends text unchanged and returns everything received until the server closes the connection. */
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

describe('a request', () => {
  it('is recorded unchanged, with the status code of its response', async () => {
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
});

describe('the options', () => {
  it('seed: the same one gives the same key, token, ids and responses, another one gives others', async () => {
    const start = async (seed: number) => {
      const { mock, post } = await startService({ seed });
      const run = await post('/api/ci/runs', byProcess);
      return [mock.apiKey, mock.token, run.text, run.headers.get('date'), run.headers.get('x-request-id')];
    };
    const [first, again, other] = [await start(7), await start(7), await start(8)];
    expect(again).toEqual(first);
    expect(first[3]).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
    for (const index of [0, 1, 2, 4]) expect(other[index]).not.toBe(first[index]);
  });

  it('apiKey and token replace the seeded credentials', async () => {
    const { mock, trigger } = await startService({ apiKey: 'mine', token: 'my.own.token' });
    expect([mock.apiKey, mock.token]).toEqual(['mine', 'my.own.token']);
    expect(await trigger()).toMatch(/^run_/);
  });
});

describe('the server', () => {
  it('names a port that is already taken', async () => {
    const { mock } = await startService();
    await expect(
      startMock({ port: mock.port, clock: fakeClock(Date.UTC(2026, 0, 1)) }),
    ).rejects.toMatchObject({
      code: 'config',
      message: `cannot listen on port ${mock.port} of 127.0.0.1: the port is already in use`,
    });
  });

  it('closes immediately despite stalled and idle connections, and may be closed twice', async () => {
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
});
