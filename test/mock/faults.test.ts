import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { type Fault, type FaultKind, Faults } from '../../src/mock/faults/faults.ts';
import { parseFault } from '../../src/mock/faults/parse.ts';
import { requestKinds } from '../../src/mock/faults/request-kinds.ts';
import { turns, until } from '../until.ts';
import { byProcess, type Service, startService } from './service.ts';

interface Seen {
  status: number | null;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** The code of the error that ended the request, or null after a complete response. */
  broke: string | null;
}

interface Sent extends Promise<Seen> {
  /** The response received so far. */
  readonly soFar: Seen;
}

/** Sends a request with node:http, which reports how a connection broke. */
function send(service: Service, method: string, path: string, body = ''): Sent {
  const { port, apiKey } = service.mock;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'content-length': body.length };
  const seen: Seen = { status: null, headers: {}, body: '', broke: null };
  const done = new Promise<Seen>((resolve) => {
    const end = (error?: NodeJS.ErrnoException) =>
      resolve(Object.assign(seen, { broke: error?.code ?? null }));
    const request = http.request(
      { port, host: '127.0.0.1', method, path, headers, agent: false },
      (response) => {
        seen.status = response.statusCode ?? null;
        seen.headers = response.headers;
        response.setEncoding('utf8');
        response.on('data', (text) => {
          seen.body += text;
        });
        response.on('end', () => end());
        response.on('error', end);
      },
    );
    request.on('error', end);
    request.end(body);
  });
  return Object.assign(done, { soFar: seen });
}

async function started() {
  const service = await startService();
  const id = await service.trigger();
  const path = `/api/ci/runs/${id}`;
  const status = () => send(service, 'GET', path);
  const good = (await status()).body;
  const create = () => send(service, 'POST', '/api/ci/runs', JSON.stringify(byProcess));
  return { ...service, path, status, good, create };
}

const tested = new Set<FaultKind>();
const testKind = (kind: FaultKind, promise: string, test: () => Promise<void>) => {
  tested.add(kind);
  it(`${kind}: ${promise}`, test);
};

