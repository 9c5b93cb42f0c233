import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Page } from '../../src/client/list.ts';
import { iteratePages } from '../../src/client/pages.ts';
import { ContractError } from '../../src/errors.ts';

interface Item {
  id: string;
  n: number;
}

const record = (n: number): Item => ({ id: `o${n}`, n });

interface List {
  count: number;
  size: number;
}

function pageOf({ count, size }: List, page: number): Page & { items: Item[] } {
  const first = (page - 1) * size;
  const items = Array.from({ length: Math.max(0, Math.min(size, count - first)) }, (_, n) =>
    record(first + n),
  );
  const totalPages = Math.ceil(count / size);
  return { items, page, pageSize: size, totalPages, totalCount: count, hasNextPage: page < totalPages };
}

interface Reading {
  numbers: number[];
  fetches: number;
  error: unknown;
}

async function readAll(fetchPage: (page: number) => Page, page = 1, pageSize?: number): Promise<Reading> {
  const reading: Reading = { numbers: [], fetches: 0, error: undefined };
  const fetch = async (page: number) => {
    reading.fetches += 1;
    return fetchPage(page);
  };
  try {
    const asked = { page, pageSize };
    for await (const { items } of iteratePages(fetch, { request: () => 'GET /list', asked, maxPages: 200 })) {
      reading.numbers.push(...items.map((item) => (item as Item).n));
    }
  } catch (error) {
    reading.error = error;
  }
  return reading;
}

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, n) => n + from);
const list = fc.record({ count: fc.nat(60), size: fc.integer({ min: 1, max: 12 }) });

describe('an honest server', () => {
  test('is read to the end: every item once and in order, in as many requests as there are pages', async () => {
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 5 }), async (of, start) => {
        const { numbers, fetches, error } = await readAll((page) => pageOf(of, page), start);
        const skipped = Math.min(of.count, (start - 1) * of.size);
        expect({ numbers, error }).toEqual({ numbers: upTo(of.count, skipped), error: undefined });
        expect(fetches).toBe(Math.max(1, Math.ceil(of.count / of.size) - start + 1));
      }),
    );
  });

  test('is read to the end in whatever of the shape it shows, also if it shows nothing of it', async () => {
    const shown = fc.subarray(['page', 'pageSize', 'totalPages', 'totalCount', 'hasNextPage'] as const);
    await fc.assert(
      fc.asyncProperty(list, shown, fc.integer({ min: 1, max: 4 }), async (of, keys, start) => {
        const fetch = (page: number) => {
          const whole = pageOf(of, page);
          return { items: whole.items, ...Object.fromEntries(keys.map((key) => [key, whole[key]])) };
        };
        const { numbers, error } = await readAll(fetch, start, of.size);
        const skipped = Math.min(of.count, (start - 1) * of.size);
        expect({ numbers, error }).toEqual({ numbers: upTo(of.count, skipped), error: undefined });
      }),
    );
  });

  test('that does not page its list, and shows no numbers, is read once', async () => {
    await fc.assert(
      fc.asyncProperty(list, async (of) => {
        const { items } = pageOf({ ...of, size: of.count }, 1);
        const { numbers, error } = await readAll(() => ({ items }), 1, of.size);
        expect({ numbers, error }).toEqual({ numbers: upTo(of.count), error: undefined });
      }),
    );
  });

  test('whose pages are shorter than was requested, and have no numbers, is read to the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(150), fc.integer({ min: 20, max: 40 }), async (count, size) => {
        const fetch = (page: number) => ({ items: pageOf({ count, size }, page).items });
        const { numbers, error } = await readAll(fetch, 1, 100);
        expect({ numbers, error }).toEqual({ numbers: upTo(count), error: undefined });
      }),
    );
  });

  test('whose list grows at its end while it is read is read to the end that it has then', async () => {
    await fc.assert(
      fc.asyncProperty(list, fc.array(fc.nat(5), { maxLength: 8 }), async (of, growth) => {
        let { count } = of;
        const { numbers, error } = await readAll((page) => {
          count += growth[page - 1] ?? 0;
          return pageOf({ ...of, count }, page);
        });
        expect({ numbers, error }).toEqual({ numbers: upTo(count), error: undefined });
      }),
    );
  });

  test('is not accused of losing items while its list grows and shrinks', async () => {
    const changes = fc.array(fc.tuple(fc.integer({ min: -12, max: 6 }), fc.nat()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(list, changes, async (of, changing) => {
        let all = upTo(of.count).map(record);
        let next = of.count;
        const { error } = await readAll((page) => {
          const [by, at] = changing[page - 1] ?? [0, 0];
          const place = at % (all.length + 1);
          const added = Array.from({ length: Math.max(0, by) }, () => record(next++));
          all = [...all.slice(0, place), ...added, ...all.slice(place + Math.max(0, -by))];
          const whole = pageOf({ ...of, count: all.length }, page);
          return { ...whole, items: all.slice((page - 1) * of.size, page * of.size) };
        });
        // What cannot be told from a lie: an item that changes push from the end of a page to that of a later one.
        if (error !== undefined) expect((error as Error).message).toMatch(/repeats items|are repeated/);
      }),
      { numRuns: 500 },
    );
  });
});

