import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { prepareRequest } from '../../src/client/request.ts';
import { parseResponse } from '../../src/client/response.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { HttpError, type RungateError, redactError, UnexpectedResponseError } from '../../src/errors.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { redactNothing, redactor } from '../../src/redact.ts';
import { connect, secrets, status } from '../transport/connect.ts';
import { json, serve } from '../transport/serve.ts';
import { rejection, thrown } from './rejection.ts';

const inputs: Partial<Record<EndpointName, object>> = {
  'run.status': { params: { runId: 'run_1' } },
  'run.cancel': { params: { runId: 'run_1' } },
  'orders.get': { params: { id: 'o' } },
  'observations.get': { params: { projectId: 'p', observationId: 'o' } },
  'env.delete': { params: { id: 'e' } },
  'keys.create': { body: { name: 'n' } },
  'run.trigger': { body: { projectSlug: 'p', tags: ['t'] }, idempotencyKey: 'k' },
};

function readWhole(
  name: EndpointName,
  text: string,
  response: { status?: number; headers?: Record<string, string>; check?: boolean } = {},
) {
  const redact = redactor(Object.values(secrets));
  const base = new URL('https://h.example');
  const request = prepareRequest(name, api[name], { params: {}, ...inputs[name] }, base, {
    ...secrets,
    nameOf: nameInCommands,
  });
  const { status = 200, headers = {}, check = true } = response;
  try {
    return parseResponse(
      request,
      api[name],
      { status, headers, text },
      { now: 0, check, redact: redactNothing, nameOf: nameInCommands },
    );
  } catch (error) {
    // As the caller does.
    throw redactError(error as RungateError, redact);
  }
}

const read = (...args: Parameters<typeof readWhole>) => readWhole(...args).value;

const broken = (name: EndpointName, text: string, response = {}) =>
  thrown(() => read(name, text, response), UnexpectedResponseError);
const refused = (code: number, text: string, headers = {}, name: EndpointName = 'run.status') =>
  thrown(() => read(name, text, { status: code, headers }), HttpError);

describe('a successful response', () => {
  test('is returned with its unknown fields', () => {
    const value = { state: 'in_progress', later: [1] };
    expect(read('run.status', JSON.stringify(value))).toEqual(value);
    expect(read('run.status', '{"state":"paused"}')).toEqual({ state: 'paused' });
  });

  test.each([
    ['{"state":"completed","blocked":0}', 'failed'],
    ['{"state":"completed","failed":0}', 'blocked'],
    ['{"state":"cancelled","failed":0,"blocked":null}', 'blocked'],
  ])('%s is refused: the status of an ended run must have %s', (text, field) => {
    expect(broken('run.status', text)).toMatchObject({ field });
    expect(read('run.status', text, { check: false })).toEqual(JSON.parse(text));
  });

  test.each<[EndpointName, string]>([
    ['run.status', ''],
    ['run.status', '{"state":'],
    ['run.status', '<!doctype html><title>Log in</title>'],
  ])('reports a response to %s as unreadable if it is not JSON: %j', (name, text) => {
    const error = broken(name, text);
    expect(error).toMatchObject({ unreadable: true, field: '', expected: 'JSON', status: 200 });
    expect(error.message).toMatch(/^the response to (GET|POST) .*\(200\) is not JSON: /);
    expect(error.message).not.toContain(name);
    expect(broken(name, text, { check: false }).unreadable).toBe(true);
  });

  test('describes an HTML page on one line and names the setting to check', () => {
    const error = broken('run.status', `<html><head><title>Log\n in</title></head>${'x'.repeat(5000)}`);
    expect(error.message).toBe(
      'the response to GET /api/ci/runs/run_1 (200) is not JSON: an HTML page, "Log in"',
    );
    expect(error.hint).toContain('RUNGATE_API_URL');
  });

  test.each(['identity', 'utf-8', 'gzip, br'])('may claim any content coding if it is JSON: %s', (coding) => {
    const headers = { 'content-encoding': coding };
    expect(read('run.status', '{"state":"in_progress"}', { headers })).toEqual({ state: 'in_progress' });
  });

  test('is unreadable if it has a content coding that was not decoded', () => {
    const error = broken('run.status', '(\ufffd/\ufffd', { headers: { 'content-encoding': 'zstd' } });
    expect(error.unreadable).toBe(true);
  });

  test.each([
    ['in the value', `${'['.repeat(501)}${']'.repeat(501)}`],
    ['under a duplicate name', `{"a":${'['.repeat(500)}${']'.repeat(500)},"a":1}`],
    ['in truncated text', '['.repeat(1001)],
  ])('is refused if it is nested too deeply: %s', (_, text) => {
    const error = broken('run.trigger', text, { check: false });
    expect(error).toMatchObject({ unreadable: false, expected: 'JSON at most 500 levels deep', status: 200 });
  });

  test('is returned unchecked if check is false', () => {
    expect(read('run.status', '{"state":7}', { check: false })).toEqual({ state: 7 });
  });
});

const order = { id: 'o', customer: 'c', total: 1, currency: 'EUR', placedAt: '2026-01-01T00:00:00Z' };
const page = {
  items: [],
  totalCount: 0,
  page: 1,
  pageSize: 20,
  totalPages: 0,
  hasNextPage: false,
  hasPreviousPage: false,
};