describe('the fault', () => {
  testKind('status', 'responds with any status code and with text or JSON', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'status', status: 502, body: '<h1>Bad gateway</h1>' });
    mock.faults.add({
      kind: 'status',
      status: 429,
      body: { error: 'Slow down' },
      headers: { 'Retry-After': '7' },
    });
    mock.faults.add({ kind: 'status', status: 503 });
    mock.faults.add({ kind: 'status', status: 500, body: '', headers: { 'Content-Type': 'text/x' } });
    const html = await status();
    expect(html).toMatchObject({ status: 502, body: '<h1>Bad gateway</h1>', broke: null });
    expect(html.headers['content-type']).toBe('text/html; charset=utf-8');
    const limited = await status();
    expect(limited).toMatchObject({ status: 429, body: '{"error":"Slow down"}' });
    expect(limited.headers).toMatchObject({ 'retry-after': '7', 'content-type': 'application/json' });
    expect(await status()).toMatchObject({ status: 503, body: '{"error":"Fault: status 503"}' });
    const empty = await status();
    expect([empty.status, empty.body, empty.headers['content-type']]).toEqual([500, '', 'text/x']);
    expect((await status()).status).toBe(200);
    expect(mock.requests.slice(-5).map((request) => request.status)).toEqual([502, 429, 503, 500, 200]);
  });

  testKind('status', 'prevents the effect of the request', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'status', status: 503 });
    expect((await create()).status).toBe(503);
    expect(mock.state.runs.size).toBe(1);
  });

  testKind('reset', 'breaks the connection before the request has its effect', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'reset' });
    expect(await create()).toMatchObject({ status: null, broke: 'ECONNRESET' });
    expect(mock.state.runs.size).toBe(1);
    expect(mock.requests.at(-1)).toMatchObject({ endpoint: 'run.trigger', status: null });
  });

  testKind('reset-after-commit', 'loses the response to a request that had its effect', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'reset-after-commit' });
    expect(await create()).toMatchObject({ status: null, broke: 'ECONNRESET' });
    expect(mock.state.runs.size).toBe(2);
    expect(mock.requests.at(-1)?.status).toBeNull();
  });

  testKind(
    'reset-after-commit',
    'lets a retry with the same idempotency key get the lost response',
    async () => {
      const { mock, post } = await started();
      mock.faults.add({ kind: 'reset-after-commit' });
      const key = { 'idempotency-key': 'k' };
      await expect(post('/api/ci/runs', byProcess, key)).rejects.toThrow('fetch failed');
      const response = await post('/api/ci/runs', byProcess, key);
      expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      expect(mock.state.runs.has(String(response.json().runId))).toBe(true);
      expect(mock.state.runs.size).toBe(2);
    },
  );

  testKind('truncated', 'announces the whole body and sends half of it', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'truncated' });
    const seen = await status();
    expect(seen).toMatchObject({ status: 200, broke: 'ECONNRESET' });
    expect(seen.headers['content-length']).toBe(String(good.length));
    expect(seen.body).toBe(good.slice(0, Math.floor(good.length / 2)));
    expect(mock.requests.at(-1)?.status).toBe(200);
  });

  testKind('cut-json', 'sends a complete response with half of the JSON text', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'cut-json' });
    const seen = await status();
    expect(seen).toMatchObject({
      status: 200,
      broke: null,
      body: good.slice(0, Math.floor(good.length / 2)),
    });
    expect(seen.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(seen.body.length),
    });
    expect(() => JSON.parse(seen.body)).toThrow();
  });

  testKind('reply', 'sends 200 with any text', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'reply', text: '<html>Log in</html>', contentType: 'text/html' });
    mock.faults.add({ kind: 'reply', text: '' });
    mock.faults.add({ kind: 'reply', text: '{"state":7,"failed":"0"}' });
    const html = await status();
    expect([html.status, html.headers['content-type'], html.body]).toEqual([
      200,
      'text/html',
      '<html>Log in</html>',
    ]);
    expect(await status()).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    const wrong = await status();
    expect([wrong.headers['content-type'], wrong.body]).toEqual([
      'application/json',
      '{"state":7,"failed":"0"}',
    ]);
  });

  testKind('stall-headers', 'never responds', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'stall-headers' });
    const sent = status();
    await until(() => mock.faults.pending === 0);
    await turns();
    expect(sent.soFar).toMatchObject({ status: null, broke: null });
    expect(mock.requests.at(-1)?.status).toBeNull();
    await mock.close();
    expect((await sent).broke).toBe('ECONNRESET');
  });

  testKind('stall-body', 'sends the headers and a few bytes, then nothing', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'stall-body' });
    const sent = status();
    await until(() => sent.soFar.body !== '');
    await turns();
    expect(sent.soFar).toMatchObject({ status: 200, body: good.slice(0, 5), broke: null });
    expect(sent.soFar.headers['content-length']).toBe(String(good.length));
    await mock.close();
    expect((await sent).broke).toBe('ECONNRESET');
  });

  testKind('patch', 'keeps the digits of numbers', async () => {
    const { mock, call } = await startService({ data: { orders: [{ total: '9007199254740993.10' }] } });
    mock.faults.add({ kind: 'patch', merge: { orderCount: 2 } });
    const { text } = await call('GET', '/api/orders/summary.json');
    expect(text).toContain('"totalRevenue":9007199254740993.10');
    expect(JSON.parse(text).orderCount).toBe(2);
  });

  testKind('patch', 'replaces and removes fields of the response', async () => {
    const { mock, status, good } = await started();
    const { appUrl } = JSON.parse(good);
    mock.faults.add({ kind: 'patch', merge: { state: 'weird', extra: [1] }, remove: ['failed'] });
    const seen = await status();
    expect(seen.status).toBe(200);
    expect(seen.headers['content-length']).toBe(String(seen.body.length));
    expect(JSON.parse(seen.body)).toEqual({ state: 'weird', blocked: 0, appUrl, extra: [1] });
    expect((await status()).body).toBe(good);
  });

  testKind(
    'refused',
    'stops listening for a time on the clock, then listens on the same port again',
    async () => {
      const { mock, clock, status } = await started();
      mock.faults.add({ kind: 'refused', forMs: 3000 });
      expect((await status()).broke).toBe('ECONNRESET');
      expect((await status()).broke).toBe('ECONNREFUSED');
      clock.advance(2999);
      expect((await status()).broke).toBe('ECONNREFUSED');
      clock.advance(1);
      await until(async () => (await status()).status === 200);
    },
  );

  testKind('refused', 'does not prevent the mock from closing', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'refused', forMs: 3000 });
    await status();
    await mock.close();
    expect((await status()).broke).toBe('ECONNREFUSED');
  });

  testKind('reset-during', 'sends the headers, then resets the connection', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'reset-during' });
    const seen = await status();
    expect(seen.broke).toBe('ECONNRESET');
    expect(seen.body.length).toBeLessThan(good.length);
  });

  testKind('reset-after', 'sends the whole response', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'reset-after' });
    expect(await status()).toMatchObject({ status: 200, body: good });
  });

  testKind('reset-reused', 'resets reused connections but not new ones', async () => {
    const { mock, path } = await started();
    mock.faults.add({ kind: 'reset-reused', times: 2 });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const get = () =>
      new Promise<string>((resolve) => {
        const request = http.get(mock.url + path, { agent, headers: { 'x-api-key': mock.apiKey } });
        request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        request.on('response', (response) => response.resume().on('end', () => resolve('ok')));
      });
    expect([await get(), await turns().then(get)]).toEqual(['ok', 'ECONNRESET']);
    agent.destroy();
  });

  testKind('black-hole', 'never responds and keeps the connection open', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'black-hole' });
    const sent = create();
    await until(() => mock.faults.pending === 0);
    await turns();
    expect(sent.soFar).toMatchObject({ status: null, broke: null });
    expect(mock.state.runs.size).toBe(1);
    await mock.close();
    expect((await sent).broke).toBe('ECONNRESET');
  });

  testKind('drip', 'sends the body byte by byte', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'drip', everyMs: 1 });
    expect(await status()).toMatchObject({ status: 200, body: good, broke: null });
  });

  testKind('length-larger', 'announces more bytes than it sends', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'length-larger' });
    const seen = await status();
    expect(seen).toMatchObject({ status: 200, body: good, broke: 'ECONNRESET' });
    expect(seen.headers['content-length']).toBe(String(good.length + 10));
  });

  testKind('length-smaller', 'announces fewer bytes than it sends', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'length-smaller' });
    expect((await status()).body).toBe(good.slice(0, Math.floor(good.length / 2)));
  });

  const responses: [FaultKind, number, string, Record<string, string>?][] = [
    ['html-200', 200, 'Log in', { 'content-type': 'text/html; charset=utf-8' }],
    ['html-502', 502, '502 Bad Gateway', { 'content-type': 'text/html; charset=utf-8' }],
    ['empty-200', 200, '', { 'content-length': '0' }],
    ['wrong-types', 200, '"failed":"seven"'],
    ['unknown-state', 200, '"state":"defrosting"'],
    ['in-progress', 409, 'in progress'],
    ['key-reuse', 422, 'key reused'],
    ['limited', 429, 'Too many'],
    ['limited-seconds', 429, 'Too many', { 'retry-after': '7' }],
    ['limited-date', 429, 'Too many', { 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }],
    ['limited-past', 429, 'Too many', { 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }],
    ['limited-absurd', 429, 'Too many', { 'retry-after': '99999999999' }],
    ['redirect-same', 307, ''],
    ['redirect-other', 307, ''],
    ['deep', 200, '['.repeat(1000)],
    [
      'clock-off',
      429,
      'Too many',
      { date: 'Thu, 01 Jan 2026 01:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 01:00:10 GMT' },
    ],
  ];
  for (const [kind, code, text, headers = {}] of responses) {
    testKind(kind, `responds with ${code}`, async () => {
      const { mock, status, path, good } = await started();
      mock.faults.add({ kind } as Fault);
      const seen = await status();
      expect(seen).toMatchObject({ status: code, broke: null });
      expect(seen.body).toContain(text);
      expect(seen.headers).toMatchObject(headers);
      if (code === 307)
        expect(seen.headers.location).toBe(kind === 'redirect-same' ? path : `https://other.invalid${path}`);
      expect((await status()).body).toBe(good);
    });
  }

  testKind('backwards', 'counts down while the run is in progress', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'backwards', times: 2 });
    const counts = [await status(), await status(), await status()].map(
      ({ body }) => JSON.parse(body).failed,
    );
    expect(counts).toEqual([7, 6, 0]);
  });

  testKind('burst', 'affects three requests by default', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'burst' });
    const codes = [await status(), await status(), await status(), await status()].map(
      ({ status }) => status,
    );
    expect(codes).toEqual([500, 502, 503, 200]);
  });

  testKind('huge', 'sends 100 MB', async () => {
    const { mock, path } = await started();
    mock.faults.add({ kind: 'huge' });
    const response = await fetch(mock.url + path, { headers: { 'x-api-key': mock.apiKey } });
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) size += chunk.length;
    expect(size).toBe(100_000_000);
  });

  testKind('gzip-bomb', 'sends a small body that is large when decompressed', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'gzip-bomb' });
    const { headers } = await status();
    expect(headers['content-encoding']).toBe('gzip');
    expect(Number(headers['content-length'])).toBeLessThan(200_000);
  });

  it('is tested here for every kind', () => {
    expect([...tested].sort()).toEqual(Object.keys(requestKinds).sort());
  });
});

