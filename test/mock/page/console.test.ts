import { describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/options.ts';
import { type Service, startService } from '../service.ts';

/** A row of any of the page's lists. */
type Row = Record<string, unknown> & { key: string | number };
type Scene = Record<'runs' | 'faults' | 'requests', Row[]>;

/** Returns the page as a browser has it: its token and its requests. */
async function open(url: string) {
  const html = await (await fetch(`${url}/`)).text();
  const token = /<meta name="token" content="([^"]+)"/.exec(html)?.[1] ?? '';
  const request = (path: string, headers: Record<string, string> = {}, body?: unknown) =>
    fetch(`${url}/_mock/page/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-mock-page': token, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    html,
    token,
    request,
    do: async (body: unknown) => (await request('do', {}, body)).json() as Promise<Record<string, string>>,
    state: async () => (await request('state')).json() as Promise<Scene>,
  };
}

async function served(options: MockOptions = {}): Promise<Service & Awaited<ReturnType<typeof open>>> {
  const service = await startService({ page: true, outcome: 'stuck', ...options });
  return { ...service, ...(await open(service.mock.url)) };
}

describe('the page of the mock', () => {
  it('exists only if it is enabled', async () => {
    const { mock, call } = await startService();
    expect((await call('GET', '/')).status).toBe(404);
    expect((await call('GET', '/_mock/page/state')).status).toBe(404);
    expect(mock.requests).toHaveLength(2);
  });

  it('is one file that cannot load anything, send anything elsewhere or be embedded', async () => {
    const { call, html } = await served();
    const { status, headers } = await call('GET', '/');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(html).not.toContain('{{');
    expect(html).toMatch(/<style>[^<]*color-scheme: light dark[^<]*<\/style>/);
  });
});

describe('access to the page', () => {
  it.each<[string, Record<string, string>]>([
    ['a request without the token', { 'x-mock-page': '' }],
    ['a request with another token', { 'x-mock-page': '00000000-0000-4000-8000-000000000000' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['another site, as reported by the browser', { 'sec-fetch-site': 'cross-site' }],
    ['the same site on another port', { 'sec-fetch-site': 'same-site' }],
  ])('is refused for %s', async (_case, headers) => {
    const { mock, request, trigger: start } = await served();
    const id = await start();
    expect((await request('state', headers)).status).toBe(403);
    const response = await request('do', headers, { do: 'end', run: id, as: 'passed' });
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(mock.state.runs.get(id)?.outcome).toBe('stuck');
  });

  it('is refused for embedding', async () => {
    const { call } = await served();
    for (const destination of ['iframe', 'script', 'empty', 'image', 'object']) {
      const headers = { 'x-api-key': '', 'sec-fetch-dest': destination };
      expect((await call('GET', '/', { headers })).status, destination).toBe(403);
    }
    const headers = { 'x-api-key': '', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' };
    expect((await call('GET', '/', { headers })).status).toBe(200);
  });

  it('is refused for a preflight of another origin', async () => {
    const { mock } = await served();
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const response = await fetch(`${mock.url}/_mock/page/do`, { method: 'OPTIONS', headers });
    expect(response.status).toBe(403);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('the page', () => {
  it('shows a run and the last requests without paths, headers and bodies, which may contain secrets', async () => {
    const { mock, post, call, request } = await served();
    const processSlug = `${mock.apiKey} and <b>\u001b[31m`;
    const { runId } = (await post('/api/ci/runs', { projectSlug: 'a shop', processSlug })).json();
    await call('GET', `/api/orders.json?token=${mock.token}`);
    for (let nth = 0; nth < 60; nth++) await call('GET', '/elsewhere');
    const text = await (await request('state')).text();
    for (const secret of [mock.apiKey, mock.token]) expect(text).not.toContain(secret);
    const { runs, requests } = JSON.parse(text) as Scene;
    expect(runs).toEqual([
      {
        key: runId,
        path: `/projects/a%20shop/runs/${runId}`,
        result: 'in progress',
        counts: '0 failed, 0 blocked',
        what: expect.not.stringContaining('\u001b'),
        at: '2026-01-01T00:00:00.000Z',
      },
    ]);
    expect(requests).toHaveLength(50);
    expect(requests[0]).toMatchObject({ what: 'GET (no endpoint)', status: '404' });
  });
});
