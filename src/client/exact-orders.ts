import { orders } from '../contract/orders.ts';
import { redactError } from '../errors.ts';
import { type JsonNode, parseJson } from '../json/parse.ts';
import { errorBody } from './error-body.ts';
import type { Caller, CallOptions, Exchange } from './options.ts';
import { mismatchError } from './schema-mismatch.ts';

/** An order of the list, with its total as the decimal text from the response; other fields as in `orders.list`. */
export interface ExactOrder {
  /** The order's id. */
  id: string;
  /** The customer's display name. */
  customer: string;
  /** The amount in units of `currency`, as decimal text. */
  total: string;
  /** ISO 4217 code. */
  currency: string;
  /** When it was placed, ISO 8601. */
  placedAt: string;
}

/** The summary, with its revenue as the decimal text from the response. */
export interface ExactSummary {
  orderCount: number;
  totalRevenue: string;
  totalRevenueDisplay: string;
}

/** Responses are always checked: only a number has a decimal text. */
export type ExactOptions = Omit<CallOptions, 'check'>;

type Sender = Pick<Caller, 'exchange'>;

/**
 * Sends the call and reads the numbers of its response as text.
 * @throws UnexpectedResponseError also for JSON that JSON.parse accepts although it is ambiguous
 */
async function readExact(
  caller: Sender,
  name: 'orders.list' | 'orders.summary',
  options: ExactOptions,
): Promise<{ response: Exchange; body: JsonNode }> {
  const response = await caller.exchange(name, orders[name], { params: {} }, { ...options, check: true });
  const { status, request, requests, elapsedMs, text } = response;
  const refuse = (field: string, expected: string, received: string): never => {
    const body = errorBody(text, response.redact);
    const error = mismatchError(request, { field, expected, received, status, body });
    error.facts = { endpoint: name, method: 'GET', requests, elapsedMs };
    throw redactError(error, response.redact);
  };
  // The sum of one page is not the sum of all orders.
  const { hasNextPage } = response.value as { hasNextPage?: unknown };
  if (hasNextPage === true) refuse('hasNextPage', 'all orders in one list', 'a list that has a next page');
  // An order without an amount or a currency would be missing from the sum. Its other fields do not matter here.
  const mismatch = response.mismatches.find(
    ({ path }) => path.length < 3 || ['total', 'currency'].includes(String(path[2])),
  );
  if (mismatch !== undefined) refuse(mismatch.field, mismatch.expected, mismatch.received);
  const body = parseJson(text);
  // A field that occurs twice could have either value.
  if (body.repeated !== undefined) refuse(body.repeated.name, 'each field once', 'two values for it');
  return { response, body };
}

/** Returns the orders of the account with exact totals, which never pass through a float. */
export async function listExact(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ orders: ExactOrder[] }> {
  const { response, body } = await readExact(caller, 'orders.list', options);
  const checked = response.value as { orders: Record<string, unknown>[] };
  const total = (index: number) => body.at(['orders', String(index), 'total'])?.text;
  return { orders: checked.orders.map((order, index) => ({ ...order, total: total(index) }) as ExactOrder) };
}

export async function readExactSummary(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ summary: ExactSummary; response: Exchange }> {
  const { response, body } = await readExact(caller, 'orders.summary', options);
  const totalRevenue = body.at(['totalRevenue'])?.text;
  return { summary: { ...(response.value as ExactSummary), totalRevenue } as ExactSummary, response };
}