describe('names the endpoint, field, expected type and value of an unexpected response', () => {
  test.each<[EndpointName, unknown, string, string, string]>([
    ['run.status', { state: 7 }, 'state', 'a string', 'number 7'],
    ['run.status', null, '', 'an object', 'null'],
    [
      'run.status',
      { state: 'completed', failed: '2', blocked: 0 },
      'failed',
      'a whole number, 0 or more',
      'string "2"',
    ],
    ['orders.list', { data: [] }, 'orders', 'an array', 'nothing'],
    [
      'orders.summary',
      { orderCount: 1, totalRevenue: 1, totalRevenueDisplay: '1', tax: 3 },
      'tax',
      'no such field',
      'number 3',
    ],
    ['env.overview', 'none', '', 'an array or an object', 'string "none"'],
    ['keys.create', { apiKey: '' }, 'apiKey', 'a non-empty string', 'an empty string'],
  ])('%s %j', (name, value, field, expected, received) => {
    const error = broken(name, JSON.stringify(value));
    expect(error).toMatchObject({ field, expected, received, unreadable: false });
    for (const part of [api[name].method, field, expected, received === 'nothing' ? 'is missing' : received])
      expect(error.message).toContain(part);
  });
});

describe('returns the value and reports an invalid field that is optional or in a list item', () => {
  test.each<[EndpointName, unknown, string, string, string]>([
    ['run.status', { state: 'in_progress', failed: '2' }, 'failed', 'a number', 'string "2"'],
    [
      'orders.list',
      { orders: [order, order, { ...order, total: '12.50' }] },
      'orders[2].total',
      'a number',
      'string "12.50"',
    ],
    ['env.list', { ...page, items: [{ name: 5 }] }, 'items[0].name', 'a string', 'number 5'],
  ])('%s %j', (name, value, field, expected, received) => {
    const { value: given, mismatches } = readWhole(name, JSON.stringify(value));
    expect(given).toEqual(value);
    expect(mismatches).toEqual([expect.objectContaining({ field, expected, received })]);
  });
});

describe('an error says what happened, to what, and what to do', () => {
  test('contains the error body of the API', () => {
    const error = refused(400, '{"error":"invalid body","details":"tags is empty"}', {}, 'run.trigger');
    expect(error).toMatchObject({
      status: 400,
      code: 'http_error',
      error: 'invalid body',
      details: 'tags is empty',
    });
    expect(error.message).toBe(
      'the service refused the request (400) for POST /api/ci/runs: invalid body: tags is empty',
    );
  });

  test.each<[number, EndpointName, string, RegExp]>([
    [
      401,
      'run.status',
      'unauthorized',
      /^the service refused the API key \(401\).*: no check RUNGATE_API_KEY/,
    ],
    [
      401,
      'env.delete',
      'unauthorized',
      /^the service refused the bearer token \(401\).*: no check RUNGATE_TOKEN/,
    ],
    [403, 'run.status', 'forbidden', /the API key is not allowed to do this \(403\).*the scopes of the key/],
    [
      403,
      'env.delete',
      'forbidden',
      /the bearer token is not allowed to do this.*permissions of the account/,
    ],
    [429, 'run.status', 'rate_limited', /rate limit is reached \(429\).*wait a minute/],
    [503, 'run.status', 'http_error', /the service failed \(503\).*try again later/],
    [304, 'run.status', 'redirect', /responded with a redirect \(304\).*RUNGATE_API_URL/],
  ])('explains a %i of %s', (code, name, stable, text) => {
    const error = refused(code, '{"error":"no"}', {}, name);
    expect(error.code).toBe(stable);
    expect(`${error.message} ${error.hint}`).toMatch(text);
  });

  test.each([
    ['', ''],
    ['not\nallowed', ': not allowed'],
    ['<!DOCTYPE html><html><title>502 Bad\nGateway</title><body>…', ': an HTML page, "502 Bad Gateway"'],
    ['{"message":"other shape"}', ': other shape'],
    ['{"error":{"a":1}}', ': {"error":{"a":1}}'],
    ['x'.repeat(5000), `: ${'x'.repeat(200)}…`],
  ])('shows any other body on one line: %j', (text, end) => {
    expect(refused(502, text).message).toBe(`the service failed (502) for GET /api/ci/runs/run_1${end}`);
  });

  test.each(['x-request-id', 'x-correlation-id', 'cf-ray', 'traceparent'])(
    'contains the request id from %s',
    (header) => {
      expect(refused(500, '', { [header]: 'id-1' }).requestId).toBe('id-1');
    },
  );

  test('contains the wait that the service requests', () => {
    expect(refused(503, '', { 'retry-after': '3' }).retryAfterMs).toBe(3000);
  });
});

test('secrets never appear in an error, not even when the service echoes them', async () => {
  const echoes = [
    (key: string) => ({ status: 401, body: { error: `no such key ${key}`, details: `x-api-key: ${key}` } }),
    (key: string) => ({ status: 500, body: `<title>${key}</title>` }),
    (key: string) => ({ status: 200, body: key }),
    (key: string) => ({ status: 200, body: { state: { [key]: 1 } } }),
    (key: string) => ({ status: 200, body: { state: [key], [key]: 1 } }),
  ];
  for (const echo of echoes) {
    const { url } = await serve(({ seen, response }) => {
      const echoed = echo(String(seen.headers['x-api-key']));
      if (typeof echoed.body === 'string') response.writeHead(echoed.status).end(echoed.body);
      else json(response, echoed.status, echoed.body);
    });
    const { exchange, events } = connect(url);
    const error = await rejection(status(exchange), Error);
    const output = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + error.stack;
    expect(output + JSON.stringify(events)).not.toContain('hunter22');
  }
});
