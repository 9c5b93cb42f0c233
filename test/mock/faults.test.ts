import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { type RequestFaultKind, requestKinds, rowOf } from '../../src/mock/faults/kinds.ts';
import { parseFault } from '../../src/mock/faults/parse.ts';
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

/** The response to a status read with a fault, as its client sees it. */
interface Row {
  /** The parameters of the fault. */
  with?: Record<string, unknown>;
  seen: Partial<Seen>;
  /** The length of the body, if not the body itself. */
  length?: number;
  /** The connection stays open until the mock closes. */
  stalls?: true;
}

const html = 'text/html; charset=utf-8';
const broken = { status: null, broke: 'ECONNRESET' };
const limited = (headers: Record<string, string> = {}): Row => ({
  seen: { status: 429, body: '{"error":"Too many requests"}', headers: headers },
});
const halfOf = (text: string) => text.slice(0, Math.floor(text.length / 2));

const rowsFor = (good: string, path: string): Record<RequestFaultKind, Row> => ({
  status: { with: { status: 503 }, seen: { status: 503, body: '{"error":"Fault: status 503"}' } },
  reply: { with: { text: '{"state":7' }, seen: { status: 200, body: '{"state":7' } },
  patch: {
    with: { merge: { state: 'weird' } },
    seen: { status: 200, body: good.replace('in_progress', 'weird') },
  },
  refused: { with: { forMs: 0 }, seen: broken },
  reset: { seen: broken },
  'reset-during': { seen: { broke: 'ECONNRESET' } },
  'reset-after': { seen: { status: 200, body: good } },
  'reset-reused': { seen: { status: 200, body: good } },
  'reset-after-commit': { seen: broken },
  'black-hole': { seen: { status: null }, stalls: true },
  'stall-headers': { seen: { status: null }, stalls: true },
  'stall-body': {
    seen: { status: 200, body: good.slice(0, 5), headers: { 'content-length': `${good.length}` } },
    stalls: true,
  },
  drip: { with: { everyMs: 1 }, seen: { status: 200, body: good } },
  truncated: {
    seen: {
      status: 200,
      body: halfOf(good),
      broke: 'ECONNRESET',
      headers: { 'content-length': `${good.length}` },
    },
  },
  'cut-json': {
    seen: { status: 200, body: halfOf(good), headers: { 'content-length': `${halfOf(good).length}` } },
  },
  'length-larger': {
    seen: {
      status: 200,
      body: good,
      broke: 'ECONNRESET',
      headers: { 'content-length': `${good.length + 10}` },
    },
  },
  'length-smaller': { seen: { status: 200, body: halfOf(good) } },
  'html-200': {
    seen: { status: 200, body: expect.stringContaining('Log in'), headers: { 'content-type': html } },
  },
  'html-502': {
    seen: { status: 502, body: expect.stringContaining('Bad'), headers: { 'content-type': html } },
  },
  'empty-200': { seen: { status: 200, body: '', headers: { 'content-length': '0' } } },
  'wrong-types': { seen: { status: 200, body: expect.stringContaining('"state":7,"failed":"seven"') } },
  'unknown-state': { seen: { status: 200, body: good.replace('in_progress', 'defrosting') } },
  backwards: { seen: { status: 200, body: expect.stringContaining('"failed":7,"blocked":7') } },
  'in-progress': { seen: { status: 409, body: expect.stringContaining('in progress') } },
  'key-reuse': { seen: { status: 422, body: expect.stringContaining('key reused') } },
  limited: limited(),
  'limited-seconds': limited({ 'retry-after': '7' }),
  'limited-date': limited({ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }),
  'limited-past': limited({ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }),
  'limited-absurd': limited({ 'retry-after': '99999999999' }),
  'clock-off': limited({
    date: 'Thu, 01 Jan 2026 01:00:00 GMT',
    'retry-after': 'Thu, 01 Jan 2026 01:00:10 GMT',
  }),
  burst: { seen: { status: 500 } },
  'redirect-same': { seen: { status: 307, headers: { location: path } } },
  'redirect-other': { seen: { status: 307, headers: { location: `https://other.invalid${path}` } } },
  huge: { seen: { status: 200 }, length: 100_000_000 },
  deep: { seen: { status: 200, body: expect.stringContaining('['.repeat(1000)) } },
  'gzip-bomb': { seen: { status: 200, headers: { 'content-encoding': 'gzip' } } },
});

