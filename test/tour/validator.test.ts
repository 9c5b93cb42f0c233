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

/** A validator in front of a server that answers everything in one way. */
async function before(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const validator = await startValidator(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(
    async () => void server.close(),
    () => validator.close(),
  );
  return validator;
}

const answering = (status: number, body?: unknown, headers: Record<string, string> = json) =>
  before((_, outgoing) => {
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

describe('a request that the document allows is passed on without a word', () => {
  it.each<[string, string, RequestInit]>([
    ['a run by its process', '/api/ci/runs', post(run, { 'idempotency-key': 'k' })],
    ['a run by its tags', '/api/ci/runs', post({ projectSlug: 'shop', tags: ['a'] })],
    ['cancelling without a body', '/api/ci/runs/x/cancel', { method: 'POST', headers: key }],
    ['a scope that nobody knows', '/api/settings/api-keys', post({ name: 'n', scopes: ['new'] }, token)],
    ['an attachment', '/api/projects/p/observations/o/attachments', upload('file')],
    ['an attachment as JSON', '/api/projects/p/observations/o/attachments', post({ a: 1 }, token)],
    ['an encoded slash', '/api/webhooks/a%2Fb', { method: 'DELETE', headers: token }],
  ])('%s', async (_, path, init) => {
    const validator = await answering(200, { runId: 'run_1' });
    const reply = await fetch(validator.url + path, init);
    // keys.create must answer with a key and run.trigger with an id; the rest may answer anything.
    expect(validator.violations.filter((text) => !text.includes("'apiKey'"))).toEqual([]);
    expect(reply.status).toBe(200);
    expect(validator.seen.size).toBe(1);
  });

  it('any query of search', async () => {
    const validator = await answering(200, []);
    await fetch(`${validator.url}/api/projects/p/observations/search?q=a&other=b`, { headers: token });
    expect(validator.violations).toEqual([]);
    expect([...validator.seen]).toEqual([['observations.search', 1]]);
  });

  it('an order by either credential', async () => {
    const validator = await answering(200, { orders: [] });
    for (const headers of [key, token]) await fetch(`${validator.url}/api/orders.json`, { headers });
    expect(validator.violations).toEqual([]);
    expect(validator.seen.get('orders.list')).toBe(2);
  });
});

describe('a request that the document does not allow is reported', () => {
  it.each<[string, string, RequestInit, RegExp]>([
    ['an unknown path', '/api/nothing', { headers: key }, /no such path/],
    ['a slash too many', '/api/webhooks/event-types/', { headers: token }, /no such path/],
    ['an unknown method', '/api/ci/runs', { method: 'DELETE', headers: key }, /no such method/],
    ['no credential', '/api/ci/runs/x', {}, /no credential/],
    ['a token for a key', '/api/ci/runs/x', { headers: token }, /no credential/],
    ['a key for a token', '/api/environments', { headers: key }, /no credential/],
    [
      'a page that is no number',
      '/api/environments?page=x',
      { headers: token },
      /\/query\/page must be integer/,
    ],
    ['page 0', '/api/environments?page=0', { headers: token }, /\/query\/page must be >= 1/],
    ['a page twice', '/api/environments?page=1&page=2', { headers: token }, /\/query\/page must be integer/],
    ['an unknown filter', '/api/webhooks?all=1', { headers: token }, /"additionalProperty":"all"/],
    [
      'a time that is none',
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
    ['a number for text', '/api/ci/runs', post({ ...run, ref: 1 }), /\/ref must be string/],
    ['no body', '/api/ci/runs', { method: 'POST', headers: { ...json, ...key } }, /request: .*requestBody/],
    [
      'no JSON',
      '/api/ci/runs',
      { method: 'POST', body: '{', headers: { ...json, ...key } },
      /request: .*JSON/,
    ],
    ['another media type', '/api/ci/runs', post(run, { 'content-type': 'text/plain' }), /type "text\/plain"/],
    [
      'a body where none belongs',
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
  ])('%s', async (_, path, init, wanted) => {
    const validator = await answering(200, { ...page, items: [] });
    await fetch(validator.url + path, init);
    expect(validator.violations.join('\n')).toMatch(wanted);
    expect(validator.violations.join('\n')).toContain('request: ');
  });
});

describe('a reply that the document does not allow is reported, and passed on all the same', () => {
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
      'a summary with more',
      '/api/orders/summary.json',
      200,
      { ...summary, more: 1 },
      /"additionalProperty":"more"/,
    ],
    ['no state', '/api/ci/runs/x', 200, { failed: 0 }, /"missingProperty":"state"/],
    ['a count that is text', '/api/ci/runs/x', 200, { ...status, failed: '0' }, /\/failed must be integer/],
    ['nothing, where there is something to say', '/api/ci/runs/x', 200, undefined, /reply 200/],
    ['204, where there is something to say', '/api/ci/runs/x', 204, undefined, /reply 204/],
    ['no JSON', '/api/ci/runs/x', 200, '<html>', /reply 200: .*JSON/],
    ['an error without its text', '/api/ci/runs/x', 404, { message: 'no' }, /"missingProperty":"error"/],
    ['another error of no shape', '/api/ci/runs/x', 503, { message: 'no' }, /"missingProperty":"error"/],
  ])('%s', async (_, path, code, body, wanted) => {
    const validator = await answering(code, body);
    const reply = await fetch(validator.url + path, { headers: key });
    expect(reply.status).toBe(code);
    expect(validator.violations.join('\n')).toMatch(wanted);
    expect(validator.violations.join('\n')).toContain('reply ');
  });

  it('a page without items, and with counts that are none', async () => {
    const validator = await answering(200, { totalCount: 'many', page: '1' });
    await fetch(`${validator.url}/api/environments`, { headers: token });
    expect(validator.violations.join()).toMatch(/items.*totalCount.*page/);
  });

  it('another media type', async () => {
    const validator = await answering(200, '{"state":"completed"}', { 'content-type': 'text/html' });
    await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(validator.violations.join()).toContain('reply 200: a body of the undeclared type "text/html"');
  });

  it('a limit header that is no number', async () => {
    const validator = await answering(429, { error: 'slow down' }, { ...json, 'ratelimit-remaining': 'few' });
    await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(validator.violations.join()).toMatch(/ratelimit-remaining must be integer/);
  });

  it.each<[string, number, unknown]>([
    ['a state that nobody knows', 200, { ...status, state: 'paused' }],
    ['an error', 404, { error: 'no such run', details: 'x' }],
    ['an error of another status', 503, { error: 'later' }],
  ])('but not %s', async (_, code, body) => {
    const validator = await answering(code, body);
    const reply = await fetch(`${validator.url}/api/ci/runs/x`, { headers: key });
    expect(await reply.json()).toEqual(body);
    expect(validator.violations).toEqual([]);
    expect(validator.replies).toEqual([JSON.stringify(body)]);
  });
});

it('a connection that breaks breaks here too, and is reported', async () => {
  const validator = await before((incoming) => incoming.socket.destroy());
  await expect(fetch(`${validator.url}/api/ci/runs/x`, { headers: key })).rejects.toThrow();
  expect(validator.violations).toEqual([expect.stringContaining('not passed on')]);
});

it('in front of the mock a run goes by unremarked, and the mock sees what was sent', async () => {
  const mock = await startMock();
  const validator = await startValidator(mock.url);
  closing.push(
    () => mock.close(),
    () => validator.close(),
  );
  const reply = await fetch(`${validator.url}/api/ci/runs`, post(run, { 'x-api-key': mock.apiKey }));
  expect(reply.status).toBe(201);
  expect(validator.violations).toEqual([]);
  expect(mock.requests.at(-1)).toMatchObject({ endpoint: 'run.trigger', body: JSON.stringify(run) });
});