/** One way to lie, from one page on or for that page only. */
const lie = fc.record({
  at: fc.integer({ min: 1, max: 8 }),
  lasting: fc.boolean(),
  how: fc.constantFrom(
    'other number',
    'earlier items',
    'later items',
    'no items',
    'fewer items',
    'ends',
    'goes on',
    'fewer pages',
    'fewer pages and ends',
    'more pages',
    'other size',
  ),
  by: fc.integer({ min: 1, max: 5 }),
});

type Lie = typeof lie extends fc.Arbitrary<infer T> ? T : never;

function told(of: List, page: Page, { how, by }: Lie): Page {
  const { page: number = 1, totalPages = 0 } = page;
  switch (how) {
    case 'other number':
      return { ...page, page: Math.max(1, number - by) };
    case 'earlier items':
      return { ...page, items: pageOf(of, Math.max(1, number - by)).items };
    case 'later items':
      return { ...page, items: pageOf(of, number + by).items };
    case 'no items':
      return { ...page, items: [] };
    case 'fewer items':
      return { ...page, items: page.items.slice(by) };
    case 'ends':
      return { ...page, hasNextPage: false };
    case 'goes on':
      return { ...page, hasNextPage: true };
    case 'fewer pages':
      return { ...page, totalPages: Math.max(0, totalPages - by) };
    case 'fewer pages and ends':
      return { ...page, totalPages: Math.max(0, totalPages - by), hasNextPage: false };
    case 'more pages':
      return { ...page, totalPages: totalPages + by, hasNextPage: true };
    case 'other size':
      return pageOf({ ...of, size: of.size + by }, number);
  }
}

describe('a server that lies', () => {
  /** Pages of two layouts in one list may overlap in their middle, which only who keeps all items could see. */
  const mixed = (all: readonly Lie[]) =>
    all.some(({ how }) => how === 'other size') && all.some(({ how }) => how !== 'other size');
  const lies = fc.array(lie, { minLength: 1, maxLength: 3 }).filter((all) => !mixed(all));
  const lying = (of: List, told_: readonly Lie[]) => (page: number) =>
    told_
      .filter(({ at, lasting }) => page === at || (lasting && page > at))
      .reduce<Page>((reply, one) => told(of, reply, one), pageOf(of, page));

  test('is told, or all items came: none is lost in silence, and the requests have an end', async () => {
    await fc.assert(
      fc.asyncProperty(list, lies, async (of, all) => {
        const { numbers, fetches, error } = await readAll(lying(of, all));
        expect(fetches).toBeLessThanOrEqual(Math.ceil(of.count / of.size) + 12);
        if (error !== undefined) expect(error).toBeInstanceOf(ContractError);
        else expect(new Set(numbers)).toEqual(new Set(upTo(of.count)));
      }),
      { numRuns: 3000 },
    );
  });

  test('in one way never gives an item twice', async () => {
    await fc.assert(
      fc.asyncProperty(list, lie, async (of, one) => {
        const { numbers } = await readAll(lying(of, [one]));
        expect(new Set(numbers).size).toBe(numbers.length);
      }),
      { numRuns: 1000 },
    );
  });

  test('with whatever numbers comes to an end', async () => {
    const numbers = fc.record(
      {
        page: fc.nat(9),
        pageSize: fc.nat(9),
        totalPages: fc.nat(99),
        totalCount: fc.nat(99),
      },
      { requiredKeys: [] },
    );
    const replies = fc.array(fc.tuple(numbers, fc.boolean(), fc.nat(4)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(replies, async (given) => {
        const { fetches } = await readAll((page) => {
          const [some, hasNextPage, length] = given[(page - 1) % given.length] ?? [{}, true, 1];
          const items = Array.from({ length }, (_, n) => record(page * 10 + n));
          return { ...some, hasNextPage, items };
        });
        expect(fetches).toBeLessThanOrEqual(200);
      }),
      { numRuns: 1000 },
    );
  });
});
