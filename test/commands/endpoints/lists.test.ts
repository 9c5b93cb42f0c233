import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kebab } from '../../../src/commands/endpoints/body-input.ts';
import type { EndpointName } from '../../../src/contract/index.ts';
import { createClient, type ServiceClient } from '../../../src/index.ts';
import { cli, type Stage, stage } from '../../cli/harness.ts';
import { argvOf, endpointOf, lists, sampleItem } from '../../reliability/odd-scene.ts';
import { json, serve } from '../../transport/serve.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

type Item = { id: string };
const itemsOf = (out: string): Item[] => {
  const list = JSON.parse(out);
  return list.items ?? list;
};
const idsOf = (items: readonly unknown[]) => items.map((item) => (item as Item).id);

describe.each<[string, string[], (client: ServiceClient, query: object) => Promise<{ items: unknown[] }>]>([
  [
    'env vars list',
    ['env', 'vars', 'list', 'env_8za03c7w12h3'],
    (client, query) => client.env.vars.list('env_8za03c7w12h3', query),
  ],
  [
    'webhooks deliveries list',
    ['webhooks', 'deliveries', 'list', 'wh_3abhx3vn1zef'],
    (client, query) => client.webhooks.deliveries.list('wh_3abhx3vn1zef', query),
  ],
  [
    'observations search',
    ['observations', 'search', 'shop', 'login'],
    (client, query) => client.observations.search('shop', { q: 'login', ...query }),
  ],
])('%s', (_, argv, call) => {
  it('reads the page given by --page and --page-size', async () => {
    const all = idsOf(itemsOf((await on.rungate(...argv, '--json')).out));
    expect(all.length).toBeGreaterThan(1);
    const { code, out, err } = await on.rungate(...argv, '--page', '2', '--page-size', '1', '--json');
    expect({ code, ids: idsOf(itemsOf(out)) }).toEqual({ code: 0, ids: all.slice(1, 2) });
    if (all.length > 2) expect(err).toContain('add --page 3 for the next page, or --all');
    expect(on.mock.requests.at(-1)?.query).toMatchObject({ page: '2', pageSize: '1' });
  });

  it('reads every page with --all', async () => {
    const all = idsOf(itemsOf((await on.rungate(...argv, '--json')).out));
    const { code, out } = await on.rungate(...argv, '--all', '--page-size', '1', '--json');
    expect(code).toBe(0);
    expect(
      idsOf(
        out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ),
    ).toEqual(all);
  });

  it('accepts the same options in the library', async () => {
    const client = createClient({ apiUrl: on.mock.url, token: on.mock.token });
    const all = await call(client, {});
    const second = await call(client, { page: 2, pageSize: 1 });
    expect(idsOf(second.items)).toEqual(idsOf(all.items).slice(1, 2));
    expect(second).toMatchObject({ page: 2, hasPreviousPage: true });
    await client.close();
  });
});

it('client.env.vars.list.all yields the variables of every page', async () => {
  const client = createClient({ apiUrl: on.mock.url, token: on.mock.token });
  const { items } = await client.env.vars.list('env_8za03c7w12h3');
  const all: unknown[] = [];
  for await (const one of client.env.vars.list.all('env_8za03c7w12h3', { pageSize: 1 })) all.push(one);
  expect(all).toEqual(items);
  await client.close();
});

it('--query also sets a parameter that has its own option', async () => {
  const { code } = await on.rungate(
    'observations',
    'search',
    'shop',
    'login',
    '--query',
    'page=2',
    '--query',
    'pageSize=1',
  );
  expect(code).toBe(0);
  expect(on.mock.requests.at(-1)?.query).toEqual({ q: 'login', page: '2', pageSize: '1' });
});

describe('the hint for the next page', () => {
  it.each([
    ['a count', [], { totalCount: 5 }, 'page 1; add --page 2 for the next page, or --all'],
    ['a number of pages', ['--page', '2'], { totalPages: 3 }, 'page 2 of 3; add --page 3 for the next page'],
    ['a count that the page reaches', ['--page', '3', '--page-size', '2'], { totalCount: 5 }, ''],
  ])('is right for %s', async (_, argv, numbers, hint) => {
    const { url } = await serve(({ response }) => json(response, 200, { items: [{ id: 'e1' }], ...numbers }));
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-1' };
    const { code, err } = await cli(['env', 'list', ...argv], { env });
    expect(code).toBe(0);
    if (hint === '') expect(err).toBe('');
    else expect(err).toContain(hint);
  });

  it.each(lists)('names only options that the command has: %s', async (name) => {
    const { url, seen } = await serve(({ response }) =>
      json(response, 200, { items: [sampleItem(name)], page: 1, totalPages: 3 }),
    );
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-1' };
    const { err } = await cli(argvOf(name), { env });
    const { out: help } = await cli([...name.split('.').map(kebab), '--help']);
    expect(err).toContain('page 1 of 3; ');
    const options = err.match(/--[a-z-]+/g) ?? [];
    expect(options.filter((option) => !help.includes(option))).toEqual([]);
    if (endpointOf(name).paged) return expect(options.slice(0, 2)).toEqual(['--page', '--all']);
    // The suggested command works unchanged.
    const [, line = ''] = /rungate (api GET .+)$/m.exec(err) ?? [];
    await cli(line.replaceAll('"', '').split(' '), { env });
    expect(seen.at(-1)?.url).toBe(`${endpointOf(name).path}?page=2`);
  });
});

describe('a page beyond the last', () => {
  const paged = lists.filter((name) => endpointOf(name).paged);
  const empty = async (response: object, argv: readonly string[], name: EndpointName = 'env.list') => {
    const { url } = await serve((scene) => json(scene.response, 200, { items: [], ...response }));
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-1' };
    const { code, err } = await cli([...argvOf(name), ...argv], { env });
    return { code, err };
  };

  it.each(paged)('is reported for %s with the number of pages', async (name) => {
    const numbers = { page: 99, pageSize: 2, totalPages: 3, totalCount: 5 };
    for (const argv of [
      ['--page', '99'],
      ['--page', '99', '--all'],
      ['--page', '99', '--json'],
    ])
      expect(await empty(numbers, argv, name)).toEqual({
        code: 0,
        err: 'page 99 is beyond the last page: the list has 3 pages\n',
      });
  });

  it.each([
    ['one page', { totalPages: 1 }, 'page 99 is beyond the last page: the list has 1 page\n'],
    ['a count alone', { totalCount: 5 }, 'page 99 is beyond the last page: the list has 5 items\n'],
    ['a count of one', { totalCount: 1 }, 'page 99 is beyond the last page: the list has 1 item\n'],
    ['no numbers', {}, 'page 99 is empty: it may be beyond the last page\n'],
    ['more pages', { totalPages: 120 }, 'page 99 is empty\n'],
    ['no pages', { totalPages: 0, totalCount: 0 }, 'nothing found\n'],
    ['no items', { totalPages: 1, totalCount: 0 }, 'nothing found\n'],
  ])('is distinguished from an empty list: %s', async (_name, numbers, message) => {
    expect(await empty(numbers, ['--page', '99'])).toEqual({ code: 0, err: message });
  });

  it('is reported if the response has no body', async () => {
    const { url } = await serve(({ response }) => response.writeHead(204).end());
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-1' };
    expect((await cli(['env', 'list', '--page', '2'], { env })).err).toMatch(/^page 2 is empty/);
    expect((await cli(['env', 'list'], { env })).err).toBe('nothing found\n');
  });
});
