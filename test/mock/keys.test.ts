import { describe, expect, it } from 'vitest';
import { byProcess, idOf, startService } from './service.ts';

const path = '/api/settings/api-keys';

async function keyService() {
  const service = await startService();
  const create = async (body: unknown) => service.asUser('POST', path, body);
  const triggerWith = (apiKey: unknown) =>
    service.post('/api/ci/runs', byProcess, { 'x-api-key': String(apiKey) });
  return { ...service, create, triggerWith };
}

describe('a created key', () => {
  it('is shown in full only in this response', async () => {
    const { create, clock } = await keyService();
    clock.advance(1000);
    const response = await create({ name: 'Nightly', scopes: ['ci:trigger', 'ci:status', 'ci:trigger'] });
    expect([response.status, response.json()]).toEqual([
      201,
      {
        id: expect.stringMatching(/^key_/),
        name: 'Nightly',
        scopes: ['ci:trigger', 'ci:status'],
        apiKey: expect.stringMatching(/^rg_[0-9A-Za-z]{40}$/),
        createdAt: '2026-01-01T00:00:01.000Z',
      },
    ]);
  });

  it.each([
    ['ci:trigger', 'POST', '/api/ci/runs'],
    ['ci:status', 'GET', '/api/ci/runs/RUN'],
    ['ci:cancel', 'POST', '/api/ci/runs/RUN/cancel'],
  ])(
    'gets 403 with the name of the missing scope %s from %s %s, and succeeds with it',
    async (scope, method, to) => {
      const { call, trigger, create } = await keyService();
      const run = await trigger();
      const body = to === '/api/ci/runs' ? { body: JSON.stringify(byProcess) } : {};
      const send = async (scopes: string[]) => {
        const { apiKey } = (await create({ name: 'a', scopes })).json();
        const headers = { 'x-api-key': String(apiKey), 'content-type': 'application/json' };
        return call(method, to.replace('RUN', run), { headers, ...body });
      };
      const refused = await send(['ci:trigger', 'ci:status', 'ci:cancel'].filter((one) => one !== scope));
      expect([refused.status, refused.json()]).toEqual([
        403,
        { error: 'Forbidden', details: expect.stringContaining(`needs the scope ${scope};`) },
      ]);
      expect((await send([scope])).status).toBeLessThan(300);
    },
  );
});

describe('a deleted key', () => {
  it('stops working immediately and no longer exists', async () => {
    const { create, asUser, triggerWith } = await keyService();
    const created = await create({ name: 'a' });
    const target = `${path}/${idOf(created)}`;
    const response = await asUser('DELETE', target);
    expect([response.status, response.text]).toEqual([204, '']);
    expect((await triggerWith(created.json().apiKey)).status).toBe(401);
    expect((await asUser('DELETE', target)).status).toBe(404);
  });
});
