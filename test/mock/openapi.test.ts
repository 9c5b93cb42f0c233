import { describe, expect, it } from 'vitest';
import { names } from './requests.ts';
import { startService } from './service.ts';

describe('the OpenAPI document', () => {
  it('needs no credential, has no rate limit, and names this mock as its server', async () => {
    const { mock } = await startService({ rateLimit: 'documented' });
    for (let nth = 0; nth < 101; nth++) await (await fetch(`${mock.url}/openapi.json`)).arrayBuffer();
    const response = await fetch(`${mock.url}/openapi.json`);
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(text).toContain(mock.url);
    for (const name of names) expect(text).toContain(`"${name}"`);
  });
});
