import { expect, test } from 'vitest';
import { searchEnvironments } from '../../src/client/environments.ts';
import { connect } from '../transport/connect.ts';
import { json, serve } from '../transport/serve.ts';

/** Starts a service whose lists have these pages, one list after the other, and searches it for the key `staging`. */
async function search(...lists: string[][][]) {
  const pages = lists.flatMap((list) =>
    list.map((keys, index) => ({
      items: keys.map((key) => ({ id: `id-${key}`, key })),
      totalCount: list.flat().length,
      hasNextPage: index < list.length - 1,
    })),
  );
  const server = await serve(({ index, response }) => json(response, 200, pages[index]));
  const found: (string | undefined)[] = [];
  const matches = ({ key }: { key: string | undefined }) => key === 'staging';
  for await (const environment of searchEnvironments(connect(server.url).caller, matches)) {
    if (matches(environment)) found.push(environment.id);
  }
  return { found, requests: server.seen.length };
}

test('reads a list of several pages once more before it says that no environment has a key', async () => {
  const moved = search([['a', 'b'], ['d']], [['b', 'staging'], ['d']]);
  expect(await moved).toEqual({ found: ['id-staging'], requests: 4 });
  const none = search([['a', 'b'], ['d']], [['a', 'b'], ['d']]);
  expect(await none).toEqual({ found: [], requests: 4 });
});

test('finds an environment, or none, in a list that others change all the time', async () => {
  let reads = 0;
  const listOf = async (...keys: string[]) => {
    const server = await serve(({ seen, response }) => {
      const page = Number(new URL(seen.url, 'http://x').searchParams.get('page'));
      reads += 1;
      // Each page says that one more was deleted.
      const totalCount = 1000 - reads;
      const items = (page === 1 ? ['a', `${reads}`] : keys).map((key) => ({ id: `id-${key}`, key }));
      json(response, 200, { items, totalCount, hasNextPage: page < 2 });
    });
    const found: (string | undefined)[] = [];
    const matches = ({ key }: { key: string | undefined }) => key === 'staging';
    for await (const environment of searchEnvironments(connect(server.url).caller, matches))
      if (matches(environment)) found.push(environment.id);
    return found;
  };
  expect(await listOf('b', 'staging')).toEqual(['id-staging']);
  expect(await listOf('b')).toEqual([]);
});
