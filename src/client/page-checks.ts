import { defaultPageSize } from '../contract/fields.ts';
import { UnexpectedResponseError } from '../errors.ts';
import { hasNext, type Page, type PageQuery } from './list.ts';

export type SentPage = Page & { readonly status?: number };

/** How a list goes on after a page. */
export interface Judgement {
  /** The indexes of the page's items that no earlier page had. */
  fresh: readonly number[];
  /** How often the list was begun, this time included. */
  pass: number;
  /** The page to read next; null at the end. */
  next: number | null;
  /** Whether nothing says that there is a next page, but this one is full. */
  guessed?: boolean;
  /** The error that ends the list after this page's items. */
  problem?: UnexpectedResponseError;
}

/** How often a list that changes is read. If its consumer deletes each item, each pass reads half of the rest. */
const mostPasses = 10;

/** Returns the id of an item; undefined without one, and for a number that JSON.parse may have rounded to another id. */
function idOf(item: unknown): unknown {
  const id = (item as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

/** One reading of a list, from its first page on. */
class Pass {
  /** The numbers of the pages by their items. */
  readonly pages = new Map<string, number>();
  readonly ids = new Set<unknown>();
  /** How many items were received, those before the first page included; NaN if their number is unknown. */
  received: number | undefined;
  firstCount: number | undefined;
  count: number | undefined;
  /** The next page may lack items: they moved to pages that were read. */
  hasShrunk = false;
  hasRepeats = false;

  constructor(readonly number: number) {}
}

/**
 * Follows the pages of a list to its end. An item with an id is new once. If the count falls, or items come again although the
 * count has not risen, then others may have moved to pages that were read: the list is read again from its first page on. If
 * nothing says whether there is more, a full page is followed by one more request.
 */
export class PageSequence {
  readonly #seen = new Set<unknown>();
  #pass = new Pass(1);
  #last = '';
  #isUnidentified = false;
  #guessed = false;

  constructor(
    readonly request: () => string,
    readonly requested: PageQuery,
  ) {}

  /** @throws UnexpectedResponseError if the page repeats an earlier one */
  judge(number: number, page: SentPage): Judgement {
    const { items, totalCount } = page;
    const pass = this.#pass;
    const ids = items.map(idOf);
    const text = JSON.stringify(items.map((item, index) => ids[index] ?? item));
    const earlier = items.length === 0 ? undefined : pass.pages.get(text);
    if (earlier !== undefined && this.#guessed) return this.#finish(page, []);
    pass.firstCount ??= totalCount;
    if (earlier !== undefined && items.length > (totalCount ?? 0) - (pass.firstCount ?? 0)) {
      const repeated = `page ${number} repeats items of page ${earlier}`;
      throw this.#error(page, 'items', repeated, 'new items', `those of page ${earlier}`);
    }
    const grown = totalCount === undefined ? 0 : totalCount - (pass.count ?? totalCount);
    pass.count = totalCount ?? pass.count;
    if (grown < 0) pass.hasShrunk = true;
    if (ids.filter((id) => pass.ids.has(id)).length > Math.max(0, grown)) pass.hasRepeats = true;
    pass.pages.set(text, number);
    pass.received = (pass.received ?? this.#before(page)) + items.length;
    return this.#goOn(number, page, this.#take(ids));
  }

  /** Returns the indexes of the items that are new. */
  #take(ids: readonly unknown[]): number[] {
    const fresh: number[] = [];
    for (const [index, id] of ids.entries()) {
      if (!this.#seen.has(id)) fresh.push(index);
      if (id === undefined) {
        this.#isUnidentified = true;
        continue;
      }
      this.#seen.add(id);
      this.#pass.ids.add(id);
    }
    return fresh;
  }

  #goOn(number: number, page: SentPage, fresh: readonly number[]): Judgement {
    const { items } = page;
    const { pageSize = defaultPageSize } = this.requested;
    const { number: pass, received = 0, hasShrunk, count = Number.NaN } = this.#pass;
    const isCounted = !Number.isNaN(received + count) && !hasShrunk;
    // The items so far say more than the size of a page, which the service may have cut.
    const isDecided = isCounted && items.length > 0 && page.totalPages === undefined;
    const more =
      page.hasNextPage ?? (isDecided ? received < count : hasNext(page, { page: number, pageSize }));
    // The service's pages may be shorter than requested.
    this.#guessed = more === undefined && items.length >= Math.min(pageSize, defaultPageSize);
    if (this.#guessed) return { fresh, pass, next: number + 1, guessed: true };
    if (more !== true) return this.#finish(page, fresh, hasShrunk ? undefined : this.#lack(number, page));
    const isOver = isCounted && page.totalCount !== undefined && received > count;
    if (items.length > 0 && !isOver) return { fresh, pass, next: number + 1 };
    const why = isOver ? `all ${count} were received` : 'is empty';
    const text = `page ${number} says that there are more items, but ${why}`;
    return { fresh, pass, next: null, problem: this.#error(page, 'hasNextPage', text, 'false', 'true') };
  }

  /** Returns the error of a list that ends before its last item. Items that came during the read may have been missed. */
  #lack(number: number, page: SentPage): UnexpectedResponseError | undefined {
    const { received = 0, firstCount = Number.NaN } = this.#pass;
    const { totalPages = 0 } = page;
    if (received < firstCount) {
      const text = `the list ended after ${received} of ${firstCount} items`;
      return this.#error(page, 'hasNextPage', text, `${firstCount} items`, `${received} items`);
    }
    if (!Number.isNaN(received + firstCount) || number >= totalPages) return undefined;
    const text = `the list ended after page ${number} of ${totalPages}`;
    return this.#error(page, 'hasNextPage', text, 'true', 'false');
  }

  /** Ends the list, or reads it again. A list that has the same items twice in the same places contains them twice. */
  #finish(page: SentPage, fresh: readonly number[], problem?: UnexpectedResponseError): Judgement {
    const { number: pass, pages, hasShrunk, hasRepeats } = this.#pass;
    if (problem !== undefined) return { fresh, pass, next: null, problem };
    if (!hasShrunk && !hasRepeats) return { fresh, pass, next: null };
    const text = [...pages.keys()].join('\n');
    const isSame = text === this.#last;
    if (!hasShrunk && isSame) return { fresh, pass, next: null };
    if (this.#isUnidentified || isSame || pass >= mostPasses) {
      const changed = 'the list changed while it was read';
      const error = this.#error(page, 'items', changed, 'a list that stays the same', 'items on other pages');
      return { fresh, pass, next: null, problem: error };
    }
    this.#pass = new Pass(pass + 1);
    this.#last = text;
    return { fresh, pass, next: this.requested.page ?? 1 };
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
    const hint =
      'the items so far are not the whole list: read it again; if that fails too, the paging of the service is broken';
    const message = `${this.request()}: ${text}`;
    return new UnexpectedResponseError(message, { field, expected, received, status, hint });
  }
}
