import { expect, test } from 'vitest';
import { stage } from '../cli/harness.ts';

test('`env list --all` over 200 pages gets no 429 from a service with the documented limits', async () => {
  const on = await stage({ rateLimit: 'documented' });
  try {
    const headers = { authorization: `Bearer ${on.mock.token}`, 'content-type': 'application/json' };
    for (let i = 0; i < 210; i += 1) {
      if (i % 20 === 0) on.clock.advance(60_000);
      const body = JSON.stringify({ name: `Build ${i}` });
      const { status } = await fetch(`${on.mock.url}/api/environments`, { method: 'POST', headers, body });
      expect(status).toBe(201);
    }
    on.clock.advance(60_000);
    const before = on.mock.requests.length;
    const began = on.clock.monotonic();
    const { code, out, err } = await on.rungate('env', 'list', '--all', '--page-size', '1', '--json', '-v');
    expect(code).toBe(0);
    expect(out.trim().split('\n').length).toBeGreaterThanOrEqual(210);
    expect(on.mock.requests.length - before).toBeGreaterThanOrEqual(200);
    expect(err).not.toContain('429');
    // Three full minutes with 60 reads each, and the rest.
    expect((on.clock.monotonic() - began) / 60_000).toBeLessThan(5);
    expect(err).toContain('the limit of requests per minute');
  } finally {
    await on.close();
  }
}, 30_000);
