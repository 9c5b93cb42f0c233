import http, { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerOptions } from '../../../src/mock/options.ts';
import { verify } from '../../../src/webhook/node.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';
import { byProcess, type Service, startService } from '../service.ts';

/** A row of any of the page's lists. */
type Row = Record<string, unknown> & { key: string | number };
type Scene = Record<'runs' | 'webhooks' | 'deliveries' | 'faults' | 'requests', Row[]> & {
  run?: (Row & { timeline: Row[]; fields: Row[] }) | null;
};

const stages: Stage[] = [];
afterEach(async () => {
  for (const one of stages.splice(0)) await one.close();
});

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
    state: async (run?: string) =>
      (await request(run === undefined ? 'state' : `state?run=${run}`)).json() as Promise<Scene>,
  };
}

async function served(options: ServerOptions = {}): Promise<Service & Awaited<ReturnType<typeof open>>> {
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

  it('is the target of app URLs, unless they have another base', async () => {
    const { mock, post, html } = await served();
    const { appUrl, runId } = (await post('/api/ci/runs', byProcess)).json();
    expect(appUrl).toBe(`${mock.url}/projects/shop/runs/${runId}`);
    const response = await fetch(String(appUrl));
    expect([response.status, await response.text()]).toEqual([200, html]);

    const other = await served({ appUrlBase: 'https://app.example.test' });
    expect((await other.post('/api/ci/runs', byProcess)).json().appUrl).toMatch(/^https:\/\/app\.example/);
  });

  it('is not recorded, and neither faults nor rate limits affect it', async () => {
    const { mock, state } = await served({ rateLimit: 'documented' });
    mock.faults.add({ kind: 'status', status: 503 });
    for (let i = 0; i < 120; i += 1) await state();
    expect([mock.requests.length, mock.faults.pending]).toEqual([0, 1]);
  });

  it('allows only GET and HEAD', async () => {
    const { call } = await served();
    expect((await call('HEAD', '/')).status).toBe(200);
    expect((await call('POST', '/')).status).toBe(405);
    expect((await call('DELETE', '/projects/a/runs/b')).status).toBe(405);
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

  it('is allowed for the page itself, as a browser sends its requests', async () => {
    const { mock, request } = await served();
    const headers = { origin: mock.url, 'sec-fetch-site': 'same-origin' };
    expect((await request('state', headers)).status).toBe(200);
  });

  it.each(['/', '/projects/a/runs/b', '/_mock/page/state'])(
    'is refused for %s under another host name',
    async (path) => {
      const { mock, token } = await served();
      for (const host of [
        'rebound.example',
        `127.0.0.1.nip.example:${mock.port}`,
        'localhost.evil.example',
      ]) {
        const headers = { host, 'x-mock-page': token };
        const status = await new Promise((resolve) => {
          http.get({ port: mock.port, host: '127.0.0.1', path, headers }, (response) =>
            resolve(response.resume().statusCode),
          );
        });
        expect(status, host).toBe(421);
      }
    },
  );

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

describe('the actions of the page', () => {
  async function staged() {
    const on = await stage({ page: true, outcome: 'stuck' });
    stages.push(on);
    const id = (await on.rungate(...trigger)).out.trim();
    return { on, id, page: await open(on.mock.url) };
  }

  it.each([
    ['passed', 0],
    ['failed', 1],
    ['blocked', 2],
    ['cancelled', 4],
  ] as const)('end a run as %s, and its gate exits with %i', async (as, code) => {
    const { on, id, page } = await staged();
    expect(await page.do({ do: 'end', run: id, as })).toEqual({ message: `${id} ended as ${as}` });
    expect((await on.rungate('run', 'wait', id, '--strict')).code).toBe(code);
    expect((await page.state()).runs).toMatchObject([{ key: id, result: as }]);
  });

  it('do not change a run that has already ended', async () => {
    const { on, id, page } = await staged();
    await page.do({ do: 'end', run: id, as: 'failed' });
    for (const as of ['passed', 'cancelled']) {
      expect(await page.do({ do: 'end', run: id, as })).toEqual({ message: `${id} has already ended` });
    }
    expect((await on.rungate('run', 'wait', id)).code).toBe(1);
  });

  it('announce the end of a run to webhooks once, whatever its planned outcome', async () => {
    const { post, asUser, mock, clock, do: act, trigger: start } = await served({ outcome: 'passed' });
    await asUser('POST', '/api/webhooks', { url: 'http://127.0.0.1:9/', events: ['run.completed'] });
    const id = await start();
    clock.advance(500);
    await act({ do: 'end', run: id, as: 'blocked' });
    clock.advance(5000);
    expect((await post('/api/ci/runs', byProcess)).status).toBe(201);
    const [hook] = [...mock.state.account.webhooks.values()].slice(-1);
    expect([...(hook?.deliveries.values() ?? [])].map(({ payload }) => payload)).toEqual([
      expect.objectContaining({
        type: 'run.completed',
        data: expect.objectContaining({ runId: id, state: 'completed', failed: 0, blocked: 1 }),
      }),
    ]);
  });

  it.each([
    [{ do: 'end', run: 'run_0', as: 'passed' }, 404],
    [{ do: 'end', run: 'run_0', as: 'stuck' }, 422],
    [{ do: 'end', run: 'run_0', as: 'passed', also: 1 }, 422],
    [{ do: 'test', webhook: 'no' }, 404],
    [{ do: 'retry', delivery: 'no' }, 404],
    [{ do: 'fault', fault: 'hugge' }, 422],
    [{ do: 'fault', fault: 'reset@run.wait' }, 422],
    [{ do: 'off', fault: '1' }, 422],
    [{ do: 'everything' }, 422],
    ['{', 400],
    ['null', 422],
  ])('do not include %j', async (body, status) => {
    const { mock, request } = await served();
    expect((await request('do', {}, body)).status).toBe(status);
    expect(mock.faults.pending).toBe(0);
  });
});

describe('the page', () => {
  it('sends a test event, signed as the service does, and sends it again on request', async () => {
    const received: { headers: http.IncomingHttpHeaders; body: string }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { mock, asUser, do: act, state } = await served({ deliveries: 'loopback' });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?key=k3y`;
    const hook = (await asUser('POST', '/api/webhooks', { url })).json();
    expect((await state()).webhooks[0]).toMatchObject({
      key: hook.id,
      label: expect.not.stringMatching(/k3y/),
    });
    await act({ do: 'test', webhook: hook.id });
    await mock.deliveriesSent();
    const [row] = (await state()).deliveries;
    expect(row).toMatchObject({ event: 'webhook.test', status: 'delivered', response: 'HTTP 204' });
    await act({ do: 'retry', delivery: row?.key });
    await mock.deliveriesSent();
    receiver.close();
    expect((await state()).deliveries).toMatchObject([{ key: row?.key, attempts: 'sent 2 times' }]);
    expect(received).toHaveLength(2);
    for (const { headers, body } of received) {
      const now = new Date(mock.state.clock.now());
      expect(await verify({ headers, body, secrets: [String(hook.secret)], now })).toMatchObject({
        secretIndex: 0,
      });
    }
  });

  it('shows sent deliveries even if many were not sent', async () => {
    const { mock, do: act, state } = await served();
    const [first, other] = [...mock.state.account.webhooks.values()];
    await act({ do: 'test', webhook: first?.id });
    for (const delivery of first?.deliveries.values() ?? []) delivery.status = 'delivered';
    for (let i = 0; i < 60; i += 1) await act({ do: 'test', webhook: other?.id });
    const statuses = (await state()).deliveries.map(({ status }) => status);
    expect(statuses.filter((status) => status === 'delivered')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'not sent')).toHaveLength(50);
  });

  it('keeps a fault on until it has affected its requests or is switched off', async () => {
    const { call, do: act, state, trigger: start } = await served();
    const id = await start();
    const code = async () => (await call('GET', `/api/ci/runs/${id}`)).status;
    expect(await act({ do: 'fault', fault: '503@run.status:1-2' })).toEqual({
      message: 'Fault 503@run.status:1-2 is on',
    });
    await act({ do: 'fault', fault: 'html-502@run.status:all' });
    expect(await code()).toBe(503);
    const [first, second] = (await state()).faults;
    expect(first).toMatchObject({ kind: 'status 503', target: 'run.status', when: '1 request left' });
    expect(second).toMatchObject({ kind: 'html-502', when: 'all requests' });
    expect(await act({ do: 'off', fault: first?.key })).toEqual({ message: 'The fault is off' });
    expect(await act({ do: 'off', fault: first?.key })).toEqual({ message: 'The fault was already off' });
    expect(await code()).toBe(502);
    await act({ do: 'off', fault: second?.key });
    expect(await code()).toBe(200);
    expect((await state()).requests.map(({ fault }) => fault)).toEqual([
      '',
      'fault: html-502',
      'fault: 503',
      '',
    ]);
  });
});

describe('the faults of deliveries', () => {
  it('are on the page, and so is the delivery that one has affected', async () => {
    const { mock, asUser, do: act, state } = await served({ deliveries: 'loopback' });
    const hook = (await asUser('POST', '/api/webhooks', { url: 'http://127.0.0.1:1/' })).json();
    await act({ do: 'fault', fault: 'drop@webhook.test:1-2' });
    await act({ do: 'fault', fault: 'early:all' });
    await act({ do: 'test', webhook: hook.id });
    await mock.deliveriesSent();
    const { faults, deliveries } = await state();
    expect(faults).toMatchObject([
      { kind: 'drop', target: 'webhook.test', when: '1 delivery left' },
      { kind: 'early', target: 'every event', when: 'all deliveries' },
    ]);
    expect(deliveries).toMatchObject([{ event: 'webhook.test', status: 'failed', fault: 'fault: drop' }]);
  });
});

describe('the data of the page', () => {
  it('includes a run, its timeline, and the requests and deliveries related to it', async () => {
    const { mock, clock, post, call, asUser, state } = await served({
      deliver: (_hook, one) => {
        one.status = 'delivered';
      },
    });
    await asUser('POST', '/api/webhooks', { url: 'http://a.example.test/', events: ['run.cancelled'] });
    const keyed = { 'Idempotency-Key': 'k' };
    const id = String((await post('/api/ci/runs', { ...byProcess, ref: 'main' }, keyed)).json().runId);
    await post('/api/ci/runs', { ...byProcess, ref: 'main' }, keyed);
    await post('/api/ci/runs', byProcess);
    await call('GET', `/api/ci/runs/${id}`);
    clock.advance(1500);
    await post(`/api/ci/runs/${id}/cancel`, { reason: 'no more' });
    const { run, requests, deliveries } = await state(id);
    expect(mock.requests).toHaveLength(6);
    expect(requests.map(({ endpoint }) => endpoint)).toEqual([
      'run.cancel',
      'run.status',
      'run.trigger',
      'run.trigger',
    ]);
    expect(run).toMatchObject({ key: id, result: 'cancelled' });
    expect(run?.fields).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Ref', value: 'main' }),
        expect.objectContaining({ name: 'Duration', value: '1.5 s' }),
      ]),
    );
    const texts = run?.timeline.map(({ text }) => text);
    expect(texts?.[0]).toBe('Started');
    expect(texts).toContain('Cancelled: no more');
    expect(texts).toContain('run.cancelled to http://a.example.test/: delivered');
    expect(new Set(deliveries.map(({ event }) => event))).toEqual(new Set(['run.started', 'run.cancelled']));
    expect((await state('run_unknown')).run).toBeNull();
  });

  it('is harmless whatever a run contains, and the page itself contains none of it', async () => {
    const { mock, post, state, call } = await served();
    const evil = '</script><script>alert(1)</script>\u202e\u001b[31m';
    const made = (await post('/api/ci/runs', { projectSlug: evil, processSlug: evil })).json();
    const { run } = await state(String(made.runId));
    expect(String(run?.what)).toContain('\\u202e\\u001b[31m');
    expect(JSON.stringify(run)).not.toMatch(/\u202e|\u001b/);
    const html = (await call('GET', new URL(String(made.appUrl)).pathname)).text;
    expect(html).not.toContain('alert(1)');
    expect(mock.state.runs.size).toBe(1);
  });

  it('contains no secret, known or received', async () => {
    const { mock, post, call, asUser, state, request } = await served({ tenantSecret: 'tenant-s3cret' });
    const hook = (
      await asUser('POST', '/api/webhooks', { url: 'https://u:pa@ss@h.example/x?key=hookkey' })
    ).json();
    const rotated = (await asUser('POST', `/api/webhooks/${hook.id}/secret/rotate`)).json();
    const key = (await asUser('POST', '/api/settings/api-keys', { name: 'n' })).json();
    const [environment] = mock.state.account.environments.values();
    const variables = `/api/environments/${environment?.id}/variables`;
    await asUser('POST', variables, { name: 'V', value: 'variable-s3cret', secret: true });
    await call('GET', `/api/orders.json?api_key=query-s3cret&x=${mock.apiKey}`);
    await call('GET', `/api/ci/runs/${mock.token}`, { headers: { 'x-api-key': 'wrong-s3cret' } });
    await post('/api/ci/runs', {
      ...byProcess,
      externalUrl: 'https://me:url-s3cret@ci.example/?token=t0ken-s3cret',
    });
    await post('/api/ci/runs', `not json: ${mock.apiKey}`);
    const everything = await state();
    const shown = [JSON.stringify(everything)];
    expect(everything.requests).toHaveLength(8);
    for (const { key: number } of everything.requests) {
      shown.push(((await (await request(`request?number=${number}`)).json()) as { text: string }).text);
    }
    for (const run of everything.runs) shown.push(JSON.stringify(await state(String(run.key))));
    const all = shown.join('\n');
    expect(all).not.toMatch(/s3cret|hookkey|pa@ss|ss@h/);
    for (const secret of [mock.apiKey, mock.token, hook.secret, rotated.secret, key.apiKey]) {
      expect(all).not.toContain(secret);
    }
    expect(all).toContain('x-api-key: ********');
    expect(all).toContain('authorization: ********');
    expect(all).toContain('"value": "********"');
  });

  it('is limited to 100 of ten thousand requests', async () => {
    const { mock, call, state } = await served();
    await call('GET', '/api/orders.json');
    const [request] = mock.requests;
    for (let i = 0; i < 9_999; i += 1) (mock.requests as unknown[]).push({ ...request, at: i });
    expect((await state()).requests).toHaveLength(100);
  });
});
