import { describe, expect, it } from 'vitest';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { names, validRequest, validStatus } from './requests.ts';
import { type Service, startService } from './service.ts';

async function statusWith(service: Service, name: EndpointName, headers: Record<string, string>) {
  const { method, path, body } = validRequest(name);
  const response = await service.call(method, path, {
    headers: { 'content-type': 'application/json', 'x-api-key': '', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  if (response.status >= 400) expect(response.json()).toMatchObject({ error: expect.any(String) });
  return response;
}

describe.each(names)('%s', (name) => {
  const { auth } = api[name];

  it(`accepts the required credential (${auth}) and no other`, async () => {
    const service = await startService();
    const { apiKey, token } = service.mock;
    const key = { 'x-api-key': apiKey };
    const bearer = { authorization: `Bearer ${token}` };
    const past = validStatus(name);
    const byKey = auth === 'key' || auth === 'either' ? past : auth === 'jwt' ? 403 : 401;
    const byToken = auth === 'key' ? 401 : past;

    const rows: [string, Record<string, string>, number][] = [
      ['a key', key, byKey],
      ['a token', bearer, byToken],
      ['both', { ...key, ...bearer }, past],
      ['an unknown key', { 'x-api-key': 'rg_wrong' }, 401],
      ['an unknown token', { authorization: 'Bearer a.b.c' }, 401],
      ['a key sent as a token', { authorization: `Bearer ${apiKey}` }, 401],
      ['a token sent as a key', { 'x-api-key': token }, 401],
      ['another scheme', { authorization: `Basic ${token}` }, 401],
    ];
    const seen: [string, number][] = [];
    for (const [what, headers] of rows) {
      // Remove what the previous request created, so that it does not affect the next one.
      service.mock.state.account.environments.clear();
      seen.push([what, (await statusWith(service, name, headers)).status]);
    }
    expect(seen).toEqual(rows.map(([what, , status]) => [what, status]));
  });

  it('names the required credential in the 401 for a request without one', async () => {
    const service = await startService();
    const { method, path } = validRequest(name);
    const response = await fetch(service.mock.url + path, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(auth === 'key' ? /^ApiKey / : /^Bearer /);
    const { details } = (await response.json()) as { details: string };
    expect(details).toContain('the request has no credential');
    expect(details).toContain(auth === 'key' ? 'X-API-Key' : 'Authorization: Bearer');
  });
});

describe('authentication', () => {
  it('precedes validation: an invalid body without a credential gets 401', async () => {
    const { call } = await startService();
    expect((await call('POST', '/api/ci/runs', { headers: { 'x-api-key': 'no' }, body: '{' })).status).toBe(
      401,
    );
    expect((await call('POST', '/api/ci/runs', { body: '{' })).status).toBe(422);
  });
});
