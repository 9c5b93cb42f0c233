import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { Page } from '../../src/client/list.ts';
import { type FetchPage, iteratePages } from '../../src/client/pages.ts';
import { ContractError, HttpError, UsageError } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit.ts';
import { fakeClock } from '../fake-clock.ts';
import { secrets } from '../transport/connect.ts';
import { json, serve } from '../transport/serve.ts';
import { turns } from '../until.ts';
import { rejection } from './rejection.ts';

interface Numbers {
  totalCount?: number;
  page?: number;
  pageSize?: number;
  totalPages?: number;
  hasNextPage?: boolean;
}

/** Items `from` to `to` of a list. */
const records = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => ({ id: `o${from + index}` }));

/** Page `page` of a list of so many items, as an honest server gives it. */
function honest(page: number, totalCount: number, pageSize = 2, but: Numbers = {}) {
  const totalPages = Math.ceil(totalCount / pageSize);
  const items = records((page - 1) * pageSize + 1, Math.min(page * pageSize, totalCount));
  return { items, totalCount, page, pageSize, totalPages, hasNextPage: page < totalPages, ...but };
}

interface Reading {
  ids: string[];
  asked: number[];
  error: unknown;
}

const request = () => 'GET /api/environments';

/** Reads a list to its end, whatever the end is. */
async function readAll(fetchPage: (page: number) => Page, start = 1): Promise<Reading> {
  const reading: Reading = { ids: [], asked: [], error: undefined };
  const fetch: FetchPage<Page> = async (page) => {
    reading.asked.push(page);
    return fetchPage(page);
  };
  try {
    for await (const { items } of iteratePages(fetch, { request, asked: { page: start } })) {
      reading.ids.push(...items.map((item) => (item as { id: string }).id));
    }
  } catch (error) {
    reading.error = error;
  }
  return reading;
}

const ids = (from: number, to: number) => records(from, to).map(({ id }) => id);

describe('the pages of a list', () => {
  test('come in order, each asked for once', async () => {
    const reading = await readAll((page) => honest(page, 5));
    expect(reading).toEqual({ ids: ids(1, 5), asked: [1, 2, 3], error: undefined });
  });

  test('begin where the caller says', async () => {
    expect(await readAll((page) => honest(page, 5), 2)).toMatchObject({ ids: ids(3, 5), asked: [2, 3] });
    expect(await readAll((page) => honest(page, 5), 9)).toEqual({ ids: [], asked: [9], error: undefined });
  });

  test('are read one ahead of the consumer, and no more', async () => {
    const asked: number[] = [];
    const pages = iteratePages(
      async (page) => {
        asked.push(page);
        return honest(page, 9);
      },
      { request },
    );
    for (const expected of [
      [1, 2],
      [1, 2, 3],
      [1, 2, 3, 4],
    ]) {
      await pages.next();
      await turns();
      expect(asked).toEqual(expected);
    }
    await pages.return();
  });

  test('are read no further when the consumer leaves, and what was under way is ended', async () => {
    const ended: number[] = [];
    const asked: number[] = [];
    const fetchPage: FetchPage<Page> = (page, signal) => {
      asked.push(page);
      if (page === 1) return Promise.resolve(honest(1, 9));
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(page);
          reject(signal.reason);
        });
      });
    };
    for await (const page of iteratePages(fetchPage, { request })) {
      expect(page.page).toBe(1);
      break;
    }
    expect({ asked, ended }).toEqual({ asked: [1, 2], ended: [2] });
  });

  test('that fail ahead of the consumer are no unhandled rejection, and told in their turn', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => {
      process.off('unhandledRejection', note);
    });
    const fail = (page: number): Page => {
      if (page === 2) throw new HttpError('gone', { status: 500 });
      return honest(page, 9);
    };
    const pages = iteratePages(async (page) => fail(page), { request });
    expect((await pages.next()).value).toMatchObject({ page: 1 });
    await turns();
    await rejection(pages.next(), HttpError);
    const left = iteratePages(async (page) => fail(page), { request });
    await left.next();
    await left.return();
    await turns();
    expect(unhandled).toEqual([]);
  });

  test('may grow while they are read: what is pushed on comes, once more even, and is no fault', async () => {
    // Before every page but the first, two items come in front: page n + 1 is then what page n was.
    const grown = await readAll((page) => ({
      ...honest(page, 4 + 2 * Math.min(page - 1, 2)),
      items: page <= 3 ? records(1, 2) : records(3, 4),
    }));
    expect(grown).toEqual({
      ids: [...ids(1, 2), ...ids(1, 2), ...ids(1, 2), ...ids(3, 4)],
      asked: [1, 2, 3, 4],
      error: undefined,
    });
  });

  test('may shrink while they are read, also to less than was read already', async () => {
    const shrunk = await readAll((page) => honest(page, page === 1 ? 8 : 3));
    expect(shrunk).toMatchObject({ ids: ids(1, 3), error: undefined });
    const emptied = await readAll((page) => honest(page, page < 3 ? 8 : 1));
    expect(emptied).toMatchObject({ ids: ids(1, 4), error: undefined });
  });

  test('may have numbers as ids that JSON.parse rounds to one', async () => {
    const name = (page: number, at: number) => `${page}-${at}`;
    const same = await readAll((page) => ({
      ...honest(page, 4),
      items: [1, 2].map((at) => ({ id: 2 ** 60, name: name(page, at) })),
    }));
    expect(same).toMatchObject({ asked: [1, 2], error: undefined });
  });

  test('may have been counted a moment after they were made', async () => {
    const counted = await readAll((page) => honest(page, 4, 2, page === 2 ? { totalCount: 5 } : {}));
    expect(counted).toMatchObject({ ids: ids(1, 4), error: undefined });
  });

  test('may show a last page by its own size, and an empty one by the usual size', async () => {
    const last = await readAll((page) => honest(page, 5, 2, page === 3 ? { pageSize: 1 } : {}));
    expect(last).toMatchObject({ ids: ids(1, 5), error: undefined });
    const gone = await readAll((page) =>
      page === 1 ? honest(1, 4) : honest(2, 0, 2, { pageSize: 20, hasNextPage: false }),
    );
    expect(gone).toMatchObject({ ids: ids(1, 2), error: undefined });
  });
});

