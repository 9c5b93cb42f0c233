import http from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../src/mock/fault-kinds.ts';
import { faultKinds } from '../../src/mock/fault-kinds.ts';
import { createFaults } from '../../src/mock/faults.ts';
import { byProcess, type Service, startService } from './service.ts';

interface Seen {
  status: number | null;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** The code of the error that ended it, or null after a complete reply. */
  broke: string | null;
}

interface Sent extends Promise<Seen> {
  /** What has come so far. */
  readonly soFar: Seen;
}

/** Sends a request with node:http, which tells how a connection broke. */
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

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

async function started() {
  const service = await startService();
  const id = await service.trigger();
  const path = `/api/ci/runs/${id}`;
  const status = () => send(service, 'GET', path);
  const good = (await status()).body;
  const create = () => send(service, 'POST', '/api/ci/runs', JSON.stringify(byProcess));
  return { ...service, path, status, good, create };
}

const shown = new Set<FaultKind>();
const shows = (kind: FaultKind, promise: string, test: () => Promise<void>) => {
  shown.add(kind);
  it(`${kind}: ${promise}`, test);
};

describe('the fault', () => {
  shows('status', 'replies with any status, and text or JSON', async () => {
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

  shows('status', 'keeps the request from having its effect', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'status', status: 503 });
    expect((await create()).status).toBe(503);
    expect(mock.state.runs.size).toBe(1);
  });

  shows('reset', 'breaks the connection before the request has its effect', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'reset' });
    expect(await create()).toMatchObject({ status: null, broke: 'ECONNRESET' });
    expect(mock.state.runs.size).toBe(1);
    expect(mock.requests.at(-1)).toMatchObject({ endpoint: 'run.trigger', status: null });
  });

  shows('reset-after-commit', 'loses the reply of a request that had its effect', async () => {
    const { mock, create } = await started();
    mock.faults.add({ kind: 'reset-after-commit' });
    expect(await create()).toMatchObject({ status: null, broke: 'ECONNRESET' });
    expect(mock.state.runs.size).toBe(2);
    expect(mock.requests.at(-1)?.status).toBeNull();
  });

  shows('reset-after-commit', 'leaves a keyed request to be replayed', async () => {
    const { mock, post } = await started();
    mock.faults.add({ kind: 'reset-after-commit' });
    const key = { 'idempotency-key': 'k' };
    await expect(post('/api/ci/runs', byProcess, key)).rejects.toThrow('fetch failed');
    const answer = await post('/api/ci/runs', byProcess, key);
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(mock.state.runs.has(String(answer.json().runId))).toBe(true);
    expect(mock.state.runs.size).toBe(2);
  });

  shows('truncated', 'promises the whole body and sends half of it', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'truncated' });
    const seen = await status();
    expect(seen).toMatchObject({ status: 200, broke: 'ECONNRESET' });
    expect(seen.headers['content-length']).toBe(String(good.length));
    expect(seen.body).toBe(good.slice(0, Math.floor(good.length / 2)));
    expect(mock.requests.at(-1)?.status).toBe(200);
  });

  shows('cut-json', 'sends a complete reply with half of the text', async () => {
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

  shows('reply', 'sends 200 with any text', async () => {
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

  shows('stall-headers', 'never answers', async () => {
    const { mock, status } = await started();
    mock.faults.add({ kind: 'stall-headers' });
    const sent = status();
    while (mock.faults.pending > 0) await tick();
    await tick();
    expect(sent.soFar).toMatchObject({ status: null, broke: null });
    expect(mock.requests.at(-1)?.status).toBeNull();
    await mock.close();
    expect((await sent).broke).toBe('ECONNRESET');
  });

  shows('stall-body', 'sends the headers and a few bytes, then nothing', async () => {
    const { mock, status, good } = await started();
    mock.faults.add({ kind: 'stall-body' });
    const sent = status();
    while (sent.soFar.body === '') await tick();
    await tick();
    expect(sent.soFar).toMatchObject({ status: 200, body: good.slice(0, 5), broke: null });
    expect(sent.soFar.headers['content-length']).toBe(String(good.length));
    await mock.close();
    expect((await sent).broke).toBe('ECONNRESET');
  });

  shows('patch', 'leaves numbers the digits they had', async () => {
    const { mock, call } = await startService({ data: { orders: [{ total: '9007199254740993.10' }] } });
    mock.faults.add({ kind: 'patch', merge: { orderCount: 2 } });
    const { text } = await call('GET', '/api/orders/summary.json');
    expect(text).toContain('"totalRevenue":9007199254740993.10');
    expect(JSON.parse(text).orderCount).toBe(2);
  });

  shows('patch', 'replaces and removes fields of the reply', async () => {
    const { mock, status, good } = await started();
    const { appUrl } = JSON.parse(good);
    mock.faults.add({ kind: 'patch', merge: { state: 'weird', extra: [1] }, remove: ['failed'] });
    const seen = await status();
    expect(seen.status).toBe(200);
    expect(seen.headers['content-length']).toBe(String(seen.body.length));
    expect(JSON.parse(seen.body)).toEqual({ state: 'weird', blocked: 0, appUrl, extra: [1] });
    expect((await status()).body).toBe(good);
  });

  it('of every kind is shown here', () => {
    expect([...shown].sort()).toEqual(Object.keys(faultKinds).sort());
  });
});

describe('the list of faults', () => {
  const spoiled = (faults: ReturnType<typeof createFaults>, calls: number) =>
    Array.from({ length: calls }, () => faults.take('run.status')?.kind ?? '-');

  it('uses a fault once unless it is asked for more', () => {
    const faults = createFaults();
    faults.add({ kind: 'reset' });
    faults.add({ kind: 'truncated', times: 2 });
    expect(spoiled(faults, 4)).toEqual(['reset', 'truncated', 'truncated', '-']);
    expect(faults.pending).toBe(0);
  });

  it('lets the first calls pass, counted from when the fault was added', () => {
    const faults = createFaults();
    faults.add({ kind: 'reset', skip: 2 });
    expect(spoiled(faults, 4)).toEqual(['-', '-', 'reset', '-']);
    faults.add({ kind: 'truncated' });
    faults.add({ kind: 'reset', skip: 1 });
    expect(spoiled(faults, 3)).toEqual(['truncated', 'reset', '-']);
  });

  it('spoils only the endpoint that is named, and any request where none is', () => {
    const faults = createFaults();
    faults.add({ kind: 'reset', endpoint: 'run.cancel' });
    expect(faults.take('run.status')).toBeUndefined();
    expect(faults.take(null)).toBeUndefined();
    expect(faults.take('run.cancel')?.kind).toBe('reset');
    faults.add({ kind: 'reset' });
    expect(faults.take(null)?.kind).toBe('reset');
  });

  it('goes on for ever where it is asked to, and can be cleared', () => {
    const faults = createFaults();
    faults.add({ kind: 'reset', times: Number.POSITIVE_INFINITY });
    expect(new Set(spoiled(faults, 100))).toEqual(new Set(['reset']));
    faults.clear();
    expect(spoiled(faults, 1)).toEqual(['-']);
  });
});
