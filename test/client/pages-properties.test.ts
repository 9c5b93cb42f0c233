import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Page } from '../../src/client/list.ts';
import { UnexpectedResponseError } from '../../src/errors.ts';
import { pagesFrom } from './pages-from.ts';

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
    for await (const { items } of pagesFrom(fetch, { page, pageSize })) {
      reading.numbers.push(...items.map((item) => (item as Item).n));
    }
  } catch (error) {
    reading.error = error;
  }
  return reading;
}

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, n) => n + from);
const list = fc.record({ count: fc.nat(60), size: fc.integer({ min: 1, max: 12 }) });

describe('a service with consistent pages', () => {
  test('reads each item once and in order, with one request for each page', async () => {
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 5 }), async (of, start) => {
        const { numbers, fetches, error } = await readAll((page) => pageOf(of, page), start);
        const skipped = Math.min(of.count, (start - 1) * of.size);
        expect({ numbers, error }).toEqual({ numbers: upTo(of.count, skipped), error: undefined });
        expect(fetches).toBe(Math.max(1, Math.ceil(of.count / of.size) - start + 1));
      }),
    );
  });

  test('reads all items whichever page fields the service sends, even none', async () => {
    const fields = fc.subarray(['page', 'pageSize', 'totalPages', 'totalCount', 'hasNextPage'] as const);
    await fc.assert(
      fc.asyncProperty(list, fields, fc.integer({ min: 1, max: 4 }), async (of, keys, start) => {
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

  test('reads a list to its end if pages are shorter than requested and have no page fields', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(150), fc.integer({ min: 20, max: 40 }), async (count, size) => {
        const fetch = (page: number) => ({ items: pageOf({ count, size }, page).items });
        const { numbers, error } = await readAll(fetch, 1, 100);
        expect({ numbers, error }).toEqual({ numbers: upTo(count), error: undefined });
      }),
    );
  });

  /** Reads a list that changes before each read; returns the reading and the numbers that stayed in the list. */
  async function readChanging(of: List, changeAt: (read: number, all: Item[]) => Item[]) {
    let all = upTo(of.count).map(record);
    const stable = new Set(upTo(of.count));
    let reads = 0;
    const reading = await readAll((page) => {
      all = changeAt(reads++, all);
      const left = new Set(all.map(({ n }) => n));
      for (const n of stable) if (!left.has(n)) stable.delete(n);
      const whole = pageOf({ ...of, count: all.length }, page);
      return { ...whole, items: all.slice((page - 1) * of.size, page * of.size) };
    });
    expect(new Set(reading.numbers).size).toBe(reading.numbers.length);
    return { ...reading, stable: [...stable] };
  }

  test('misses nothing without an error that stays in a list while it grows and shrinks', async () => {
    const changes = fc.array(fc.tuple(fc.integer({ min: -12, max: 6 }), fc.nat()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(list, changes, async (of, changing) => {
        let next = of.count;
        const { numbers, stable, error } = await readChanging(of, (read, all) => {
          const [by, at] = changing[read] ?? [0, 0];
          const added = Array.from({ length: Math.max(0, by) }, () => record(next++));
          return all.toSpliced(at % (all.length + 1), Math.max(0, -by), ...added);
        });
        if (error !== undefined) expect((error as Error).message).toMatch(/repeats items|changed while/);
        else expect(numbers).toEqual(expect.arrayContaining(stable));
      }),
      { numRuns: 300 },
    );
  });

  test('reads all items of a list from which its consumer deletes, in few requests', async () => {
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 5 }), async (of, every) => {
        let all = upTo(of.count).map(record);
        const numbers: number[] = [];
        let reads = 0;
        const fetch = async (page: number) => {
          reads += 1;
          const whole = pageOf({ ...of, count: all.length }, page);
          return { ...whole, items: all.slice((page - 1) * of.size, page * of.size) };
        };
        for await (const { items } of pagesFrom(fetch)) {
          const read = items.map((item) => (item as Item).n);
          numbers.push(...read);
          all = all.filter(({ n }) => !read.includes(n) || n % every !== 0);
        }
        expect(numbers.toSorted((a, b) => a - b)).toEqual(upTo(of.count));
        expect(reads).toBeLessThanOrEqual(4 * Math.ceil(of.count / of.size) + 1);
      }),
    );
  });
});

/** One fault in the page fields or items, on one page or from that page on. */
const fault = fc.record({
  at: fc.integer({ min: 1, max: 8 }),
  lasting: fc.boolean(),
  how: fc.constantFrom(
    'earlier items',
    'later items',
    'no items',
    'fewer items',
    'ends',
    'goes on',
    'fewer pages',
    'fewer pages and ends',
    'more pages',
  ),
  by: fc.integer({ min: 1, max: 5 }),
});

type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

function withFault(of: List, page: Page, { how, by }: Fault): Page {
  const { page: number = 1, totalPages = 0 } = page;
  switch (how) {
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
  }
}

describe('a service with inconsistent pages', () => {
  const faultyPages = (of: List, fault: Fault) => (page: number) => {
    const { at, lasting } = fault;
    const sent = pageOf(of, page);
    return page === at || (lasting && page > at) ? withFault(of, sent, fault) : sent;
  };

  test('reports a fault or reads all items, with a limited number of requests', async () => {
    await fc.assert(
      fc.asyncProperty(list, fault, async (of, one) => {
        const { numbers, fetches, error } = await readAll(faultyPages(of, one));
        expect(fetches).toBeLessThanOrEqual(4 * Math.ceil(of.count / of.size) + 12);
        if (error !== undefined) expect(error).toBeInstanceOf(UnexpectedResponseError);
        else expect(new Set(numbers)).toEqual(new Set(upTo(of.count)));
      }),
      { numRuns: 300 },
    );
  });
});
