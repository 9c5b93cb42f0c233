import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { startValidator } from './validator.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

const key = { 'x-api-key': 'key' };
const token = { authorization: 'Bearer token' };
const json = { 'content-type': 'application/json' };

/** Starts a validator in front of a server. */
async function inFrontOf(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const validator = await startValidator(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(
    async () => void server.close(),
    () => validator.close(),
  );
  return validator;
}

const respondingWith = (status: number, body?: unknown, headers: Record<string, string> = json) =>
  inFrontOf((_, outgoing) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    outgoing.writeHead(status, text === undefined ? {} : headers).end(text);
  });

const run = { projectSlug: 'shop', processSlug: 'checkout' };
const page = {
  totalCount: 0,
  page: 1,
  pageSize: 20,
  totalPages: 0,
  hasNextPage: false,
  hasPreviousPage: false,
};

function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { ...json, ...key, ...headers } };
}

function upload(name: string): RequestInit {
  const body = new FormData();
  body.set(name, new Blob(['text']), 'a.txt');
  return { method: 'POST', headers: token, body };
}

describe('a request that the document allows is forwarded without a violation', () => {
  it.each<[string, string, RequestInit]>([
    ['a run by its process', '/api/ci/runs', post(run, { 'idempotency-key': 'k' })],
    ['a run by its tags', '/api/ci/runs', post({ projectSlug: 'shop', tags: ['a'] })],
    ['cancelling without a body', '/api/ci/runs/x/cancel', { method: 'POST', headers: key }],
    ['an unknown scope', '/api/settings/api-keys', post({ name: 'n', scopes: ['new'] }, token)],
    ['an attachment', '/api/projects/p/observations/o/attachments', upload('file')],
    ['an attachment as JSON', '/api/projects/p/observations/o/attachments', post({ a: 1 }, token)],
    ['an encoded slash', '/api/webhooks/a%2Fb', { method: 'DELETE', headers: token }],
  ])('%s', async (_, path, init) => {
    const validator = await respondingWith(200, { runId: 'run_1' });
    const response = await fetch(validator.url + path, init);
    // Only the responses to keys.create and run.trigger need a key and an id; the others may contain anything.
    expect(validator.violations.filter((text) => !text.includes("'apiKey'"))).toEqual([]);
    expect(response.status).toBe(200);
    expect(validator.seen.size).toBe(1);
  });

  it('any query of a search', async () => {
    const validator = await respondingWith(200, []);
    await fetch(`${validator.url}/api/projects/p/observations/search?q=a&other=b`, { headers: token });
    expect(validator.violations).toEqual([]);
    expect([...validator.seen]).toEqual([['observations.search', 1]]);
  });

  it('an order by either credential', async () => {
    const validator = await respondingWith(200, { orders: [] });
    for (const headers of [key, token]) await fetch(`${validator.url}/api/orders.json`, { headers });
    expect(validator.violations).toEqual([]);
    expect(validator.seen.get('orders.list')).toBe(2);
  });
});

describe('a request that the document does not allow is reported', () => {
  it.each<[string, string, RequestInit, RegExp]>([
    ['an unknown path', '/api/nothing', { headers: key }, /no such path/],
    ['a trailing slash', '/api/webhooks/event-types/', { headers: token }, /no such path/],
    ['an unknown method', '/api/ci/runs', { method: 'DELETE', headers: key }, /no such method/],
    ['no credential', '/api/ci/runs/x', {}, /no credential/],
    ['a token instead of a key', '/api/ci/runs/x', { headers: token }, /no credential/],
    ['a key instead of a token', '/api/environments', { headers: key }, /no credential/],
    [
      'a page that is not a number',
      '/api/environments?page=x',
      { headers: token },
      /\/query\/page must be integer/,
    ],
    ['page 0', '/api/environments?page=0', { headers: token }, /\/query\/page must be >= 1/],
    ['a page twice', '/api/environments?page=1&page=2', { headers: token }, /\/query\/page must be integer/],
    ['an unknown filter', '/api/webhooks?all=1', { headers: token }, /"additionalProperty":"all"/],
    [
      'an invalid time',
      '/api/projects/p/observations?createdAfter=soon',
      { headers: token },
      /createdAfter must match format "date-time"/,
    ],
    [
      'both selectors',
      '/api/ci/runs',
      post({ ...run, tags: ['a'] }),
      /must match exactly one schema in oneOf/,
    ],
    [
      'neither selector',
      '/api/ci/runs',
      post({ projectSlug: 's' }),
      /must match exactly one schema in oneOf/,
    ],
    ['no tags', '/api/ci/runs', post({ projectSlug: 's', tags: [] }), /must NOT have fewer than 1 items/],
    ['an unknown field', '/api/ci/runs', post({ ...run, wait: true }), /"additionalProperty":"wait"/],
    ['a number instead of text', '/api/ci/runs', post({ ...run, ref: 1 }), /\/ref must be string/],
    ['no body', '/api/ci/runs', { method: 'POST', headers: { ...json, ...key } }, /request: .*requestBody/],
    [
      'invalid JSON',
      '/api/ci/runs',
      { method: 'POST', body: '{', headers: { ...json, ...key } },
      /request: .*JSON/,
    ],
    ['another media type', '/api/ci/runs', post(run, { 'content-type': 'text/plain' }), /type "text\/plain"/],
    [
      'a body of an operation without one',
      '/api/webhooks/x',
      { ...post({}, token), method: 'DELETE' },
      /request: a body of the undeclared type/,
    ],
    ['an empty key', '/api/ci/runs', post(run, { 'idempotency-key': '' }), /\/header\/idempotency-key/],
    [
      'another part',
      '/api/projects/p/observations/o/attachments',
      upload('data'),
      /"missingProperty":"file"/,
    ],
  ])('%s', async (_, path, init, expected) => {
    const validator = await respondingWith(200, { ...page, items: [] });
    await fetch(validator.url + path, init);
    expect(validator.violations.join('\n')).toMatch(expected);
    expect(validator.violations.join('\n')).toContain('request: ');
  });
});

