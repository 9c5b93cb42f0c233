import { defaultPageSize } from '../contract/fields.ts';
import { UnexpectedResponseError } from '../errors.ts';
import { hasNext, type Page, type PageQuery } from './list.ts';

export type SentPage = Page & { readonly status?: number };

/** How a list goes on after a page. */
export interface Judgement {
  /** The indexes of the page's items that no earlier page had. */
  fresh: readonly number[];
  /** The page to read next; null at the end. */
  next: number | null;
  /** Whether nothing says that there is a next page, but this one is full. */
  guessed?: boolean;
  /** The error that ends the list after this page's items. */
  problem?: UnexpectedResponseError;
}

/** How often a list may be read again because its items moved, and because of losses without a new item in between. */
const most = { moves: 3, losses: 12 };

/** Returns the id of an item; undefined without one, and for a number that JSON.parse may have rounded to another id. */
function idOf(item: unknown): unknown {
  const id = (item as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

const repair = 'if that fails too, the paging of the service is broken';

/**
 * Follows the pages of a list to its end. An item with an id is new once. A list that changes is read again, because items may
 * have moved to pages that were read: if its count falls, from a page with a known item on; if known items come again
 * although the count has not risen, from the start. If nothing says whether there is more, a full page is followed by one more
 * request.
 */
export class PageSequence {
  readonly #seen = new Set<unknown>();
  /** The numbers of the pages by their items, since the list was last read again. */
  readonly #pages = new Map<string, number>();
  /** How many items were received, those before the first page included; NaN if their number is unknown. */
  #received: number | undefined;
  #count: number | undefined;
  #firstCount: number | undefined;
  /** By how much the count has fallen so far. */
  #lost = 0;
  /** Known items are expected up to this page. */
  #again = 0;
  /** How many pages to go back if the next page has no known item; 0 while the list is read forwards. */
  #back = 0;
  #moves = 0;
  #losses = 0;
  #isUnidentified = false;
  #guessed = false;

  constructor(
    readonly request: () => string,
    readonly requested: PageQuery,
  ) {}

  /** @throws UnexpectedResponseError if the page repeats an earlier one */
  judge(number: number, page: SentPage): Judgement {
    const { items, totalCount } = page;
    const { page: start = 1, pageSize = defaultPageSize } = this.requested;
    const ids = items.map(idOf);
    const known = ids.filter((id) => this.#seen.has(id)).length;
    const grown = totalCount === undefined ? 0 : totalCount - (this.#count ?? totalCount);
    this.#count = totalCount ?? this.#count;
    this.#firstCount ??= totalCount;
    this.#lost += Math.max(0, -grown);

    if (known === 0 && number > start && (grown < 0 || this.#back > 0)) {
      const back = Math.max(2 * this.#back, Math.ceil(-grown / (page.pageSize || pageSize)));
      this.#back = back;
      this.#losses += 1;
      return this.#readAgain(number, Math.max(start, number - back), page);
    }
    this.#back = 0;
    const earlier = number > this.#again ? this.#earlier(items, ids) : undefined;
    if (earlier !== undefined && items.length > grown) {
      if (this.#guessed) return { fresh: [], next: null };
      const text = `page ${number} repeats items of page ${earlier}`;
      throw this.#error(page, 'items', text, 'new items', `those of page ${earlier}`);
    }
    if (earlier !== undefined || (number > this.#again && known > Math.max(0, grown))) {
      this.#moves += 1;
      // A list may always contain an item twice, and count it twice.
      if (this.#lost === 0) this.#received = undefined;
      return this.#readAgain(number, start, page);
    }
    return this.#accept(number, page, ids);
  }

  #readAgain(number: number, next: number, page: SentPage): Judgement {
    this.#again = Math.max(this.#again, number);
    this.#pages.clear();
    this.#guessed = false;
    if (!this.#isUnidentified && this.#moves <= most.moves && this.#losses <= most.losses) {
      return { fresh: [], next };
    }
    const text = 'the list changed while it was read';
    const problem = this.#error(page, 'items', text, 'a list that stays the same', 'items on other pages');
    return { fresh: [], next: null, problem };
  }

  #accept(number: number, page: SentPage, ids: readonly unknown[]): Judgement {
    const { items } = page;
    const fresh = [...ids.keys()].filter((index) => !this.#seen.has(ids[index]));
    for (const id of ids) {
      if (id === undefined) this.#isUnidentified = true;
      else this.#seen.add(id);
    }
    if (fresh.length > 0) this.#losses = 0;
    this.#pages.set(fingerprint(items, ids), number);
    this.#received = (this.#received ?? this.#before(page)) + (this.#lost > 0 ? fresh : items).length;
    const end = this.#end(number, page);
    this.#guessed = end === 'guess';
    if (end === 'guess') return { fresh, next: number + 1, guessed: true };
    if (end === 'more') return { fresh, next: number + 1 };
    return end === null ? { fresh, next: null } : { fresh, next: null, problem: end };
  }

  /** Returns whether there is another page, or the error of a list that contradicts itself. */
  #end(number: number, page: SentPage): 'more' | 'guess' | UnexpectedResponseError | null {
    const { items, totalCount, totalPages = 0 } = page;
    const { pageSize = defaultPageSize } = this.requested;
    const received = this.#received ?? 0;
    const all = (this.#count ?? Number.NaN) + this.#lost;
    // The items so far say more than the size of a page, which the service may have cut.
    const isDecided = !Number.isNaN(received + all) && items.length > 0 && page.totalPages === undefined;
    const more = page.hasNextPage ?? (isDecided ? received < all : hasNext(page, { page: number, pageSize }));
    if (more === true) {
      const isOver = totalCount !== undefined && received > all;
      if (items.length > 0 && !isOver) return 'more';
      const why = isOver ? `all ${totalCount} were received` : 'is empty';
      const text = `page ${number} says that there are more items, but ${why}`;
      return this.#error(page, 'hasNextPage', text, 'false', 'true');
    }
    // The service's pages may be shorter than requested.
    if (more === undefined && items.length >= Math.min(pageSize, defaultPageSize)) return 'guess';
    // Items that came during the read may have been missed.
    const count = (this.#firstCount ?? Number.NaN) - this.#lost;
    if (!Number.isNaN(received + count)) {
      if (received >= count) return null;
      const text = `the list ended after ${received} of ${count} items`;
      return this.#error(page, 'hasNextPage', text, `${count} items`, `${received} items`);
    }
    if (number >= totalPages) return null;
    const text = `the list ended after page ${number} of ${totalPages}`;
    return this.#error(page, 'hasNextPage', text, 'true', 'false');
  }

  #earlier(items: readonly unknown[], ids: readonly unknown[]): number | undefined {
    return items.length === 0 ? undefined : this.#pages.get(fingerprint(items, ids));
  }

  /** The number of items before the first page that is read; NaN if that is unknown. */
  #before({ items, pageSize }: SentPage): number {
    const { page: start = 1, pageSize: requestedSize } = this.requested;
    if (start === 1) return 0;
    // A shorter page is the last one, or the service's pages are shorter than requested.
    const size = pageSize ?? (items.length === requestedSize ? requestedSize : undefined);
    return size === undefined ? Number.NaN : (start - 1) * size;
  }

  #error({ status }: SentPage, field: string, text: string, expected: string, received: string) {
    const hint = `the items so far are not the whole list: read it again; ${repair}`;
    const message = `${this.request()}: ${text}`;
    return new UnexpectedResponseError(message, { field, expected, received, status, hint });
  }
}

/** Returns the same text for two pages with the same items, even if the items have changed in the meantime. */
function fingerprint(items: readonly unknown[], ids: readonly unknown[]): string {
  return JSON.stringify(items.map((item, index) => ids[index] ?? item));
}
