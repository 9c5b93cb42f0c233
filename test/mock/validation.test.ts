import { describe, expect, it } from 'vitest';
import { names, validRequest, validStatus } from './requests.ts';
import { startService } from './service.ts';

const errorBody = { error: expect.any(String), details: expect.any(String) };

async function asUser() {
  const service = await startService();
  const headers = { authorization: `Bearer ${service.mock.token}` };
  const json = { ...headers, 'content-type': 'application/json' };
  return { ...service, headers, json };
}

describe.each(names)('%s', (name) => {
  const { method, path, body } = validRequest(name);
  const send = async (target: string) => {
    const { call, json, mock } = await asUser();
    const headers = { ...json, 'x-api-key': mock.apiKey };
    return call(method, target, { headers, ...(body === undefined ? {} : { body }) });
  };

  it('returns a response that the API allows, or an error that names a missing item', async () => {
    const response = await send(path);
    expect(response.status).toBe(validStatus(name));
    expect(response.headers.get('content-type')).toBe('application/json');
    if (response.status === 404) expect(response.json()).toEqual(errorBody);
  });

  it('refuses unknown query parameters, unless the API allows any', async () => {
    const response = await send(`${path}?nonsense=1`);
    if (name === 'observations.search') expect(response.status).toBe(404);
    else expect([response.status, response.json().details]).toEqual([422, 'query.nonsense is unknown']);
  });
});

describe('the query', () => {
  it.each([
    ['/api/environments?pageSize=101', 422, 'query.pageSize must be a number of at most 100'],
    ['/api/environments?page=two', 422, 'query.page must be a number, not a string'],
    ['/api/environments?page=1&page=2', 422, 'query.page must be a number, not an array of 2'],
    ['/api/webhooks?includeGlobal=no', 422, 'query.includeGlobal must be a boolean, not a string'],
    ['/api/projects/shop/observations?status=open&createdAfter=2026-01-01T00:00:00Z', 200, undefined],
    ['/api/projects/shop/observations/search?q=a&limit=3', 200, undefined],
  ])('%s gets %i: %s', async (path, status, details) => {
    const { call, headers } = await asUser();
    const response = await call('GET', path, { headers });
    expect([response.status, response.json().details]).toEqual([
      status,
      details && expect.stringContaining(details),
    ]);
  });
});

describe('the body', () => {
  it.each([
    ['POST', '/api/settings/api-keys', '{"scopes":["ci:trigger"]}', 'body.name is missing (a string)'],
    [
      'PUT',
      '/api/environments/e',
      '{"mobileRuntimeOverrides":{"udid":1}}',
      'body.mobileRuntimeOverrides.udid must be a string, not 1',
    ],
    ['POST', '/api/webhooks/w/test', '"now"', 'body must be an object, not a string'],
    ['DELETE', '/api/webhooks/w', '{}', 'body: this endpoint takes no body'],
  ])('of %s %s cannot be %s: %s', async (method, path, body, details) => {
    const { call, json } = await asUser();
    const response = await call(method, path, { headers: json, body });
    expect([response.status, response.json().details]).toEqual([422, expect.stringContaining(details)]);
  });
});

describe('a request', () => {
  it.each([
    ['GET', '/api/nothing', 404, null],
    ['PATCH', '/api/environments/e', 405, 'DELETE, PUT'],
  ])('%s %s gets %i with an error body', async (method, path, status, allow) => {
    const { call } = await startService();
    const response = await call(method, path);
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    expect(response.json()).toEqual({ error: expect.any(String), details: expect.stringContaining(path) });
  });
});
