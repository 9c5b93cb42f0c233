import { describe, expect, it } from 'vitest';
import type { Endpoint, Method } from '../../src/contract/endpoint.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { route } from '../../src/mock/exchange.ts';

/** The endpoints of the API, written out, with a value for each parameter. */
const table: readonly [EndpointName, Method, string, Record<string, string>, allow: string][] = [
  ['orders.list', 'GET', '/api/orders.json', {}, 'GET'],
  ['orders.summary', 'GET', '/api/orders/summary.json', {}, 'GET'],
  ['orders.get', 'GET', '/api/orders/o1.json', { id: 'o1' }, 'GET'],
  ['keys.create', 'POST', '/api/settings/api-keys', {}, 'POST'],
  ['keys.delete', 'DELETE', '/api/settings/api-keys/k1', { id: 'k1' }, 'DELETE'],
  ['run.trigger', 'POST', '/api/ci/runs', {}, 'POST'],
  ['run.status', 'GET', '/api/ci/runs/r1', { runId: 'r1' }, 'GET'],
  ['run.cancel', 'POST', '/api/ci/runs/r1/cancel', { runId: 'r1' }, 'POST'],
  ['env.overview', 'GET', '/api/environments/overview', {}, 'DELETE, GET, PUT'],
  ['env.list', 'GET', '/api/environments', {}, 'GET, POST'],
  ['env.create', 'POST', '/api/environments', {}, 'GET, POST'],
  ['env.update', 'PUT', '/api/environments/e1', { id: 'e1' }, 'DELETE, PUT'],
  ['env.delete', 'DELETE', '/api/environments/e1', { id: 'e1' }, 'DELETE, PUT'],
  ['env.vars.list', 'GET', '/api/environments/e1/variables', { id: 'e1' }, 'GET, POST'],
  ['env.vars.create', 'POST', '/api/environments/e1/variables', { id: 'e1' }, 'GET, POST'],
  [
    'env.vars.update',
    'PUT',
    '/api/environments/e1/variables/v1',
    { envId: 'e1', varId: 'v1' },
    'DELETE, PUT',
  ],
  [
    'env.vars.delete',
    'DELETE',
    '/api/environments/e1/variables/v1',
    { envId: 'e1', varId: 'v1' },
    'DELETE, PUT',
  ],
  ['observations.list', 'GET', '/api/projects/p1/observations', { projectId: 'p1' }, 'GET, POST'],
  ['observations.create', 'POST', '/api/projects/p1/observations', { projectId: 'p1' }, 'GET, POST'],
  ['observations.search', 'GET', '/api/projects/p1/observations/search', { projectId: 'p1' }, 'GET, PUT'],
  ['observations.get', 'GET', '/api/projects/p1/observations/o1', observation(), 'GET, PUT'],
  ['observations.update', 'PUT', '/api/projects/p1/observations/o1', observation(), 'GET, PUT'],
  ['observations.attach', 'POST', '/api/projects/p1/observations/o1/attachments', observation(), 'POST'],
  ['observations.confirm', 'POST', '/api/projects/p1/observations/o1/confirm', observation(), 'POST'],
  ['observations.archive', 'POST', '/api/projects/p1/observations/o1/archive', observation(), 'POST'],
  ['observations.supersede', 'POST', '/api/projects/p1/observations/o1/supersede', observation(), 'POST'],
  [
    'observations.promoteToTicket',
    'POST',
    '/api/projects/p1/observations/o1/promote-to-ticket',
    observation(),
    'POST',
  ],
  [
    'observations.promoteToWiki',
    'POST',
    '/api/projects/p1/observations/o1/promote-to-wiki',
    observation(),
    'POST',
  ],
  ['webhooks.eventTypes', 'GET', '/api/webhooks/event-types', {}, 'DELETE, GET'],
  ['webhooks.list', 'GET', '/api/webhooks', {}, 'GET, POST'],
  ['webhooks.create', 'POST', '/api/webhooks', {}, 'GET, POST'],
  ['webhooks.delete', 'DELETE', '/api/webhooks/w1', { id: 'w1' }, 'DELETE'],
  ['webhooks.rotateSecret', 'POST', '/api/webhooks/w1/secret/rotate', { id: 'w1' }, 'POST'],
  ['webhooks.test', 'POST', '/api/webhooks/w1/test', { id: 'w1' }, 'POST'],
  ['webhooks.deliveries.list', 'GET', '/api/webhooks/w1/deliveries', { id: 'w1' }, 'GET'],
  ['webhooks.deliveries.get', 'GET', '/api/webhooks/w1/deliveries/d1', { id: 'w1', deliveryId: 'd1' }, 'GET'],
  [
    'webhooks.deliveries.retry',
    'POST',
    '/api/webhooks/w1/deliveries/d1/retry',
    { id: 'w1', deliveryId: 'd1' },
    'POST',
  ],
];

function observation() {
  return { projectId: 'p1', observationId: 'o1' };
}

describe('the router', () => {
  it('has each endpoint in this table', () => {
    expect(table.map(([name]) => name).sort()).toEqual(Object.keys(api).sort());
    for (const [name, method] of table) expect((api[name] as Endpoint).method).toBe(method);
  });

  it.each(table)('finds %s by %s %s', (name, method, path, params) => {
    expect(route(method, path)).toEqual({ kind: 'endpoint', name, params });
  });

  it.each(table)('lists the allowed methods of the path of %s', (_name, _method, path, _params, allow) => {
    const refused = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'].filter(
      (method) => !allow.split(', ').includes(method),
    );
    expect(refused.length).toBeGreaterThanOrEqual(4);
    for (const method of refused) {
      expect([method, route(method, path)]).toEqual([method, { kind: 'method', allow: allow.split(', ') }]);
    }
  });

  it.each(table)('finds no endpoint for paths similar to that of %s', (_name, method, path) => {
    for (const other of [`${path}/`, `${path}/nothing/here`, `/v1${path}`, path.slice(1), `${path}//`]) {
      expect([other, route(method, other)]).toEqual([other, { kind: 'unknown' }]);
    }
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
    expect(route('GET', '/api/orders/ajson')).toEqual({ kind: 'unknown' });
  });

  it('matches a parameter if the literal path does not have the method', () => {
    expect(route('PUT', '/api/environments/overview')).toMatchObject({
      name: 'env.update',
      params: { id: 'overview' },
    });
  });

  it('reports an invalid percent escape', () => {
    expect(route('GET', '/api/ci/runs/%zz')).toEqual({ kind: 'malformed' });
    expect(route('GET', '/api/ci/runs/%ff')).toEqual({ kind: 'malformed' });
  });
});
