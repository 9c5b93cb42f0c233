import { defaultPageSize } from '../contract/fields.ts';
import { UnexpectedResponseError } from '../errors.ts';
import { hasNext, type Page, type PageQuery } from './list.ts';

export type SentPage = Page & { readonly status?: number };

/** How a list goes on after a page. */
export interface Judgement {
  /** Whether there is another page; `maybe`: nothing says so, but this page is full. */
  more: boolean | 'maybe';
  /** The error that ends the list after this page's items. */
  problem?: UnexpectedResponseError;
}

/** Returns the id of an item; undefined without one, and for a number that JSON.parse may have rounded to another id. */
function idOf(item: unknown): unknown {
  const id = (item as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

/** Returns the same text for two pages with the same items, even if the items have changed in the meantime. */
function fingerprint(items: readonly unknown[]): string {
  return JSON.stringify(items.map((item) => idOf(item) ?? item));
}

/**
 * Follows the pages of a list to its end. Reports a list that repeats a page, says on an empty page or after its count that
 * there is more, or ends before its count. If nothing says whether there is more, a full page is followed by one more request.
 */
export class PageSequence {
  /** The numbers of the pages so far, by fingerprint. */
  readonly #pages = new Map<string, number>();
  #received = 0;
  /** The smallest count so far: a list may grow or shrink while it is read. */
  #count = Number.POSITIVE_INFINITY;
  #guessed = false;

  constructor(
    readonly request: () => string,
    readonly requested: PageQuery,
  ) {}

  /**
   * Returns null if the service does not page the list: a page that only may have existed repeats an earlier one.
   * @throws UnexpectedResponseError if another page repeats an earlier one
   */
  judge(number: number, page: SentPage): Judgement | null {
    const { items, totalCount, totalPages = 0 } = page;
    const print = fingerprint(items);
    const earlier = this.#pages.get(print);
    if (items.length > 0 && earlier !== undefined) {
      if (this.#guessed) return null;
      const text = `page ${number} repeats items of page ${earlier}`;
      throw this.#error(page, 'items', text, 'new items', `those of page ${earlier}`);
    }
    if (this.#pages.size === 0) this.#received = this.#before(page);
    this.#pages.set(print, number);
    this.#received += items.length;
    this.#count = Math.min(this.#count, totalCount ?? this.#count);
    const { pageSize = defaultPageSize } = this.requested;
    const counted = Number.isFinite(this.#received) && Number.isFinite(this.#count);
    // The items so far say more than the size of a page, which the service may have cut.
    const isDecided = counted && items.length > 0 && page.totalPages === undefined;
    const rest = isDecided ? this.#received < this.#count : undefined;
    const more = page.hasNextPage ?? rest ?? hasNext(page, { page: number, pageSize });
    if (more === true) {
      const isOver = this.#received > (totalCount ?? Number.POSITIVE_INFINITY);
      if (items.length > 0 && !isOver) return { more };
      const why = isOver ? `all ${totalCount} were received` : 'is empty';
      const text = `page ${number} says that there are more items, but ${why}`;
      return { more: false, problem: this.#error(page, 'hasNextPage', text, 'false', 'true') };
    }
    // The service's pages may be shorter than requested.
    this.#guessed = more === undefined && items.length >= Math.min(pageSize, defaultPageSize);
    if (this.#guessed) return { more: 'maybe' };
    const [received, count] = [this.#received, this.#count];
    if (counted) {
      if (received >= count) return { more: false };
      const text = `the list ended after ${received} of ${count} items`;
      const problem = this.#error(page, 'hasNextPage', text, `${count} items`, `${received} items`);
      return { more: false, problem };
    }
    if (number >= totalPages) return { more: false };
    const text = `the list ended after page ${number} of ${totalPages}`;
    return { more: false, problem: this.#error(page, 'hasNextPage', text, 'true', 'false') };
  }

  /** The number of items before the first page that is read; NaN if that is unknown. */
  #before({ items, pageSize }: SentPage): number {
    const { page: start = 1, pageSize: requestedSize } = this.requested;
    if (start === 1) return 0;
    // A shorter page is the last one, or the service's pages are shorter than requested.
    const size = pageSize ?? (items.length === requestedSize ? requestedSize : undefined);
    return size === undefined ? Number.NaN : (start - 1) * size;
  }

  #error(
    { status }: SentPage,
    field: string,
    text: string,
    expected: string,
    received: string,
  ): UnexpectedResponseError {
    const hint =
      'the items so far are not the whole list: read it again; if that fails too, the paging of the service is broken';
    return new UnexpectedResponseError(`${this.request()}: ${text}`, {
      field,
      expected,
      received,
      status,
      hint,
    });
  }
}
