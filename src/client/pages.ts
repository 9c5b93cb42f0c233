import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../contract/endpoint.ts';
import { type Mismatch, received } from '../contract/issues.ts';
import { HttpError, RungateError } from '../errors.ts';
import { itemTexts } from '../json/text.ts';
import { eitherSignal } from '../transport/stop.ts';
import { type Page, type PageQuery, readPage } from './list.ts';
import type { Caller, CallerInput, CallOptions } from './options.ts';
import { PageSequence, type SentPage } from './page-checks.ts';
import { mismatchError } from './schema-mismatch.ts';

/** Reads one page. It must end soon after the signal is aborted. */
export type FetchPage<P extends SentPage> = (page: number, signal: AbortSignal) => Promise<P>;

export interface PagesOptions {
  /** Returns the request as the user knows it, for messages: `GET /api/environments`. Called after a page was read. */
  request: () => string;
  /** The first page to read, default 1; and the requested page size. */
  requested?: PageQuery | undefined;
}

/**
 * Waits until a new request has been sent: Node passes on its connection in the next turn of the event loop, which a busy
 * consumer would delay.
 */
async function settingOut(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Returns undefined for a 404 in response to a guessed page. Throws any other error. */
function noPage(error: unknown): undefined {
  if (error instanceof HttpError && error.status === 404) return;
  throw error;
}

/** A page whose items are those that no earlier page had, at these indexes of the response. */
export type FreshPage<P extends Page> = P & {
  readonly indexes: readonly number[];
  /** 1, and one more each time that the list is read again because it has changed. */
  readonly pass: number;
};

/**
 * Yields the pages of a list in order. While one page is consumed, the next one is read, and only that one. A consumer
 * that stops early ends that read too.
 * @throws UnexpectedResponseError if the list contradicts itself (`PageSequence`), after the pages before it; and any error of
 * `fetchPage`
 */
export async function* iteratePages<P extends SentPage>(
  fetchPage: FetchPage<P>,
  { request, requested = {} }: PagesOptions,
): AsyncGenerator<FreshPage<P>, void, undefined> {
  const stop = new AbortController();
  const sequence = new PageSequence(request, requested);
  const read = (page: number) => {
    const reading = (async () => fetchPage(page, stop.signal))();
    // A page that is read ahead may fail. Its error is thrown when its turn comes.
    reading.catch(() => {});
    return reading;
  };
  let number: number | null = requested.page ?? 1;
  let ahead = read(number);
  let guessed = false;
  try {
    while (number !== null) {
      const page: P | undefined = await (guessed ? ahead.catch(noPage) : ahead);
      const { fresh, pass, next, problem, ...judged } = sequence.judge(number, page ?? { items: [] });
      guessed = judged.guessed === true;
      number = next;
      if (number !== null) {
        ahead = read(number);
        await settingOut();
      }
      if (page !== undefined)
        yield { ...page, items: fresh.map((index) => page.items[index]), indexes: fresh, pass };
      if (problem !== undefined) throw problem;
    }
  } finally {
    stop.abort();
    await ahead.catch(() => {});
  }
}

/** A page, with the text of its response. */
export interface ListPage extends FreshPage<Page> {
  readonly text: string;
  /** Returns each new item as its original text, in one line. */
  itemTexts(): string[];
  readonly request: string;
  readonly status: number;
  /** The parts that do not match the API. */
  readonly mismatches: readonly Mismatch[];
}

/** From the query's `page` on. Timeouts and retries apply to each page. */
export async function* readPages(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  options: CallOptions = {},
): AsyncGenerator<ListPage, void, undefined> {
  const query = input.query ?? {};
  let request = name;
  const fetchPage = async (number: number, stop: AbortSignal) => {
    const either = eitherSignal(options.signal, stop);
    const pageInput = { ...input, query: { ...query, page: number } };
    try {
      const response = await caller.exchange(name, endpoint, pageInput, {
        pace: true,
        ...options,
        signal: either.signal,
      });
      const { value, status, mismatches, text } = response;
      request = response.request;
      const page = readPage(value);
      if (page !== undefined) return { ...page, whole: page, request, status, mismatches, text };
      const expected = 'an array, or an object with one';
      throw mismatchError(request, { field: '', expected, received: received(value), status });
    } finally {
      either.release();
    }
  };
  // The call itself refuses an invalid page number.
  const { page, pageSize } = query as { page?: number | null; pageSize?: number | null };
  const requested = { page: page ?? 1, pageSize: pageSize ?? undefined };
  try {
    for await (const fresh of iteratePages(fetchPage, { request: () => request, requested })) {
      const texts = () => {
        const all = itemTexts(fresh.text, fresh.whole);
        return fresh.indexes.map((index) => String(all[index]));
      };
      yield { ...fresh, itemTexts: texts };
    }
  } catch (error) {
    if (error instanceof RungateError && error.facts.endpoint === undefined) {
      error.facts = { endpoint: name, method: endpoint.method };
    }
    throw error;
  }
}

export async function* readItems(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  options?: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  for await (const { items } of readPages(caller, name, endpoint, input, options)) yield* items;
}