describe.each(Object.keys(requestKinds) as RequestFaultKind[])('the fault %s', (kind) => {
  async function faulty() {
    const service = await started();
    const row = rowsFor(service.good, service.path)[kind];
    service.mock.faults.add({ kind, times: 1, ...row.with } as Fault);
    const { mock } = service;
    /** Waits for the end of the request, which a fault that stalls never reaches. */
    const ended = async (sent: Sent): Promise<Seen> => {
      if (!row.stalls) return sent;
      await until(() => mock.faults.pending === 0 && sent.soFar.body.length >= (row.seen.body?.length ?? 0));
      await turns();
      expect(sent.soFar.broke).toBeNull();
      const seen = { ...sent.soFar };
      await mock.close();
      expect((await sent).broke).toBe('ECONNRESET');
      return seen;
    };
    return { ...service, ...row, ended };
  }

  it('sends what its row says, once', async () => {
    const { mock, status, seen, length, stalls, good, ended } = await faulty();
    const got = await ended(status());
    expect(got).toMatchObject(seen);
    if (seen.broke === undefined && kind !== 'reset-after') expect(got.broke).toBeNull();
    if (length !== undefined) expect(got.body).toHaveLength(length);
    expect(mock.requests.at(-1)?.status).toBe(got.status);
    if (stalls || kind === 'refused') return;
    expect((await status()).body).toBe(good);
  });

  it('lets the request have its effect only if its row says so', async () => {
    const { mock, create, ended } = await faulty();
    await ended(create());
    const commits = kind === 'reset-reused' || rowOf(kind).commits === true;
    expect(mock.state.runs.size).toBe(commits ? 2 : 1);
  });
});

describe('a fault', () => {
  it('reset-after-commit: lets a retry with the same idempotency key get the lost response', async () => {
    const { mock, post } = await started();
    mock.faults.add({ kind: 'reset-after-commit' });
    const key = { 'idempotency-key': 'k' };
    await expect(post('/api/ci/runs', byProcess, key)).rejects.toThrow('fetch failed');
    const response = await post('/api/ci/runs', byProcess, key);
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(mock.state.runs.has(String(response.json().runId))).toBe(true);
    expect(mock.state.runs.size).toBe(2);
  });

  it('refused: stops listening for a time on the clock, then listens on the same port again', async () => {
    const { mock, clock, status } = await started();
    mock.faults.add({ kind: 'refused', forMs: 3000 });
    expect((await status()).broke).toBe('ECONNRESET');
    expect((await status()).broke).toBe('ECONNREFUSED');
    clock.advance(2999);
    expect((await status()).broke).toBe('ECONNREFUSED');
    clock.advance(1);
    await until(async () => (await status()).status === 200);
    mock.faults.add({ kind: 'refused', forMs: 3000 });
    await status();
    await mock.close();
    expect((await status()).broke).toBe('ECONNREFUSED');
  });
});

describe('parsing a fault', () => {
  it.each<[string, Fault]>([
    ['html-502@run.status:3', { kind: 'html-502', endpoint: 'run.status', skip: 2, times: 1 }],
    ['503@create', { kind: 'status', status: 503, endpoint: 'run.trigger' }],
    ['reset:2-', { kind: 'reset', skip: 1, times: Number.POSITIVE_INFINITY }],
    ['reset:all', { kind: 'reset', times: Number.POSITIVE_INFINITY }],
    ['reset:20%', { kind: 'reset', chance: 0.2, times: Number.POSITIVE_INFINITY }],
    ['reset:5s-10s', { kind: 'reset', fromMs: 5000, untilMs: 10_000, times: Number.POSITIVE_INFINITY }],
    [
      'delay=30s@run.completed:10%',
      { kind: 'delay', byMs: 30_000, event: 'run.completed', chance: 0.1, times: Number.POSITIVE_INFINITY },
    ],
    ['refused=10s@run.status', { kind: 'refused', forMs: 10_000, endpoint: 'run.status' }],
  ])('accepts %s', (text, fault) => expect(parseFault(text)).toEqual(fault));

  it.each([
    ['reset2', /unknown fault/],
    ['600', /unknown fault/],
    ['reset@run', /unknown endpoint "run"/],
    ['early@run.started', /early affects no event "run.started"/],
    ['drop@run.status', /drop affects no event "run.status"/],
    ['drop=5s', /drop: this fault has no duration/],
    ['delay=', /--fault delay: "" is not a duration/],
    ['reset:0', /not a valid condition/],
    ['reset:120%', /not a valid condition/],
  ])('rejects %j', (text, message) => {
    expect(() => parseFault(text)).toThrow(UsageError);
    expect(() => parseFault(text)).toThrow(message);
  });
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
});