describe('parsing a fault', () => {
  it.each<[string, Fault]>([
    ['reset', { kind: 'reset' }],
    ['503', { kind: 'status', status: 503 }],
    ['html-502@run.status:3', { kind: 'html-502', endpoint: 'run.status', skip: 2, times: 1 }],
    ['503@create', { kind: 'status', status: 503, endpoint: 'run.trigger' }],
    ['503@trigger', { kind: 'status', status: 503, endpoint: 'run.trigger' }],
    ['reset@status', { kind: 'reset', endpoint: 'run.status' }],
    ['reset:2-5', { kind: 'reset', skip: 1, times: 4 }],
    ['reset:2-', { kind: 'reset', skip: 1, times: Number.POSITIVE_INFINITY }],
    ['reset:all', { kind: 'reset', times: Number.POSITIVE_INFINITY }],
    ['reset:20%', { kind: 'reset', chance: 0.2, times: Number.POSITIVE_INFINITY }],
    ['reset:5s-10s', { kind: 'reset', fromMs: 5000, untilMs: 10_000, times: Number.POSITIVE_INFINITY }],
  ])('accepts %s', (text, fault) => expect(parseFault(text)).toEqual(fault));

  it.each([
    '',
    'resett',
    'status',
    'reset@run',
    'early@create',
    'reset:',
    'reset:0',
    'reset:5-2',
    'reset:120%',
    'reset:10s-5s',
    '600',
  ])('rejects %j', (text) => expect(() => parseFault(text)).toThrow(UsageError));
});

