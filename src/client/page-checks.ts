import { createHash } from 'node:crypto';
import { defaultPageSize } from '../contract/fields.ts';
import { ContractError } from '../errors.ts';
import type { Page, PageQuery } from './list.ts';

/** The most pages that are read: of any list, and of one that does not say how many it has. */
const mostPages = { ofAny: 1_000_000, uncounted: 100_000 } as const;

/** A page with the status code that it came with. */
export type SentPage = Page & { readonly status?: number };

/** What becomes of a page that may be delivered. */
export interface Judgement {
  /** There is another page to read; `maybe`: nothing says so, and this one is as long as a page. */
  more: boolean | 'maybe';
  /** Not to be delivered: the service sent an earlier page, so the one before this was the last. */
  again?: true;
  /** What the list ends with once this page's items were delivered. */
  problem?: ContractError;
}

const hint =
  'what came before is not the whole list: read it again; if that fails too, the service pages wrongly';

/** The id of an item; undefined if it has none, or a number that JSON.parse may have rounded to that of another. */
function idOf(item: unknown): unknown {
  const id = (item as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

/** The same for two pages that end with the same item; where items have no ids, for two of the same items. */
function fingerprint(items: readonly unknown[]): string {
  const text = JSON.stringify(idOf(items.at(-1)) ?? items);
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
 * If nothing says whether there is more, a page as long as a page can be is followed by one more request. An earlier page
 * in response is then the end of the list: the service does not page it.
 *
 * It keeps no item, so it cannot see pages that overlap in their middle while the counts add up all the same.
 */
export class PageSequence {
  /** The pages that came, by fingerprint: all that is kept of them. */
  #seen = new Map<string, number>();
  #read = 0;
  #status: number | undefined;
  /** The position in the list after the last item that came; unknown where the first page's is. */
  #reached: number | undefined = 0;
  #pageSize: number | undefined;
  #firstCount = 0;
  #mostCount: number | undefined;
  #mostPages: number | undefined;
  #cap = 0;
  /** What the page before this one said. */
  #last: Pick<Page, 'totalCount' | 'totalPages'> = {};
  /** The id of the first item of all. */
  #firstId: unknown;
  /** Nothing says that the requested page exists. */
  #guessed = false;

  constructor(
    readonly request: () => string,
    readonly asked: PageQuery,
    readonly maxPages: number = mostPages.ofAny,
  ) {}

  /**
   * @param asked the number of the page that was asked for
   * @throws ContractError for a page whose items are not those that were asked for
   */
  judge(asked: number, page: SentPage): Judgement {
    this.#read += 1;
    this.#status = page.status;
    if (this.#read === 1) this.#begin(page);
    if (this.#guessed && this.#isEarlier(asked, page)) return { more: false, again: true };
    this.#checkNumber(asked, page);
    this.#checkSize(asked, page);
    this.#checkRepeated(asked, page);
    if (page.totalCount !== undefined) this.#mostCount = Math.max(this.#mostCount ?? 0, page.totalCount);
    if (page.totalPages !== undefined) this.#mostPages = Math.max(this.#mostPages ?? 0, page.totalPages);
    if (this.#reached !== undefined) this.#reached += page.items.length;
    const more = this.#more(asked, page);
    const problem = more ? this.#endless(asked, page) : (this.#surplus() ?? this.#lost(asked, page));
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
    const { page: start = 1, pageSize: askedSize } = this.asked;
    // A shorter page is the last one, or the service's pages are shorter than was requested.
    const size = pageSize ?? (items.length === askedSize ? askedSize : undefined);
    if (start > 1) this.#reached = size === undefined ? undefined : (start - 1) * size;
    const cap = totalPages === undefined ? mostPages.uncounted : 10 * totalPages + 1000;
    this.#cap = Math.min(cap, this.maxPages);
  }

  /** Whether there is a page after this one: by what the response says, or else by its numbers. */
  #more(asked: number, page: Page): Judgement['more'] {
    const {
      items,
      pageSize,
      totalPages = this.#last.totalPages,
      totalCount: count = this.#last.totalCount,
    } = page;
    if (page.hasNextPage !== undefined) return page.hasNextPage;
    if (items.length === 0) return false;
    if (totalPages !== undefined) return asked < totalPages;
    if (count !== undefined && this.#reached !== undefined) return this.#reached < count;
    // The service's pages may be shorter than was requested.
    const size = pageSize || Math.min(this.asked.pageSize ?? defaultPageSize, defaultPageSize);
    return count !== undefined || items.length >= size ? 'maybe' : false;
  }

  /** The page has another number than was requested, or begins or ends as an earlier one did. */
  #isEarlier(asked: number, { page = asked, items }: Page): boolean {
    if (items.length === 0) return false;
    const first = idOf(items[0]);
    return (
      page !== asked || (first !== undefined && first === this.#firstId) || this.#seen.has(fingerprint(items))
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
  #lost(asked: number, page: Page): ContractError | undefined {
    const { totalCount = this.#last.totalCount, totalPages = this.#last.totalPages } = page;
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
