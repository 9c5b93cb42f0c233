import { createHash } from 'node:crypto';
import { defaultPageSize } from '../contract/fields.ts';
import { ContractError } from '../errors.ts';
import type { Page, PageQuery } from './list.ts';

/** The most pages to read of any list, and of a list that does not say how many it has. */
const mostPages = { ofAny: 1_000_000, uncounted: 100_000 } as const;

/** A page with the status code of its response. */
export type SentPage = Page & { readonly status?: number };

/** Whether to deliver a page, and how the list goes on. */
export interface Judgement {
  /** Whether there is another page to read; `maybe`: nothing says so, but this page is full. */
  more: boolean | 'maybe';
  /** Do not deliver this page: the service sent an earlier one again, so the previous page was the last. */
  again?: true;
  /** The error that ends the list after this page's items. */
  problem?: ContractError;
}

const hint =
  'the items so far are not the whole list: read it again; if that fails too, the paging of the service is broken';

/** Returns the id of an item; undefined without one, and for a number that JSON.parse may have rounded to another id. */
function idOf(item: unknown): unknown {
  const id = (item as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

/** Returns the same text for two pages that end with the same item or, without ids, have the same items. */
function fingerprint(items: readonly unknown[]): string {
  const text = JSON.stringify(idOf(items.at(-1)) ?? items);
  return createHash('sha1').update(text).digest('base64');
}

/**
 * Distinguishes a list that changes while it is read from a service that pages wrongly. It reports an error only if items
 * are certainly lost or repeated:
 *
 * - another page than the requested one; a page that ends like an earlier one (unless the list grew by as many items as
 *   the page has); a page size that changes, so that pages no longer join;
 * - an empty page, or a page beyond the last one, that says there is more; a list without an end;
 * - more items than the list ever claimed to have, or an end before all of them. A count may fall, because items are
 *   deleted. A count that has just grown is ignored: the new items may be later than the page.
 *
 * If nothing says whether there is more, a full page is followed by one more request. An earlier page in response then
 * ends the list: the service does not page it.
 *
 * It keeps no items, so it cannot detect pages that overlap in the middle while the counts add up.
 */
export class PageSequence {
  /** The numbers of the pages so far, by fingerprint. */
  #seen = new Map<string, number>();
  #read = 0;
  #status: number | undefined;
  /** The position in the list after the last item so far; undefined if that of the first page is unknown. */
  #reached: number | undefined = 0;
  #pageSize: number | undefined;
  #firstCount = 0;
  #mostCount: number | undefined;
  #mostPages: number | undefined;
  #cap = 0;
  /** The counts on the previous page. */
  #last: Pick<Page, 'totalCount' | 'totalPages'> = {};
  /** The id of the first item of the list. */
  #firstId: unknown;
  /** Nothing says that the requested page exists. */
  #guessed = false;

  constructor(
    readonly request: () => string,
    readonly requested: PageQuery,
    readonly maxPages: number = mostPages.ofAny,
  ) {}

  /**
   * @param requested the number of the requested page
   * @throws ContractError if the page does not have the requested items
   */
  judge(requested: number, page: SentPage): Judgement {
    this.#read += 1;
    this.#status = page.status;
    if (this.#read === 1) this.#begin(page);
    if (this.#guessed && this.#isEarlier(requested, page)) return { more: false, again: true };
    this.#checkNumber(requested, page);
    this.#checkSize(requested, page);
    this.#checkRepeated(requested, page);
    if (page.totalCount !== undefined) this.#mostCount = Math.max(this.#mostCount ?? 0, page.totalCount);
    if (page.totalPages !== undefined) this.#mostPages = Math.max(this.#mostPages ?? 0, page.totalPages);
    if (this.#reached !== undefined) this.#reached += page.items.length;
    const more = this.#more(requested, page);
    const problem = more ? this.#endless(requested, page) : (this.#surplus() ?? this.#lost(requested, page));
    const { totalCount = this.#last.totalCount, totalPages = this.#last.totalPages } = page;
    this.#last = {
      ...(totalCount !== undefined && { totalCount }),
      ...(totalPages !== undefined && { totalPages }),
    };
    this.#guessed = more === 'maybe' && totalCount === undefined;
    return problem === undefined ? { more } : { more: false, problem };
  }

  #begin({ items, pageSize, totalPages, totalCount = 0 }: Page): void {
    this.#pageSize = pageSize;
    this.#firstCount = totalCount;
    this.#firstId = idOf(items[0]);
    const { page: start = 1, pageSize: requestedSize } = this.requested;
    // A shorter page is the last one, or the service's pages are shorter than requested.
    const size = pageSize ?? (items.length === requestedSize ? requestedSize : undefined);
    if (start > 1) this.#reached = size === undefined ? undefined : (start - 1) * size;
    const cap = totalPages === undefined ? mostPages.uncounted : 10 * totalPages + 1000;
    this.#cap = Math.min(cap, this.maxPages);
  }

  /** Returns whether there is a page after this one: as the response says, or else by its numbers. */
  #more(requested: number, page: Page): Judgement['more'] {
    const {
      items,
      pageSize,
      totalPages = this.#last.totalPages,
      totalCount: count = this.#last.totalCount,
    } = page;
    if (page.hasNextPage !== undefined) return page.hasNextPage;
    if (items.length === 0) return false;
    if (totalPages !== undefined) return requested < totalPages;
    if (count !== undefined && this.#reached !== undefined) return this.#reached < count;
    // The service's pages may be shorter than requested.
    const size = pageSize || Math.min(this.requested.pageSize ?? defaultPageSize, defaultPageSize);
    return count !== undefined || items.length >= size ? 'maybe' : false;
  }

  /** Returns whether the page has another number than requested, or begins or ends like an earlier one. */
  #isEarlier(requested: number, { page = requested, items }: Page): boolean {
    if (items.length === 0) return false;
    const first = idOf(items[0]);
    return (
      page !== requested ||
      (first !== undefined && first === this.#firstId) ||
      this.#seen.has(fingerprint(items))
    );
  }

  #error(field: string, text: string, expected: string, received: string): ContractError {
    return new ContractError(`${this.request()}: ${text}`, {
      field,
      expected,
      received,
      status: this.#status,
      hint,
    });
  }

  #checkNumber(requested: number, { page }: Page): void {
    if (page === undefined || page === requested) return;
    throw this.#error(
      'page',
      `requested page ${requested}, but received page ${page}`,
      `${requested}`,
      `${page}`,
    );
  }

  #checkSize(requested: number, page: Page): void {
    const [before, now] = [this.#pageSize, page.pageSize];
    // An empty page has no position, and may report the service's default size.
    if (page.items.length === 0) return;
    if (before === undefined || now === undefined || before === now) return;
    // Some services report the number of items as the size of the last page. The list then ends anyway.
    const reached = (this.#reached ?? 0) + page.items.length;
    const last = !page.hasNextPage && requested >= (page.totalPages ?? requested);
    if (last && now === page.items.length && reached === page.totalCount) return;
    const text = `the page size changed from ${before} to ${now} at page ${requested}`;
    const harm = now > before ? 'items would be missing' : 'items would be repeated';
    throw this.#error('pageSize', `${text}: ${harm}`, `${before}`, `${now}`);
  }

  #checkRepeated(requested: number, { items, totalCount = 0 }: Page): void {
    if (items.length === 0) return;
    const print = fingerprint(items);
    const earlier = this.#seen.get(print);
    this.#seen.set(print, requested);
    // As many new items in front of a page move its items to the next one.
    if (earlier === undefined || totalCount - this.#firstCount >= items.length) return;
    const text = `page ${requested} repeats items of page ${earlier}`;
    throw this.#error('items', text, 'new items', `those of page ${earlier}`);
  }

  /** Returns the error for a page that cannot be right in saying that there is more. */
  #endless(requested: number, { items }: Page): ContractError | undefined {
    const problem = (text: string) =>
      this.#error('hasNextPage', `page ${requested} says that there are more items${text}`, 'false', 'true');
    if (items.length === 0) return problem(', but is empty');
    const [pages, count, reached] = [this.#mostPages, this.#mostCount, this.#reached];
    if (pages !== undefined && requested > pages) return problem(`, but the list has ${pages} pages`);
    if (count !== undefined && reached !== undefined && reached > count) {
      return problem(`, but all ${count} were received`);
    }
    if (this.#read >= this.#cap) return problem(` after ${this.#read} pages: the list has no end`);
    return undefined;
  }

  /** Returns the error for more items than the list ever had. A single page cannot repeat items. */
  #surplus(): ContractError | undefined {
    const [count, reached] = [this.#mostCount, this.#reached];
    if (this.#read < 2 || count === undefined || reached === undefined || reached <= count) return undefined;
    const text = `received ${reached} items of a list of ${count}: some are repeated`;
    return this.#error('items', text, `${count} items`, `${reached} items`);
  }

  /** Returns the error for items that are missing at the end of the list. */
  #lost(requested: number, page: Page): ContractError | undefined {
    const { totalCount = this.#last.totalCount, totalPages = this.#last.totalPages } = page;
    if (totalCount !== undefined) {
      const count = Math.min(totalCount, this.#last.totalCount ?? totalCount);
      if (this.#reached === undefined || this.#reached >= count) return undefined;
      const text = `the list ended after ${this.#reached} of ${count} items`;
      return this.#error('hasNextPage', text, `true, or ${count} items`, `false after ${this.#reached}`);
    }
    if (totalPages === undefined) return undefined;
    const pages = Math.min(totalPages, this.#last.totalPages ?? totalPages);
    if (requested >= pages) return undefined;
    const text = `the list ended after page ${requested} of ${pages}`;
    return this.#error('hasNextPage', text, 'true', 'false');
  }
}