describe('the endpoint for faults', () => {
  const path = '/_mock/faults';

  it('adds, lists and clears faults, and is not recorded as a request', async () => {
    const { mock, call } = await startService();
    const post = (body: unknown) => call('POST', path, { body: JSON.stringify(body) });
    expect((await post({ fault: 'reset@run.status:2-' })).json()).toEqual({
      faults: [{ kind: 'reset', endpoint: 'run.status', skip: 1, times: 'all' }],
    });
    expect((await post({ kind: 'status', status: 418, endpoint: 'orders.summary' })).status).toBe(200);
    expect((await post({ kind: 'reset', endpoint: 'create' })).json().faults).toContainEqual({
      ...{ kind: 'reset', endpoint: 'run.trigger', skip: 0, times: 1 },
    });
    expect((await call('GET', path)).json().faults).toHaveLength(3);
    expect((await call('GET', '/api/orders/summary.json')).status).toBe(418);
    expect((await call('DELETE', path)).json()).toEqual({ faults: [] });
    expect(mock.requests).toHaveLength(1);
  });

  it.each([
    { kind: 'no' },
    { kind: 'status' },
    { kind: 'reply' },
    { kind: 'reset', often: 2 },
    { fault: 'x' },
    7,
  ])('rejects %j', async (body) => {
    const { mock, call } = await startService();
    const response = await call('POST', path, { body: JSON.stringify(body) });
    expect([response.status, mock.faults.pending]).toEqual([422, 0]);
  });

  it('rejects web pages, other host names and other methods', async () => {
    const service = await startService();
    expect(
      (await service.call('POST', path, { headers: { 'x-api-key': 'x', origin: 'https://a.example' } }))
        .status,
    ).toBe(403);
    const { port } = service.mock;
    const named = await new Promise<number>((resolve) => {
      http.get({ port, host: '127.0.0.1', path, headers: { host: 'rebound.example' } }, (r) =>
        resolve(r.resume().statusCode ?? 0),
      );
    });
    expect(named).toBe(421);
    expect((await service.call('PUT', path)).status).toBe(405);
  });
});