describe('a server whose paging lies', () => {
  const lies: [name: string, fetchPage: (page: number) => Page, came: string[], message: string][] = [
    [
      'by giving the first page whatever is asked for',
      () => honest(1, 6),
      ids(1, 2),
      'requested page 2, but received page 1',
    ],
    [
      'by giving the first page under every number',
      (page) => ({ ...honest(page, 6), items: records(1, 2) }),
      ids(1, 2),
      'page 2 repeats items of page 1',
    ],
    [
      'by giving an earlier page once more',
      (page) => ({ ...honest(page, 8), items: page === 3 ? records(1, 2) : honest(page, 8).items }),
      ids(1, 4),
      'page 3 repeats items of page 1',
    ],
    [
      'by repeating items that have no id',
      (page) => ({ ...honest(page, 6), items: [{ name: 'a' }, { name: 'b' }] }),
      [],
      'page 2 repeats items of page 1',
    ],
    [
      'by saying on an empty page that there is more',
      (page) => honest(page, 4, 2, { hasNextPage: true }),
      ids(1, 4),
      'page 3 says that there are more items, but is empty',
    ],
    [
      'by saying for ever that there is more, with ever more items',
      (page) => ({ ...honest(page, 4, 2, { hasNextPage: true }), items: records(2 * page - 1, 2 * page) }),
      ids(1, 6),
      'page 3 says that there are more items, but the list has 2 pages',
    ],
    [
      'by giving more items than it counts',
      (page) => ({
        ...honest(page, 5, 2, { hasNextPage: true, totalPages: 99 }),
        items: records(2 * page - 1, 2 * page),
      }),
      ids(1, 6),
      'page 3 says that there are more items, but all 5 were received',
    ],
    [
      'by ending before all came',
      (page) => honest(page, 6, 2, { hasNextPage: page < 2 }),
      ids(1, 4),
      'the list ended after 4 of 6 items',
    ],
    [
      'by ending before all came, and shrinking its pages',
      (page) => honest(page, 6, 2, page === 2 ? { hasNextPage: false, totalPages: 2 } : {}),
      ids(1, 4),
      'the list ended after 4 of 6 items',
    ],
    [
      'by ending before the pages it has, where it counts no items',
      (page) => ({ items: honest(page, 6).items, page, totalPages: 3, hasNextPage: page < 2 }),
      ids(1, 4),
      'the list ended after page 2 of 3',
    ],
    [
      'by leaving items out in the middle',
      (page) => ({ ...honest(page, 6), items: honest(page, 6).items.slice(page === 2 ? 1 : 0) }),
      ['o1', 'o2', 'o4', 'o5', 'o6'],
      'the list ended after 5 of 6 items',
    ],
    [
      'by larger pages from the second on',
      (page) => honest(page, 20, page === 1 ? 2 : 5),
      ids(1, 2),
      'the page size changed from 2 to 5 at page 2: items would be missing',
    ],
    [
      'by smaller pages from the second on',
      (page) => honest(page, 20, page === 1 ? 5 : 2),
      ids(1, 5),
      'the page size changed from 5 to 2 at page 2: items would be repeated',
    ],
  ];

  test.each(lies)('%s is told, after what came', async (_, fetchPage, came, message) => {
    const { ids: read, error } = await readAll(fetchPage);
    expect(read.filter((id) => id !== undefined)).toEqual(came);
    expect(error).toBeInstanceOf(ContractError);
    expect((error as ContractError).message).toContain(`GET /api/environments: ${message}`);
    expect((error as ContractError).hint).toContain('not the whole list');
    expect(exitCodeOf(error)).toBe(5);
  });

  test('by growing with every page comes to an end too', async () => {
    const { asked, error } = await readAll((page) => honest(page, 2 * page + 2));
    expect(error).toBeInstanceOf(ContractError);
    // Ten times the pages that it had at first, and a thousand.
    expect(asked.length).toBe(1020);
  });

  test('by having no end and no count comes to one too', async () => {
    const fetchPage = async (page: number) => ({ items: records(page, page), hasNextPage: true });
    let read = 0;
    const pages = iteratePages(fetchPage, { request, maxPages: 50 });
    const reading = (async () => {
      for await (const page of pages) read += page.items.length;
    })();
    expect((await rejection(reading, ContractError)).message).toContain('the list has no end');
    expect(read).toBe(50);
  });
});

