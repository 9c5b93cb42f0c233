import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { idOf, itemsOf, startService } from './service.ts';

const path = '/api/projects/shop/observations';
const fields = {
  title: 'Basket: loses an item',
  description: 'After the second reload.',
  severity: 'high',
  discoveredInEnvironmentKey: 'staging',
  discoveredInEnvironmentVersion: '9.9.9',
  processRunId: 'run_1',
  createdByAgentTemplateId: 'agt_mine',
};

async function staged() {
  const service = await startService();
  const list = async (query = '') => itemsOf(await service.asUser('GET', `${path}?pageSize=100${query}`));
  const create = (body: unknown = fields) => service.asUser('POST', path, body);
  return { ...service, list, create };
}

describe('a created observation', () => {
  it('is open, first in the list, and readable by its id', async () => {
    const { create, list, asUser } = await staged();
    const response = await create({ ...fields, customField: [1] });
    const record = {
      ...fields,
      customField: [1],
      id: expect.stringMatching(/^obs_/),
      projectId: 'shop',
      status: 'open',
      ...{ supersededBy: null, ticketId: null, wikiPageId: null, attachments: [] },
      ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
    };
    expect([response.status, response.json()]).toEqual([201, record]);
    expect((await list())[0]).toEqual(response.json());
    expect((await asUser('GET', `${path}/${idOf(response)}`)).json()).toEqual(response.json());
    expect((await asUser('GET', path)).json().totalCount).toBe(231);
  });
});

describe('the list', () => {
  it.each([
    'status',
    'discoveredInEnvironmentKey',
    'discoveredInEnvironmentVersion',
    'processRunId',
    'createdByAgentTemplateId',
  ])('can be filtered by %s', async (name) => {
    const { mock, asUser } = await staged();
    const all = [...(mock.state.account.projects.get('shop')?.values() ?? [])].reverse() as unknown as Record<
      string,
      unknown
    >[];
    const value = all.find((one) => one[name] !== null)?.[name];
    const expected = all.filter((one) => one[name] === value);
    const response = await asUser('GET', `${path}?pageSize=100&${name}=${value}`);
    expect(response.json()).toMatchObject({ items: expected.slice(0, 100), totalCount: expected.length });
    expect((await asUser('GET', `${path}?${name}=nonsense`)).json()).toMatchObject({
      items: [],
      totalCount: 0,
    });
  });
});

describe('a search', () => {
  const search = '/api/projects/shop/observations/search';

  it('finds observations with every word in title or description, ignoring case', async () => {
    const { create, asUser } = await staged();
    const made = (await create({ title: 'Zoë’s BASKET', description: 'is empty at night' })).json();
    const found = async (q: string) => itemsOf(await asUser('GET', `${search}?q=${encodeURIComponent(q)}`));
    expect(await found('night basket ZOË')).toEqual([made]);
    expect(await found('Zoe\u0308')).toEqual([made]);
    expect(await found('night morning')).toEqual([]);
    expect((await found('apostrophe')).length).toBeGreaterThan(3);
  });
});

describe('an attachment', () => {
  const attach = async (body: FormData | Uint8Array | string, type?: string) => {
    const { mock, call, asUser, create } = await staged();
    const target = `${path}/${idOf(await create())}`;
    const headers = {
      authorization: `Bearer ${mock.token}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    };
    const response = await call('POST', `${target}/attachments`, { headers, body });
    return { response, after: (await asUser('GET', target)).json() };
  };

  it('can be a file, which is received whole', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
    const form = new FormData();
    form.set('file', new Blob([bytes], { type: 'image/png' }), 'screen ä.png');
    const { response, after } = await attach(form);
    const record = {
      id: expect.stringMatching(/^att_/),
      name: 'screen ä.png',
      type: 'image/png',
      size: 300,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      createdAt: '2026-01-01T00:00:00.000Z',
    };
    expect([response.status, response.json()]).toEqual([201, record]);
    expect(after.attachments).toEqual([response.json()]);
  });
});