describe('the list of faults', () => {
  it('draws faults with a probability by the seed, so that they repeat', async () => {
    const drawn = async () => {
      const { call } = await startService({ seed: 5, faults: [parseFault('418:40%')] });
      const codes: number[] = [];
      for (let i = 0; i < 40; i += 1) codes.push((await call('GET', '/api/orders/summary.json')).status);
      return codes;
    };
    const first = await drawn();
    expect(await drawn()).toEqual(first);
    const affected = first.filter((code) => code === 418).length;
    expect(affected).toBeGreaterThan(8);
    expect(affected).toBeLessThan(24);
  });

  it('applies a fault only within its time window', async () => {
    const { call, clock } = await startService({ faults: [parseFault('418:5s-10s')] });
    const code = async () => (await call('GET', '/api/orders/summary.json')).status;
    const codes = [await code()];
    for (const ms of [4999, 1, 4999, 1]) {
      clock.advance(ms);
      codes.push(await code());
    }
    expect(codes).toEqual([200, 200, 418, 418, 200]);
  });

  const play = (faults: Faults, requests: number) =>
    Array.from({ length: requests }, () => faults.take('run.status')?.kind ?? '-');

  it('applies a fault once by default', () => {
    const faults = new Faults();
    faults.add({ kind: 'reset' });
    faults.add({ kind: 'truncated', times: 2 });
    expect(play(faults, 4)).toEqual(['reset', 'truncated', 'truncated', '-']);
    expect(faults.pending).toBe(0);
  });

  it('skips requests, counted from when the fault was added', () => {
    const faults = new Faults();
    faults.add({ kind: 'reset', skip: 2 });
    expect(play(faults, 4)).toEqual(['-', '-', 'reset', '-']);
    faults.add({ kind: 'truncated' });
    faults.add({ kind: 'reset', skip: 1 });
    expect(play(faults, 3)).toEqual(['truncated', 'reset', '-']);
  });

  it('affects only the endpoint of the fault, or any request without one', () => {
    const faults = new Faults();
    faults.add({ kind: 'reset', endpoint: 'run.cancel' });
    expect(faults.take('run.status')).toBeUndefined();
    expect(faults.take(null)).toBeUndefined();
    expect(faults.take('run.cancel')?.kind).toBe('reset');
    faults.add({ kind: 'reset' });
    expect(faults.take(null)?.kind).toBe('reset');
  });

  it('repeats a fault until it is cleared', () => {
    const faults = new Faults();
    faults.add({ kind: 'reset', times: Number.POSITIVE_INFINITY });
    expect(new Set(play(faults, 100))).toEqual(new Set(['reset']));
    faults.clear();
    expect(play(faults, 1)).toEqual(['-']);
  });
});
