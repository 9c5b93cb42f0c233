import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kebab } from '../../../src/commands/endpoints/body-input.ts';
import type { EndpointName } from '../../../src/contract/index.ts';
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

describe.each([['env vars list env_8za03c7w12h3'], ['observations search shop login']])('%s', (line) => {
  const argv = line.split(' ');

  it('reads the page given by --page and --page-size', async () => {
    const all = idsOf(itemsOf((await on.rungate(...argv, '--json')).out));
    expect(all.length).toBeGreaterThan(1);
    const { code, out, err } = await on.rungate(...argv, '--page', '2', '--page-size', '1', '--json');
    expect({ code, ids: idsOf(itemsOf(out)) }).toEqual({ code: 0, ids: all.slice(1, 2) });
    if (all.length > 2) expect(err).toContain('add --page 3 for the next page, or --all');
    expect(on.mock.requests.at(-1)?.query).toMatchObject({ page: '2', pageSize: '1' });
  });
});

describe('the hint for the next page', () => {
  it.each([
    ['a count', [], { totalCount: 5 }, 'page 1; add --page 2 for the next page, or --all'],
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

  it.each(paged)('is reported for %s with the last page', async (name) => {
    const numbers = { page: 99, pageSize: 2, totalPages: 3, totalCount: 5 };
    for (const more of [[], ['--all'], ['--json']])
      expect(await empty(numbers, ['--page', '99', ...more], name)).toEqual({
        code: 0,
        err: 'page 99 is empty; the last page is 3\n',
      });
  });

  it.each([
    ['no numbers', {}, 'page 99 is empty\n'],
    ['no items', { totalPages: 1, totalCount: 0 }, 'nothing found\n'],
  ])('is distinguished from an empty list: %s', async (_name, numbers, message) => {
    expect(await empty(numbers, ['--page', '99'])).toEqual({ code: 0, err: message });
  });
});
