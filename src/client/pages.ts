import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../contract/endpoint.ts';
import { type Mismatch, received } from '../contract/issues.ts';
import { HttpError, RungateError, redactError, UnexpectedResponseError } from '../errors.ts';
import { itemTexts } from '../json/text.ts';
import { type Redact, redactNothing } from '../redact.ts';
import { eitherSignal } from '../transport/stop.ts';
import { type Page, type PageQuery, type ReadPage, readPage } from './list.ts';
import type { Caller, CallerInput, CallOptions, Exchange } from './options.ts';
import { PageSequence } from './page-checks.ts';
import { mismatchError } from './schema-mismatch.ts';

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

/** A page whose items are those that no earlier page had. */
export interface ListPage extends Page {
  /** 1, and one more each time that the list is read again because it has changed. */
  readonly pass: number;
  /** The whole response. */
  readonly text: string;
  /** Returns each new item as its original text, in one line. */
  itemTexts(): string[];
  readonly request: string;
  readonly status: number;
  /** The parts that do not match the API. */
  readonly mismatches: readonly Mismatch[];
}

function pageIn({ value, request, status }: Exchange): ReadPage {
  const page = readPage(value);
  if (page !== undefined) return page;
  const expected = 'an array, or an object with one';
  throw mismatchError(request, { field: '', expected, received: received(value), status });
}

function listPage(response: Exchange, page: ReadPage, fresh: readonly number[], pass: number): ListPage {
  const { text, request, status, mismatches } = response;
  const pick = <Item>(all: readonly Item[]) => fresh.map((index) => all[index] as Item);
  return {
    ...page,
    items: pick(page.items),
    pass,
    text,
    itemTexts: () => pick(itemTexts(text, page)),
    request,
    status,
    mismatches,
  };
}

function problemError(request: string, status: number | undefined, problem: string) {
  const hint =
    'the items so far are not the whole list: read the list again; if that fails again, the paging of the service is broken';
  const parts = { field: 'items', expected: 'the whole list', received: 'a part of it', status, hint };
  return new UnexpectedResponseError(`${request}: ${problem}`, parts);
}

/**
 * Yields the pages of a list in order, from the query's `page` on. While one page is consumed, the next one is read, and only
 * that one. A consumer that stops early ends that read too. Timeouts and retries apply to each page.
 * @throws UnexpectedResponseError if the list contradicts itself (`PageSequence`), after the pages before it; and any error of a call
 */
export async function* readPages(
  caller: Pick<Caller, 'exchange'>,
  name: string,
  endpoint: Endpoint,
  input: CallerInput,
  options: CallOptions = {},
): AsyncGenerator<ListPage, void, undefined> {
  // The call itself refuses an invalid page number.
  const { page: start, pageSize } = (input.query ?? {}) as { [K in keyof PageQuery]: number | null };
  const stop = new AbortController();
  const { signal, release } = eitherSignal(options.signal, stop.signal);
  const sequence = new PageSequence({ page: start ?? 1, pageSize: pageSize ?? undefined });
  const read = (page: number) => {
    const pageInput = { ...input, query: { ...input.query, page } };
    const reading = caller.exchange(name, endpoint, pageInput, { pace: true, ...options, signal });
    // A page that is read ahead may fail. Its error is thrown when its turn comes.
    reading.catch(() => {});
    return reading;
  };
  let number: number | null = start ?? 1;
  let ahead = read(number);
  let request = name;
  let redact: Redact = redactNothing;
  try {
    while (number !== null) {
      const response = await (sequence.isGuess ? ahead.catch(noPage) : ahead);
      ({ request, redact } = response ?? { request, redact });
      const page = response === undefined ? { items: [], invalidFields: [] } : pageIn(response);
      const { fresh, next, problem } = sequence.judge(number, page);
      const pass = sequence.passes;
      number = next;
      if (number !== null) {
        ahead = read(number);
        await settingOut();
      }
      if (response !== undefined && (fresh.length > 0 || problem === undefined))
        yield listPage(response, page, fresh, pass);
      if (problem !== undefined) throw problemError(request, response?.status, problem);
    }
  } catch (error) {
    // The error of a call has its facts, and is redacted.
    if (!(error instanceof RungateError) || error.facts.endpoint !== undefined) throw error;
    error.facts = { endpoint: name, method: endpoint.method };
    throw redactError(error, redact);
  } finally {
    stop.abort();
    await ahead.catch(() => {});
    release();
  }
}

export async function* readItems(
  ...args: Parameters<typeof readPages>
): AsyncGenerator<unknown, void, undefined> {
  for await (const { items } of readPages(...args)) yield* items;
}
