import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { Page } from '../../src/client/list.ts';
import { HttpError, UnexpectedResponseError } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit.ts';
import { fakeClock } from '../fake-clock.ts';
import { secrets } from '../transport/connect.ts';
import { json, serve } from '../transport/serve.ts';
import { turns } from '../until.ts';
import { type FetchPage, pagesFrom } from './pages-from.ts';
import { rejection } from './rejection.ts';

interface Numbers {
  totalCount?: number;
  page?: number;
  pageSize?: number;
  totalPages?: number;
  hasNextPage?: boolean;
}

/** Returns items `from` to `to` of a list. */
const records = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => ({ id: `o${from + index}` }));

/** Returns page `page` of a list of `totalCount` items, as a correct service sends it. */
function pageOf(page: number, totalCount: number, pageSize = 2, overrides: Numbers = {}) {
  const totalPages = Math.ceil(totalCount / pageSize);
  const items = records((page - 1) * pageSize + 1, Math.min(page * pageSize, totalCount));
  return { items, totalCount, page, pageSize, totalPages, hasNextPage: page < totalPages, ...overrides };
}

interface Reading {
  ids: string[];
  requested: number[];
  error: unknown;
}

/** Reads a list until it ends or fails. */
async function readAll(fetchPage: (page: number) => Page, start = 1): Promise<Reading> {
  const reading: Reading = { ids: [], requested: [], error: undefined };
  const fetch: FetchPage = async (page) => {
    reading.requested.push(page);
    return fetchPage(page);
  };
  try {
    for await (const { items } of pagesFrom(fetch, { page: start })) {
      reading.ids.push(...items.map((item) => (item as { id: string }).id));
    }
  } catch (error) {
    reading.error = error;
  }
  return reading;
}

const ids = (from: number, to: number) => records(from, to).map(({ id }) => id);

describe('reading the pages of a list', () => {
  test('reads exactly one page ahead of the consumer', async () => {
    const requested: number[] = [];
    const pages = pagesFrom(async (page) => {
      requested.push(page);
      return pageOf(page, 9);
    });
    for (const expected of [
      [1, 2],
      [1, 2, 3],
      [1, 2, 3, 4],
    ]) {
      await pages.next();
      await turns();
      expect(requested).toEqual(expected);
    }
    await pages.return();
  });

  test('stops when the consumer leaves, and aborts the request in progress', async () => {
    const ended: number[] = [];
    const requested: number[] = [];
    const fetchPage: FetchPage = (page, signal) => {
      requested.push(page);
      if (page === 1) return Promise.resolve(pageOf(1, 9));
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(page);
          reject(signal.reason);
        });
      });
    };
    for await (const page of pagesFrom(fetchPage)) {
      expect(page.page).toBe(1);
      break;
    }
    expect({ requested, ended }).toEqual({ requested: [1, 2], ended: [2] });
  });

  test('reports a page that fails ahead of the consumer in its turn, without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => {
      process.off('unhandledRejection', note);
    });
    const fail = (page: number): Page => {
      if (page === 2) throw new HttpError('gone', { status: 500 });
      return pageOf(page, 9);
    };
    const pages = pagesFrom(async (page) => fail(page));
    expect((await pages.next()).value).toMatchObject({ page: 1 });
    await turns();
    await rejection(pages.next(), HttpError);
    const left = pagesFrom(async (page) => fail(page));
    await left.next();
    await left.return();
    await turns();
    expect(unhandled).toEqual([]);
  });
});

describe('a service with inconsistent pages', () => {
  const faults: [name: string, fetchPage: (page: number) => Page, received: string[], message: string][] = [
    [
      'the items of the first page under every page number',
      (page) => ({ ...pageOf(page, 6), items: records(1, 2) }),
      ids(1, 2),
      'page 2 repeats items of page 1',
    ],
    [
      'an empty page with hasNextPage',
      (page) => pageOf(page, 4, 2, { hasNextPage: true }),
      ids(1, 4),
      'page 3 says that there are more items, but is empty',
    ],
    [
      'more items than the list has',
      (page) => ({ ...pageOf(page, 5, 2, { hasNextPage: true }), items: records(2 * page - 1, 2 * page) }),
      ids(1, 6),
      'page 3 says that there are more items, but all 5 were received',
    ],
    [
      'an end before the last item',
      (page) => pageOf(page, 6, 2, { hasNextPage: page < 2 }),
      ids(1, 4),
      'the list ended after 4 of 6 items',
    ],
    [
      'an end before the last page of a list without a count',
      (page) => ({ items: pageOf(page, 6).items, page, totalPages: 3, hasNextPage: page < 2 }),
      ids(1, 4),
      'the list ended after page 2 of 3',
    ],
  ];

  test.each(faults)('returns the items so far, then reports %s', async (_, fetchPage, received, message) => {
    const { ids: read, error } = await readAll(fetchPage);
    expect(read.filter((id) => id !== undefined)).toEqual(received);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect((error as UnexpectedResponseError).message).toContain(`GET /api/environments: ${message}`);
    expect((error as UnexpectedResponseError).hint).toContain('not the whole list');
    expect(exitCodeOf(error)).toBe(5);
  });
});

describe('the iterator of the client', () => {
  /** Returns a client of a service whose lists have `totalCount` items and whose page `failing` fails. */
  async function connected(totalCount: number, failing?: number) {
    const server = await serve(({ seen, response }) => {
      const query = new URL(seen.url, 'http://x').searchParams;
      const page = Number(query.get('page'));
      if (page === failing) return json(response, 500, { error: 'broken' });
      json(response, 200, {
        ...pageOf(page, totalCount, Number(query.get('pageSize') ?? 20)),
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

  test('returns every item of a paged list, and sends the query with each request', async () => {
    const { client, seen } = await connected(7);
    const all = client.observations.list.all('p1', { pageSize: 3, status: 'open' });
    expect(await collected(all)).toEqual(records(1, 7));
    expect(seen.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((page) => `/api/projects/p1/observations?pageSize=3&status=open&page=${page}`),
    );
  });

  test('shows no secret in the error of a response that is not a list', async () => {
    const server = await serve(({ response }) => json(response, 200, `no list for ${secrets.token}`));
    const client = createClient({ apiUrl: server.url, ...secrets, clock: fakeClock() });
    onTestFinished(() => client.close());
    const error = await rejection(
      collected(client.env.list.all({}, { check: false })),
      UnexpectedResponseError,
    );
    expect(error.message).toContain('no list for ***');
    expect(inspect(error, { depth: 9 })).not.toContain(secrets.token);
  });
});