describe('a response that the document does not allow is reported, and forwarded unchanged', () => {
  const summary = { orderCount: 1, totalRevenue: 2, totalRevenueDisplay: '€2.00' };
  const status = { state: 'completed', failed: 0, blocked: 0 };

  it.each<[string, string, number, unknown, RegExp]>([
    [
      'a total that is text',
      '/api/orders/1.json',
      200,
      { id: '1', customer: 'c', total: '1', currency: 'EUR' },
      /total/,
    ],
    [
      'a summary with another field',
      '/api/orders/summary.json',
      200,
      { ...summary, more: 1 },
      /"additionalProperty":"more"/,
    ],
    ['no state', '/api/ci/runs/x', 200, { failed: 0 }, /"missingProperty":"state"/],
    ['a count that is text', '/api/ci/runs/x', 200, { ...status, failed: '0' }, /\/failed must be integer/],
    ['an empty body', '/api/ci/runs/x', 200, undefined, /response 200/],
    ['a 204', '/api/ci/runs/x', 204, undefined, /response 204/],
    ['invalid JSON', '/api/ci/runs/x', 200, '<html>', /response 200: .*JSON/],
    ['an error without its text', '/api/ci/runs/x', 404, { message: 'no' }, /"missingProperty":"error"/],
    ['another undocumented error', '/api/ci/runs/x', 503, { message: 'no' }, /"missingProperty":"error"/],
  ])('%s', async (_, path, code, body, expected) => {
    const validator = await respondingWith(code, body);
    const response = await fetch(validator.url + path, { headers: key });
    expect(response.status).toBe(code);
    expect(validator.violations.join('\n')).toMatch(expected);
    expect(validator.violations.join('\n')).toContain('response ');
  });

  it('a page without items and with invalid counts', async () => {
    const validator = await respondingWith(200, { totalCount: 'many', page: '1' });
    await fetch(`${validator.url}/api/environments`, { headers: token });
    expect(validator.violations.join()).toMatch(/items.*totalCount.*page/);
  });

  it('another media type', async () => {
    const validator = await respondingWith(200, '{"state":"completed"}', { 'content-type': 'text/html' });
    await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(validator.violations.join()).toContain('response 200: a body of the undeclared type "text/html"');
  });

  it('a rate limit header that is not a number', async () => {
    const validator = await respondingWith(
      429,
      { error: 'slow down' },
      { ...json, 'ratelimit-remaining': 'few' },
    );
    await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(validator.violations.join()).toMatch(/ratelimit-remaining must be integer/);
  });

  it.each<[string, number, unknown]>([
    ['an unknown state', 200, { ...status, state: 'paused' }],
    ['an error', 404, { error: 'no such run', details: 'x' }],
    ['an error of another status', 503, { error: 'later' }],
  ])('but not %s', async (_, code, body) => {
    const validator = await respondingWith(code, body);
    const response = await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(await response.json()).toEqual(body);
    expect(validator.violations).toEqual([]);
    expect(validator.responses).toEqual([JSON.stringify(body)]);
  });
});

it('a broken connection is passed on and reported', async () => {
  const validator = await inFrontOf((incoming) => incoming.socket.destroy());
  await expect(fetch(`${validator.url}/api/ci/runs/x`, { headers: key })).rejects.toThrow();
  expect(validator.violations).toEqual([expect.stringContaining('not forwarded')]);
});

it('forwards a valid create to the mock without a violation', async () => {
  const mock = await startMock();
  const validator = await startValidator(mock.url);
  closing.push(
    () => mock.close(),
    () => validator.close(),
  );
  const response = await fetch(`${validator.url}/api/ci/runs`, post(run, { 'x-api-key': mock.apiKey }));
  expect(response.status).toBe(201);
  expect(validator.violations).toEqual([]);
  expect(mock.requests.at(-1)).toMatchObject({ endpoint: 'run.trigger', body: JSON.stringify(run) });
});
