import { describe, expect, it } from 'vitest';
import { idOf, itemsOf, type Service, startService } from './service.ts';

const path = '/api/environments';

async function all(service: Service, token?: string): Promise<Record<string, unknown>[]> {
  return itemsOf(await service.asUser('GET', `${path}?pageSize=100`, undefined, token));
}

const shown = {
  name: 'Night build',
  key: 'night',
  baseUrl: 'https://night.example.test',
  providerModel: 'small-3',
  version: '2.1',
  mobileRuntimeOverrides: { deviceName: 'Pixel 8', udid: 'x' },
};

describe('the overview', () => {
  it('has a summary of every environment', async () => {
    const { asUser } = await startService();
    const list = (await asUser('GET', `${path}/overview`)).json() as unknown as Record<string, unknown>[];
    expect(list).toHaveLength(47);
    expect(list[0]).toEqual({
      id: expect.stringMatching(/^env_/),
      name: 'Staging',
      key: 'staging',
      baseUrl: 'https://staging.shop.example.test',
      version: expect.stringMatching(/^2\.\d+\.\d+$/),
      variableCount: expect.any(Number),
    });
  });
});

describe('a created environment', () => {
  it('has every field of the API, an id, and the unknown fields of the request', async () => {
    const service = await startService();
    const response = await service.asUser('POST', path, { ...shown, vendorModel: 'm', id: 'mine' });
    const created = {
      ...shown,
      id: expect.stringMatching(/^env_/),
      vendorModel: 'm',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    expect([response.status, response.json()]).toEqual([201, created]);
    expect((await all(service)).at(-1)).toEqual(created);
  });

  it.each([
    [{ name: 'Überprüfung Nr. 2' }, { name: 'Überprüfung Nr. 2', key: 'uberprufung-nr-2' }],
    [{ key: 'k' }, { name: 'k', key: 'k' }],
  ])('gets a missing name or key: %j becomes %j', async (body, made) => {
    const { asUser } = await startService();
    expect((await asUser('POST', path, body)).json()).toMatchObject(made);
  });
});

describe('a changed environment', () => {
  it('has the new fields and keeps the others', async () => {
    const service = await startService();
    const before = idOf(await service.asUser('POST', path, { ...shown, vendorModel: 'm' }));
    service.clock.advance(60_000);
    const response = await service.asUser('PUT', `${path}/${before}`, {
      version: '2.2',
      vendorModel: 'n',
      id: 'mine',
    });
    const changed = {
      ...shown,
      id: before,
      version: '2.2',
      vendorModel: 'n',
      updatedAt: '2026-01-01T00:01:00.000Z',
    };
    expect([response.status, response.json()]).toMatchObject([200, changed]);
    expect((await all(service)).at(-1)).toEqual(response.json());
  });
});

describe('a deleted environment', () => {
  it('no longer exists, nor do its variables, and its key is free', async () => {
    const service = await startService();
    const { asUser } = service;
    const id = idOf(await asUser('POST', path, shown));
    const response = await asUser('DELETE', `${path}/${id}`);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await all(service)).toHaveLength(47);
    expect((await asUser('DELETE', `${path}/${id}`)).status).toBe(404);
    expect((await asUser('PUT', `${path}/${id}`, {})).status).toBe(404);
    expect((await asUser('GET', `${path}/${id}/variables`)).status).toBe(404);
    expect((await asUser('POST', path, shown)).status).toBe(201);
  });
});

describe('a variable of an environment', () => {
  const variable = { name: 'LOCALE', value: 'de-DE' };
  const staged = async () => {
    const service = await startService();
    const variables = `${path}/${idOf(await service.asUser('POST', path, shown))}/variables`;
    const list = async () =>
      (await service.asUser('GET', variables)).json() as unknown as Record<string, unknown>[];
    return { ...service, variables, list };
  };

  it('can be created, listed, changed and deleted', async () => {
    const { asUser, variables, list, clock } = await staged();
    expect(await list()).toEqual([]);
    const created = await asUser('POST', variables, variable);
    const record = { id: idOf(created), ...variable, secret: false };
    expect([created.status, created.json()]).toMatchObject([201, record]);
    expect(await list()).toEqual([created.json()]);
    clock.advance(1000);
    const changed = await asUser('PUT', `${variables}/${record.id}`, { value: 'fr-FR' });
    expect(changed.json()).toMatchObject({
      ...record,
      value: 'fr-FR',
      updatedAt: '2026-01-01T00:00:01.000Z',
    });
    expect((await asUser('DELETE', `${variables}/${record.id}`)).status).toBe(204);
    expect((await asUser('DELETE', `${variables}/${record.id}`)).status).toBe(404);
    expect(await list()).toEqual([]);
  });

  it('is masked if it is secret, in every response, and stored in full', async () => {
    const { mock, asUser, variables, list } = await staged();
    const secret = { name: 'PASSWORD', value: 'hunter2', secret: true };
    const created = await asUser('POST', variables, secret);
    const changed = await asUser('PUT', `${variables}/${idOf(created)}`, { value: 'hunter3' });
    for (const text of [created.text, changed.text, JSON.stringify(await list())]) {
      expect(text).toContain('"value":"********"');
      expect(text).not.toContain('hunter');
    }
    const environments = [...mock.state.account.environments.values()];
    expect(environments.at(-1)?.variables.get(idOf(created))?.value).toBe('hunter3');
    const opened = await asUser('PUT', `${variables}/${idOf(created)}`, { secret: false });
    expect(opened.json()).toMatchObject({ value: 'hunter3', secret: false });
  });
});
