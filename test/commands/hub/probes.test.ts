import { describe, expect, it } from 'vitest';
import { hub } from './running-hub.ts';

async function probe(url: string, path: string) {
  const response = await fetch(url + path);
  return { code: response.status, ...((await response.json()) as { status: string; reasons?: string[] }) };
}

describe('rungate hub', () => {
  it('lives and is ready', async () => {
    const { url } = await hub();
    expect(await probe(url, '/livez')).toEqual({ code: 200, status: 'ok' });
    expect(await probe(url, '/readyz')).toMatchObject({ code: 200, status: 'ok', redis: null, streams: 0 });
  });
});
