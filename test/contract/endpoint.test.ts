import { describe, expect, test } from 'vitest';
import { defineApi, type Endpoint, pathParams, reservedValues } from '../../src/contract/endpoint.ts';
import { anyResponse } from '../../src/contract/fields.ts';
import { api } from '../../src/contract/index.ts';

function endpoint(method: Endpoint['method'], path: Endpoint['path']): Endpoint {
  return { method, path, auth: 'key', summary: '', response: anyResponse };
}

describe('defineApi', () => {
  test('accepts one path with two methods', () => {
    const things = {
      'a.get': endpoint('GET', '/api/things/{id}'),
      'a.delete': endpoint('DELETE', '/api/things/{id}'),
    };
    expect(defineApi({}, things)).toMatchObject(things);
  });

  test('gives an endpoint the fields of its group that it does not set', () => {
    const group = { auth: 'jwt', response: anyResponse } as const;
    const own = { method: 'GET', path: '/api/things', summary: 'List things', auth: 'key' } as const;
    expect(defineApi(group, { 'a.list': own })['a.list']).toMatchObject({ ...group, ...own });
  });
});

describe('reservedValues', () => {
  test.each<[keyof typeof api, string[]]>([
    ['orders.get', ['summary']],
    ['observations.get', ['search']],
    ['run.status', []],
    ['env.update', []],
    ['env.list', []],
    ['webhooks.deliveries.get', []],
  ])('returns the reserved values of %s: %j', (name, values) =>
    expect(reservedValues(api, api[name])).toEqual(values),
  );
});

test('pathParams returns the parameters in path order', () => {
  expect(pathParams('/api/environments/{envId}/variables/{varId}')).toEqual(['envId', 'varId']);
  expect(pathParams('/api/orders/{id}.json')).toEqual(['id']);
  expect(pathParams('/api/orders.json')).toEqual([]);
});

test('every endpoint of the API has its own route', () => {
  const routes = Object.values(api).map(
    ({ method, path }) => `${method} ${path.replace(/\{[^{}]+\}/g, '{}')}`,
  );
  expect(new Set(routes).size).toBe(routes.length);
});

test('every endpoint has the reserved values that follow from the whole API', () => {
  for (const endpoint of Object.values<Endpoint>(api)) {
    expect(endpoint.reserved).toEqual(reservedValues(api, endpoint));
  }
});