describe('the library', () => {
  /** A client of a server that has so many environments. */
  async function connected(totalCount: number, failing?: number) {
    const server = await serve(({ seen, response }) => {
      const query = new URL(seen.url, 'http://x').searchParams;
      const page = Number(query.get('page'));
      if (page === failing) return json(response, 500, { error: 'broken' });
      json(response, 200, {
        ...honest(page, totalCount, Number(query.get('pageSize') ?? 20)),
        hasPreviousPage: page > 1,
      });
    });
    const client = createClient({ apiUrl: server.url, ...secrets, clock: fakeClock() });
    onTestFinished(() => client.close());
    return { client, seen: server.seen };
  }

  async function collected(items: AsyncIterable<unknown>): Promise<unknown[]> {
    const all: unknown[] = [];
    for await (const item of items) all.push(item);
    return all;
  }

  test('gives every item of a paged list, with the query that it was given', async () => {
    const { client, seen } = await connected(7);
    const all = client.observations.list.all('p1', { pageSize: 3, status: 'open' });
    expect(await collected(all)).toEqual(records(1, 7));
    expect(seen.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((page) => `/api/projects/p1/observations?pageSize=3&status=open&page=${page}`),
    );
  });

  test('begins at the page that is asked for', async () => {
    const { client, seen } = await connected(7);
    expect(await collected(client.env.list.all({ page: 2, pageSize: 3 }))).toEqual(records(4, 7));
    expect(seen).toHaveLength(2);
  });

  test('sends nothing before the first item is asked for, and leaves nothing behind a loop that is left', async () => {
    const { client, seen } = await connected(100);
    const items = client.env.list.all({ pageSize: 2 });
    await turns();
    expect(seen).toEqual([]);
    for await (const item of items) if ((item as { id?: string }).id === 'o3') break;
    await turns();
    expect(seen.length).toBeLessThanOrEqual(3);
  });

  test('gives the items before a page that fails, and then the error, with its facts', async () => {
    const { client } = await connected(9, 3);
    const got: unknown[] = [];
    const reading = (async () => {
      for await (const item of client.env.list.all({ pageSize: 2 }, { attempts: 1 })) got.push(item);
    })();
    const error = await rejection(reading, HttpError);
    expect(got).toEqual(records(1, 4));
    expect(error.facts).toMatchObject({ endpoint: 'env.list', method: 'GET', path: '/api/environments' });
  });

  test('ends with the reason of a signal', async () => {
    const { client } = await connected(100);
    const stop = new AbortController();
    const got: unknown[] = [];
    const reason = new UsageError('enough');
    const reading = (async () => {
      for await (const item of client.env.list.all({ pageSize: 2 }, { signal: stop.signal })) {
        got.push(item);
        stop.abort(reason);
      }
    })();
    expect(await rejection(reading, UsageError)).toBe(reason);
    expect(got.length).toBeLessThanOrEqual(4);
  });

  test('refuses wrong arguments as the call itself does', async () => {
    const { client, seen } = await connected(1);
    const loose = client.observations.list as unknown as { all(...args: unknown[]): AsyncIterable<unknown> };
    const missing = (async () => collected(loose.all()))();
    expect((await rejection(missing, UsageError)).message).toContain('projectId must be a string');
    await rejection(collected(client.env.list.all({ page: 0 })), UsageError);
    expect(seen).toEqual([]);
  });
});
