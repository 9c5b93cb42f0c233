import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../contract/endpoint.ts';
import { HttpError, RungateError } from '../errors.ts';
import { ownCopy } from '../own-options.ts';
import { eitherSignal } from '../transport/stop.ts';
import { type Page, type PageQuery, readPage } from './list.ts';
import type { Caller, CallerInput, CallOptions, Exchange } from './options.ts';
import { PageSequence, type SentPage } from './page-checks.ts';
import { type Mismatch, mismatchError, received } from './schema-mismatch.ts';

/** Reads one page. It must end soon after the signal is aborted. */
export type FetchPage<P extends SentPage> = (page: number, signal: AbortSignal) => Promise<P>;

export interface PagesOptions {
  /** Returns the request as its user knows it, for messages: `GET /api/environments`. Called after a page was read. */
  request: () => string;
  /** The first page to read, default 1; and the requested page size. */
  asked?: PageQuery | undefined;
  /** The most pages that are read of any list. */
  maxPages?: number | undefined;
}

/**
 * Waits until a request that was just made is on its way: Node hands its connection on in the next turn of the event
 * loop. A consumer that is busy would keep that from coming.
 */
async function settingOut(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Nothing said that there is such a page, and the service has none. */
function noPage(error: unknown): undefined {
  if (error instanceof HttpError && error.status === 404) return;
  throw error;
}

/**
 * The pages of a list, in order. While one is consumed, the next is already read: one and no more. A consumer
 * that stops early ends that too, and nothing is left running.
 * @throws ContractError where the list is not what it says (`PageSequence`), after the pages that came before it;
 * and whatever `fetchPage` throws
 */
export async function* iteratePages<P extends SentPage>(
  fetchPage: FetchPage<P>,
  { request, asked = {}, maxPages }: PagesOptions,
): AsyncGenerator<P, void, undefined> {
  const stop = new AbortController();
  const { page: start = 1 } = asked;
  const sequence = new PageSequence(request, asked, maxPages);
  const read = (page: number) => {
    const reading = (async () => fetchPage(page, stop.signal))();
    // A page that nobody waits for yet may fail: that is told when its turn comes.
    reading.catch(() => {});
    return reading;
  };
  let ahead = read(start);
  let guessed = false;
  try {
    for (let number = start; ; number += 1) {
      const page = await (guessed ? ahead.catch(noPage) : ahead);
      if (page === undefined) return;
      const { more, again, problem } = sequence.judge(number, page);
      if (again) return;
      guessed = more === 'maybe';
      if (more) {
        ahead = read(number + 1);
        await settingOut();
      }
      yield page;
      if (problem !== undefined) throw problem;
      if (!more) return;
    }
  } finally {
    stop.abort();
    await ahead.catch(() => {});
  }
}

/** A page, and what its reader made of the text that it came as. */
export interface TakenPage<T> extends Page {
  readonly taken: T;
  readonly request: Exchange['request'];
  readonly status: number;
  /** The parts of it that are not as the contract says. */
  readonly odd: readonly Mismatch[];
}

/** Makes of a page's text what is wanted of it, once it was checked: the text itself is not kept. */
export type Take<T> = (text: string, page: Page) => T;

/** The pages of a paged endpoint's list, from the query's own `page` on. Timeouts and tries are for each page. */
export async function* readPages<T>(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  take: Take<T>,
  givenOptions: CallOptions = {},
): AsyncGenerator<TakenPage<T>, void, undefined> {
  const options = ownCopy(givenOptions);
  const query = ownCopy(input.query ?? {});
  let request = name;
  const fetchPage: FetchPage<TakenPage<T>> = async (number, stop) => {
    const either = eitherSignal(options.signal, stop);
    const given = { ...input, query: { ...query, page: number } };
    try {
      const reply = await caller.exchange(name, endpoint, given, {
        pace: true,
        ...options,
        signal: either.signal,
      });
      const { value, status, odd, text, redact } = reply;
      request = reply.request;
      const page = readPage(value, redact);
      if (page === undefined) {
        const expected = 'an array, or an object with one';
        throw mismatchError(request, { field: '', expected, received: received(value, redact), status });
      }
      return { ...page, request, status, odd, taken: take(text, page) };
    } finally {
      either.release();
    }
  };
  // What is no page number is refused by the call itself.
  const { page, pageSize } = query as { page?: number | null; pageSize?: number | null };
  const asked = { page: page ?? 1, pageSize: pageSize ?? undefined };
  try {
    yield* iteratePages(fetchPage, { request: () => request, asked });
  } catch (error) {
    if (error instanceof RungateError && error.facts.endpoint === undefined) {
      error.facts = { endpoint: name, method: endpoint.method };
    }
    throw error;
  }
}

/** The items of a paged endpoint's list, one by one. */
export async function* readItems(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  options?: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  const nothing = () => undefined;
  for await (const page of readPages(caller, name, endpoint, input, nothing, options)) {
    for (const item of page.items) yield item;
  }
}
