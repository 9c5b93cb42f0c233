import { describe, expect, test } from 'vitest';
import { defineApi, type Endpoint, pathParams, reservedValues } from '../../src/contract/endpoint.ts';
import { anyResponse } from '../../src/contract/fields.ts';
import { api } from '../../src/contract/index.ts';

function endpoint(method: Endpoint['method'], path: Endpoint['path']): Endpoint {
  return { method, path, auth: 'key', summary: '', section: '', response: anyResponse };
}

describe('defineApi', () => {
  test('refuses two endpoints with one method and path, whatever their parameters are called', () => {
    const define = () =>
      defineApi(
        {},
        {
          'a.get': endpoint('GET', '/api/things/{id}'),
          'b.get': endpoint('GET', '/api/things/{name}'),
        },
      );
    expect(define).toThrow('b.get and a.get are both GET /api/things/{}');
  });

  test('accepts one path with two methods', () => {
    const things = {
      'a.get': endpoint('GET', '/api/things/{id}'),
      'a.delete': endpoint('DELETE', '/api/things/{id}'),
    };
    expect(defineApi({}, things)).toMatchObject(things);
  });

  test('gives an endpoint what its group has and it has not', () => {
    const group = { auth: 'jwt', section: '4.2', response: anyResponse } as const;
    const own = { method: 'GET', path: '/api/things', summary: 'List things', auth: 'key' } as const;
    expect(defineApi(group, { 'a.list': own })['a.list']).toMatchObject({ ...group, ...own });
  });

  test('holds the 37 endpoints of the interface', () => expect(Object.keys(api)).toHaveLength(37));
});

describe('reservedValues', () => {
  test.each<[keyof typeof api, string[]]>([
    ['orders.get', ['summary']],
    ['observations.get', ['search']],
    ['run.status', []],
    ['env.update', []],
    ['env.list', []],
    ['webhooks.deliveries.get', []],
  ])('of %s are %j', (name, values) => expect(reservedValues(api, api[name])).toEqual(values));

  test('are those of the same method', () => {
    const things = {
      'a.get': endpoint('GET', '/api/things/{id}'),
      'a.overview': endpoint('GET', '/api/things/overview'),
      'a.reset': endpoint('POST', '/api/things/reset'),
    };
    expect(reservedValues(things, things['a.get'])).toEqual(['overview']);
  });
});

test('pathParams are in path order', () => {
  expect(pathParams('/api/environments/{envId}/variables/{varId}')).toEqual(['envId', 'varId']);
  expect(pathParams('/api/orders/{id}.json')).toEqual(['id']);
  expect(pathParams('/api/orders.json')).toEqual([]);
});

test('every endpoint of the interface has a route of its own', () => {
  const routes = Object.values(api).map(
    ({ method, path }) => `${method} ${path.replace(/\{[^{}]+\}/g, '{}')}`,
  );
  expect(new Set(routes).size).toBe(routes.length);
});

test('what a resource knows of its reserved values is all that the whole interface knows', () => {
  for (const endpoint of Object.values<Endpoint>(api)) {
    expect(endpoint.reserved).toEqual(reservedValues(api, endpoint));
  }
});
