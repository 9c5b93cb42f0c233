import { orders } from '../contract/orders.ts';
import { ContractError } from '../errors.ts';
import { errorBody } from './error-body.ts';
import type { Caller, CallOptions, Exchange } from './options.ts';
import { mismatchError } from './schema-mismatch.ts';

/** An order of the list, with its total as the decimal text from the response; other fields as in `orders.list`. */
export interface ExactOrder {
  id: string;
  customer: string;
  total: string;
  currency: string;
  placedAt: string;
  [field: string]: unknown;
}

/** The summary, with its revenue as the decimal text from the response. */
export interface ExactSummary {
  orderCount: number;
  /** The order count with every digit. */
  orderCountText: string;
  totalRevenue: string;
  totalRevenueDisplay: string;
}

/** Responses are always checked: only a number has a decimal text. */
export type ExactOptions = Omit<CallOptions, 'check'>;

type Sender = Pick<Caller, 'exchange'>;

/**
 * Sends the call and reads the numbers of its response as text.
 * @throws ContractError also for JSON that JSON.parse accepts although it is ambiguous
 */
async function readExact(
  caller: Sender,
  name: 'orders.list' | 'orders.summary',
  options: ExactOptions,
): Promise<{ response: Exchange; exact: unknown }> {
  const response = await caller.exchange(name, orders[name], { params: {} }, { ...options, check: true });
  const { parse } = await import('lossless-json');
  const { status, request, attempts, elapsedMs, text, redact } = response;
  const refuse = (field: string, expected: string, received: string, cause?: unknown): never => {
    const body = errorBody(text, redact);
    const error = mismatchError(request, { field, expected, received, status, cause, body });
    error.facts = { endpoint: name, method: 'GET', attempts, elapsedMs };
    throw error;
  };
  // The sum of one page is not the sum of all orders.
  const { hasNextPage } = response.value as { hasNextPage?: unknown };
  if (hasNextPage === true) refuse('hasNextPage', 'all orders in one list', 'a list that has a next page');
  // An order without an amount or a currency would be missing from the sum. Its other fields do not matter here.
  const mismatch = response.mismatches.find(
    ({ path }) => path.length < 3 || ['total', 'currency'].includes(String(path[2])),
  );
  if (mismatch !== undefined) refuse(mismatch.field, mismatch.expected, mismatch.received);
  try {
    const exact = parse(response.text, undefined, {
      parseNumber: (text: string) => text,
      // A field that occurs twice could have either value.
      onDuplicateKey: ({ key }: { key: string }) => refuse(key, 'each field once', 'two values for it'),
    });
    return { response, exact };
  } catch (error) {
    if (error instanceof ContractError) throw error;
    return refuse('', 'JSON that can be read exactly', 'JSON that cannot', error);
  }
}

/** Returns the orders of the account with exact totals, which never pass through a float. */
export async function listExact(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ orders: ExactOrder[] }> {
  const { response, exact } = await readExact(caller, 'orders.list', options);
  const checked = response.value as { orders: Record<string, unknown>[] };
  const totals = (exact as { orders: { total: string }[] }).orders;
  return {
    orders: checked.orders.map((order, index) => ({ ...order, total: totals[index]?.total }) as ExactOrder),
  };
}

/** Returns the summary with its exact revenue, and the response. */
export async function readExactSummary(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ summary: ExactSummary; response: Exchange }> {
  const { response, exact } = await readExact(caller, 'orders.summary', options);
  const { orderCount: orderCountText, totalRevenue } = exact as Record<string, string>;
  return {
    summary: { ...(response.value as ExactSummary), orderCountText, totalRevenue } as ExactSummary,
    response,
  };
}
