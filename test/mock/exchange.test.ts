import { describe, expect, it } from 'vitest';
import { type Endpoint, pathParams } from '../../src/contract/endpoint.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { route } from '../../src/mock/exchange.ts';

const names = Object.keys(api) as EndpointName[];

/** Returns a request for an endpoint, with each parameter's own name as its value. */
function sample(name: EndpointName) {
  const { method, path }: Endpoint = api[name];
  const params = Object.fromEntries(pathParams(path).map((param) => [param, param]));
  return { method, path: path.replaceAll(/[{}]/g, ''), params };
}

describe('the router', () => {
  it.each(names)('finds %s, and nothing for similar paths', (name) => {
    const { method, path, params } = sample(name);
    expect(route(method, path)).toEqual({ name, params });
    for (const other of [`${path}/`, `${path}/nothing/here`, `/v1${path}`, path.slice(1), `${path}//`])
      expect([other, route(method, other)]).toMatchObject([other, { status: 404 }]);
  });

  it('decodes parameters after matching, so that an encoded slash stays inside its parameter', () => {
    expect(route('GET', '/api/ci/runs/a%2Fb%20%C3%A9')).toMatchObject({
      name: 'run.status',
      params: { runId: 'a/b é' },
    });
    expect(route('POST', '/api/ci/runs/a%2Fb/cancel')).toMatchObject({ params: { runId: 'a/b' } });
  });

  it('keeps dots in an order id', () => {
    expect(route('GET', '/api/orders/a.b.json')).toMatchObject({ name: 'orders.get', params: { id: 'a.b' } });
    expect(route('GET', '/api/orders/ajson')).toMatchObject({ status: 404 });
  });

  it('matches a parameter if the literal path does not have the method', () => {
    expect(route('PUT', '/api/environments/overview')).toMatchObject({
      name: 'env.update',
      params: { id: 'overview' },
    });
  });

  it('reports an invalid percent escape', () => {
    expect(route('GET', '/api/ci/runs/%zz')).toMatchObject({ status: 400 });
    expect(route('GET', '/api/ci/runs/%ff')).toMatchObject({ status: 400 });
  });
});
