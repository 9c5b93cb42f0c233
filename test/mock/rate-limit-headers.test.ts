import { describe, expect, it } from 'vitest';
import { startService, type TestResponse } from './service.ts';

const read = '/api/orders/summary.json';

async function many<T>(count: number, send: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, send));
}

const statuses = (responses: readonly TestResponse[]) => [...new Set(responses.map(({ status }) => status))];
const rateLimitHeaders = ({ headers }: TestResponse) =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after'].map((name) =>
    headers.get(name),
  );

describe('the documented limits', () => {
  it('allow 60 reads a minute and refuse the 61st with 429 until its Retry-After has passed', async () => {
    const { call, clock } = await startService({ rateLimit: 'documented' });
    const first = await call('GET', read);
    expect([first.status, ...rateLimitHeaders(first)]).toEqual([200, '60', '59', '60', null]);
    clock.advance(1500);
    expect(statuses(await many(59, () => call('GET', read)))).toEqual([200]);
    const refused = await call('GET', read);
    expect([refused.status, ...rateLimitHeaders(refused)]).toEqual([429, '60', '0', '59', '59']);
    expect(refused.json()).toEqual({
      error: 'Rate limit exceeded',
      details: '60 reads a minute are allowed; retry in 59 s',
    });
    clock.advance(58_000);
    expect((await call('GET', read)).status).toBe(429);
    clock.advance(1000);
    expect((await call('GET', read)).status).toBe(200);
    expect((await call('GET', read)).status).toBe(429);
  });

  it('apply to an address without a valid credential, with 429 instead of 401', async () => {
    const { call } = await startService({ rateLimit: 'documented' });
    const unknown = () => call('GET', read, { headers: { 'x-api-key': 'rg_wrong' } });
    const refused = await many(60, unknown);
    expect(statuses(refused)).toEqual([401]);
    expect(refused[0]?.headers.get('ratelimit-limit')).toBe('60');
    expect((await unknown()).status).toBe(429);
    expect((await call('GET', '/api/nothing', { headers: { 'x-api-key': '' } })).status).toBe(429);
    expect((await call('GET', read)).status).toBe(200);
  });

  it('are off by default', async () => {
    const { call } = await startService();
    const responses = await many(130, () => call('GET', read));
    expect(statuses(responses)).toEqual([200]);
    expect(rateLimitHeaders(responses[0] as TestResponse)).toEqual([null, null, null, null]);
  });
});
