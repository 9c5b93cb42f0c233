import { defaultPageSize } from '../contract/fields.ts';
import { count as counted } from '../count.ts';
import { hasNext, type Page, type PageQuery } from './list.ts';

/** How a list goes on after a page. */
export interface Judgement {
  /** The indexes of the page's items that no earlier page had. */
  readonly fresh: readonly number[];
  /** The page to read next; null at the end. */
  readonly next: number | null;
  /** The reason why the list ends after this page's items, or before them if they came on an earlier page. */
  readonly problem?: string | undefined;
}

/** How often a list that changes is read. If its consumer deletes each item, each pass reads half of the rest. */
const mostPasses = 10;

/** Returns the id of an item; undefined without one, and for a number that JSON.parse may have rounded to another id. */
function idOf(item: unknown): unknown {
  const { id } = Object(item) as { id?: unknown };
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
}

/** One reading of a list, from its first page on. */
class Pass {
  /** The numbers of the pages by their items. */
  readonly pages = new Map<string, number>();
  readonly ids = new Set<unknown>();
  /** How many items the first page said that there are. */
  firstCount: number | undefined;
  count: number | undefined;
  /** The next page may lack items: they moved to pages that were read. */
  hasShrunk = false;
  hasRepeats = false;

  /** @param received how many items came so far, those before the first page included; NaN if their number is unknown */
  constructor(public received: number) {}
}

/**
 * Follows the pages of a list to its end. An item with an id is new once. If the count falls, or items come again although the
 * count has not risen, then others may have moved to pages that were read: the list is read again from its first page on. If
 * nothing says whether there is more, a full page is followed by one more request.
 */
export class PageSequence {
  /** How often the list was begun. */
  passes = 0;
  /** Whether nothing says that there is a next page, but the last one was full. */
  isGuess = false;
  readonly #seen = new Set<unknown>();
  readonly #start: number;
  readonly #size: number | undefined;
  #pass: Pass | undefined;
  #last = '';
  #isUnidentified = false;

  constructor({ page = 1, pageSize }: PageQuery) {
    this.#start = page;
    this.#size = pageSize;
  }

  judge(number: number, page: Page): Judgement {
    const { items, totalCount } = page;
    const pass = this.#pass ?? this.#begin(page);
    const wasGuess = this.isGuess;
    this.isGuess = false;
    const ids = items.map(idOf);
    const text = JSON.stringify(items.map((item, index) => ids[index] ?? item));
    const earlier = items.length === 0 ? undefined : pass.pages.get(text);
    if (earlier !== undefined && wasGuess) return this.#end(pass, []);
    pass.firstCount ??= totalCount;
    if (earlier !== undefined && items.length > (totalCount ?? 0) - (pass.firstCount ?? 0)) {
      return { fresh: [], next: null, problem: `page ${number} repeats items of page ${earlier}` };
    }
    const grown = totalCount === undefined ? 0 : totalCount - (pass.count ?? totalCount);
    pass.count = totalCount ?? pass.count;
    if (grown < 0) pass.hasShrunk = true;
    if (ids.filter((id) => pass.ids.has(id)).length > Math.max(0, grown)) pass.hasRepeats = true;
    pass.pages.set(text, number);
    pass.received += items.length;
    return this.#goOn(pass, number, page, this.#take(pass, ids));
  }

  #begin({ items, pageSize }: Page): Pass {
    // A shorter page is the last one, or the service's pages are shorter than requested.
    const size = pageSize ?? (items.length === this.#size ? this.#size : Number.NaN);
    this.#pass = new Pass(this.#start === 1 ? 0 : (this.#start - 1) * size);
    this.passes += 1;
    return this.#pass;
  }

  /** Returns the indexes of the items that are new: an id may come twice on one page. */
  #take(pass: Pass, ids: readonly unknown[]): number[] {
    const fresh: number[] = [];
    for (const [index, id] of ids.entries()) {
      if (!this.#seen.has(id)) fresh.push(index);
      if (id === undefined) continue;
      this.#seen.add(id);
      pass.ids.add(id);
    }
    this.#isUnidentified ||= ids.includes(undefined);
    return fresh;
  }

  #goOn(pass: Pass, number: number, page: Page, fresh: readonly number[]): Judgement {
    const { items } = page;
    const { received, hasShrunk, firstCount = Number.NaN, count = Number.NaN } = pass;
    const pageSize = this.#size ?? defaultPageSize;
    const isCounted = !Number.isNaN(received + count) && !hasShrunk;
    // The items so far say more than the size of a page, which the service may have cut.
    const isDecided = isCounted && items.length > 0 && page.totalPages === undefined;
    const more =
      page.hasNextPage ?? (isDecided ? received < count : hasNext(page, { page: number, pageSize }));
    // The service's pages may be shorter than requested.
    this.isGuess = more === undefined && items.length >= Math.min(pageSize, defaultPageSize);
    const ended = (problem: string): Judgement => ({ fresh, next: null, problem });
    const says = `page ${number} says that there are more items, but`;
    if (more === true && items.length === 0) return ended(`${says} is empty`);
    if (more === true && isCounted && page.totalCount !== undefined && received > count)
      return ended(`${says} all ${count} were received`);
    if (more === true || this.isGuess) return { fresh, next: number + 1 };
    // Items that came during the read may have been missed.
    if (!hasShrunk && received < firstCount)
      return ended(`the list ended after ${received} of ${counted(firstCount, 'item')}`);
    const { totalPages = 0 } = page;
    if (!hasShrunk && Number.isNaN(received + firstCount) && number < totalPages)
      return ended(`the list ended after page ${number} of ${totalPages}`);
    return this.#end(pass, fresh);
  }

  /** Ends the list, or reads it again. A list that has the same items twice in the same places contains them twice. */
  #end({ pages, hasShrunk, hasRepeats }: Pass, fresh: readonly number[]): Judgement {
    const text = [...pages.keys()].join('\n');
    const isSame = text === this.#last;
    if (!hasShrunk && (!hasRepeats || isSame)) return { fresh, next: null };
    if (this.#isUnidentified || isSame || this.passes >= mostPasses)
      return { fresh, next: null, problem: 'the list changed while it was read' };
    this.#pass = undefined;
    this.#last = text;
    return { fresh, next: this.#start };
  }
}
