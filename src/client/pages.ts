import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../contract/endpoint.ts';
import { HttpError, RungateError } from '../errors.ts';
import { eitherSignal } from '../transport/stop.ts';
import { type Page, type PageQuery, readPage } from './list.ts';
import type { Caller, CallerInput, CallOptions, Exchange } from './options.ts';
import { PageSequence, type SentPage } from './page-checks.ts';
import { type Mismatch, mismatchError, received } from './schema-mismatch.ts';

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

/**
 * Yields the pages of a list in order. While one page is consumed, the next one is read, and only that one. A consumer
 * that stops early ends that read too.
 * @throws UnexpectedResponseError if the list contradicts itself (`PageSequence`), after the pages before it; and any error of
 * `fetchPage`
 */
export async function* iteratePages<P extends SentPage>(
  fetchPage: FetchPage<P>,
  { request, requested = {} }: PagesOptions,
): AsyncGenerator<P, void, undefined> {
  const stop = new AbortController();
  const { page: start = 1 } = requested;
  const sequence = new PageSequence(request, requested);
  const read = (page: number) => {
    const reading = (async () => fetchPage(page, stop.signal))();
    // A page that is read ahead may fail. Its error is thrown when its turn comes.
    reading.catch(() => {});
    return reading;
  };
  let ahead = read(start);
  let guessed = false;
  try {
    for (let number = start; ; number += 1) {
      const page = await (guessed ? ahead.catch(noPage) : ahead);
      if (page === undefined) return;
      const judgement = sequence.judge(number, page);
      if (judgement === null) return;
      const { more, problem } = judgement;
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

/** A page, with the value that `convert` returned for its text. */
export interface ConvertedPage<T> extends Page {
  readonly converted: T;
  readonly request: Exchange['request'];
  readonly status: number;
  /** The parts that do not match the API. */
  readonly mismatches: readonly Mismatch[];
}

/** Converts the text of a checked page; the text itself is not kept. */
export type Convert<T> = (text: string, page: Page) => T;

/** From the query's `page` on. Timeouts and retries apply to each page. */
export async function* readPages<T>(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  convert: Convert<T>,
  options: CallOptions = {},
): AsyncGenerator<ConvertedPage<T>, void, undefined> {
  const query = input.query ?? {};
  let request = name;
  const fetchPage: FetchPage<ConvertedPage<T>> = async (number, stop) => {
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
      if (page === undefined) {
        const expected = 'an array, or an object with one';
        throw mismatchError(request, { field: '', expected, received: received(value), status });
      }
      return { ...page, request, status, mismatches, converted: convert(text, page) };
    } finally {
      either.release();
    }
  };
  // The call itself refuses an invalid page number.
  const { page, pageSize } = query as { page?: number | null; pageSize?: number | null };
  const requested = { page: page ?? 1, pageSize: pageSize ?? undefined };
  try {
    yield* iteratePages(fetchPage, { request: () => request, requested });
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
  const nothing = () => undefined;
  for await (const page of readPages(caller, name, endpoint, input, nothing, options)) {
    for (const item of page.items) yield item;
  }
}
