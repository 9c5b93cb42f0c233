import { createHash } from 'node:crypto';
import { ContractError } from '../errors.ts';
import type { Page } from './list.ts';

/** The most pages that are read: of any list, and of one that does not say how many it has. */
const mostPages = { ofAny: 1_000_000, uncounted: 100_000 } as const;

/** What becomes of a page that may be delivered. */
export interface Judgement {
  /** There is another page to read. */
  more: boolean;
  /** What the list ends with once this page's items were delivered. */
  problem?: ContractError;
}

const hint =
  'what came before is not the whole list: read it again; if that fails too, the service pages wrongly';

/** The same for two pages that end with the same item; where items have no ids, for two of the same items. */
function fingerprint(items: readonly unknown[]): string {
  const id = (items.at(-1) as { id?: unknown } | null | undefined)?.id;
  // JSON.parse may have rounded two larger numbers to one.
  const text = JSON.stringify(typeof id === 'string' || Number.isSafeInteger(id) ? id : items);
  return createHash('sha1').update(text).digest('base64');
}

/**
 * Tells a list that changes while it is read from a server that pages wrongly. It is strict only where items are
 * surely lost or repeated:
 *
 * - another page than the one asked for; a page that ends as an earlier one did (unless the list grew by as many
 *   items as it has); a page size that changes, so that pages no longer join;
 * - an empty page that says there is more; "there is more" on a page beyond the last; a list without an end;
 * - more items than the list ever said to have; an end before as many came as it has. A count that fell is believed:
 *   things are deleted. One that has just grown is not held against the list: what it counts may have come after the
 *   page was made.
 *
 * It keeps no item, so it cannot see pages that overlap in their middle while the counts add up all the same.
 */
export class PageSequence {
  /** The pages that came, by fingerprint: all that is kept of them. */
  #seen = new Map<string, number>();
  #read = 0;
  /** The position in the list after the last item that came; unknown where the first page's is. */
  #reached: number | undefined = 0;
  #pageSize: number | undefined;
  #firstCount = 0;
  #mostCount: number | undefined;
  #mostPages: number | undefined;
  #cap = 0;
  /** What the page before this one said. */
  #last: { totalCount?: number | undefined; totalPages?: number | undefined } = {};

  constructor(
    readonly request: () => string,
    readonly start: number,
    readonly maxPages: number = mostPages.ofAny,
  ) {}

  /**
   * @param asked the number of the page that was asked for
   * @throws ContractError for a page whose items are not those that were asked for
   */
  judge(asked: number, page: Page): Judgement {
    this.#read += 1;
    if (this.#read === 1) this.#begin(page);
    this.#checkNumber(asked, page);
    this.#checkSize(asked, page);
    this.#checkRepeated(asked, page);
    if (page.totalCount !== undefined) this.#mostCount = Math.max(this.#mostCount ?? 0, page.totalCount);
    if (page.totalPages !== undefined) this.#mostPages = Math.max(this.#mostPages ?? 0, page.totalPages);
    if (this.#reached !== undefined) this.#reached += page.items.length;
    const problem = page.hasNextPage
      ? this.#endless(asked, page)
      : (this.#surplus() ?? this.#lost(asked, page));
    this.#last = { totalCount: page.totalCount, totalPages: page.totalPages };
    return problem === undefined ? { more: page.hasNextPage } : { more: false, problem };
  }

  #begin({ pageSize, totalPages, totalCount = 0 }: Page): void {
    this.#pageSize = pageSize;
    this.#firstCount = totalCount;
    if (this.start > 1) this.#reached = pageSize === undefined ? undefined : (this.start - 1) * pageSize;
    const cap = totalPages === undefined ? mostPages.uncounted : 10 * totalPages + 1000;
    this.#cap = Math.min(cap, this.maxPages);
  }

  #error(field: string, text: string, expected: string, received: string): ContractError {
    return new ContractError(`${this.request()}: ${text}`, { field, expected, received, hint });
  }

  #checkNumber(asked: number, { page }: Page): void {
    if (page === undefined || page === asked) return;
    throw this.#error('page', `page ${asked} was asked for, and page ${page} came`, `${asked}`, `${page}`);
  }

  #checkSize(asked: number, page: Page): void {
    const [before, now] = [this.#pageSize, page.pageSize];
    // An empty page has no place of its own, and may show the service's default size.
    if (page.items.length === 0) return;
    if (before === undefined || now === undefined || before === now) return;
    // Some services give the number of items as the size of the last page, which then is the end all the same.
    const reached = (this.#reached ?? 0) + page.items.length;
    const last = !page.hasNextPage && asked >= (page.totalPages ?? asked);
    if (last && now === page.items.length && reached === page.totalCount) return;
    const text = `the page size changed from ${before} to ${now} at page ${asked}`;
    const harm = now > before ? 'items would be left out' : 'items would come twice';
    throw this.#error('pageSize', `${text}: ${harm}`, `${before}`, `${now}`);
  }

  #checkRepeated(asked: number, { items, totalCount = 0 }: Page): void {
    if (items.length === 0) return;
    const print = fingerprint(items);
    const earlier = this.#seen.get(print);
    this.#seen.set(print, asked);
    // As many new items in front of a page push its items to the next one.
    if (earlier === undefined || totalCount - this.#firstCount >= items.length) return;
    const text = `page ${asked} holds items of page ${earlier} once more`;
    throw this.#error('items', text, 'items that did not come before', `those of page ${earlier}`);
  }

  /** Why a page that says there is more is not believed. */
  #endless(asked: number, { items }: Page): ContractError | undefined {
    const problem = (text: string) =>
      this.#error('hasNextPage', `page ${asked} says that there is more, ${text}`, 'false', 'true');
    if (items.length === 0) return problem('and is empty');
    const [pages, count, reached] = [this.#mostPages, this.#mostCount, this.#reached];
    if (pages !== undefined && asked > pages) return problem(`and the list has ${pages} pages`);
    if (count !== undefined && reached !== undefined && reached > count) {
      return problem(`and ${reached} items came of a list of ${count}`);
    }
    if (this.#read >= this.#cap) return problem(`after ${this.#read} pages: the list has no end`);
    return undefined;
  }

  /** More than there ever was, at the end of the list: a single page cannot have repeated anything. */
  #surplus(): ContractError | undefined {
    const [count, reached] = [this.#mostCount, this.#reached];
    if (this.#read < 2 || count === undefined || reached === undefined || reached <= count) return undefined;
    const text = `${reached} items came of a list of ${count}: some came twice`;
    return this.#error('items', text, `${count} items`, `${reached} items`);
  }

  /** What is missing at the end of the list. */
  #lost(asked: number, { totalCount, totalPages }: Page): ContractError | undefined {
    if (totalCount !== undefined) {
      const count = Math.min(totalCount, this.#last.totalCount ?? totalCount);
      if (this.#reached === undefined || this.#reached >= count) return undefined;
      const text = `the list ended after ${this.#reached} of ${count} items`;
      return this.#error('hasNextPage', text, `true, or ${count} items`, `false after ${this.#reached}`);
    }
    if (totalPages === undefined) return undefined;
    const pages = Math.min(totalPages, this.#last.totalPages ?? totalPages);
    if (asked >= pages) return undefined;
    const text = `the list ended after page ${asked} of ${pages}`;
    return this.#error('hasNextPage', text, 'true', 'false');
  }
}
