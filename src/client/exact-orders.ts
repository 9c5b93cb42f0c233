import { orders } from '../contract/orders.ts';
import { ContractError } from '../errors.ts';
import { shownBody } from './error-body.ts';
import type { Caller, CallOptions, Exchange } from './options.ts';
import { mismatchError } from './schema-mismatch.ts';

/** An order of the list, its total as the decimal text that came over the wire; the rest as `orders.list` has it. */
export interface ExactOrder {
  id: string;
  customer: string;
  total: string;
  currency: string;
  placedAt: string;
  [field: string]: unknown;
}

/** The summary, its revenue as the decimal text that came over the wire. */
export interface ExactSummary {
  orderCount: number;
  /** The same with every digit. */
  orderCountText: string;
  totalRevenue: string;
  totalRevenueDisplay: string;
}

/** Replies are always checked here: a total that is no number has no decimal text. */
export type ExactOptions = Omit<CallOptions, 'check'>;

type Sender = Pick<Caller, 'exchange'>;

/**
 * Sends the call, and reads the numbers of its response as text.
 * @throws ContractError also for what JSON.parse reads and this does not: it is ambiguous
 */
async function readExact(
  caller: Sender,
  name: 'orders.list' | 'orders.summary',
  options: ExactOptions,
): Promise<{ reply: Exchange; exact: unknown }> {
  const reply = await caller.exchange(name, orders[name], { params: {} }, { ...options, check: true });
  const { parse } = await import('lossless-json');
  const { status, request, attempts, elapsedMs, text, redact } = reply;
  const refuse = (field: string, expected: string, received: string, cause?: unknown): never => {
    const body = shownBody(text, redact);
    const error = mismatchError(request, { field, expected, received, status, cause, body });
    error.facts = { endpoint: name, method: 'GET', attempts, elapsedMs };
    throw error;
  };
  // The sum of a part is not the sum.
  const { hasNextPage } = reply.value as { hasNextPage?: unknown };
  if (hasNextPage === true) refuse('hasNextPage', 'all orders in one list', 'a list that has a next page');
  // An order without an amount in a currency would be left out of the sum. Whatever else is odd in it is no matter here.
  const odd = reply.odd.find(
    ({ path }) => path.length < 3 || ['total', 'currency'].includes(String(path[2])),
  );
  if (odd !== undefined) refuse(odd.field, odd.expected, odd.received);
  try {
    const exact = parse(reply.text, undefined, {
      parseNumber: (text: string) => text,
      // An amount that is there twice may be either of the two.
      onDuplicateKey: ({ key }: { key: string }) => refuse(key, 'each field once', 'two values for it'),
    });
    return { reply, exact };
  } catch (error) {
    if (error instanceof ContractError) throw error;
    return refuse('', 'JSON that can be read exactly', 'JSON that cannot', error);
  }
}

/** The orders of the account with exact totals: no total passes through a float. */
export async function listExact(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ orders: ExactOrder[] }> {
  const { reply, exact } = await readExact(caller, 'orders.list', options);
  const checked = reply.value as { orders: Record<string, unknown>[] };
  const totals = (exact as { orders: { total: string }[] }).orders;
  return {
    orders: checked.orders.map((order, index) => ({ ...order, total: totals[index]?.total }) as ExactOrder),
  };
}

/** The summary with its exact revenue, and the reply it was read from. */
export async function readExactSummary(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ summary: ExactSummary; reply: Exchange }> {
  const { reply, exact } = await readExact(caller, 'orders.summary', options);
  const { orderCount: orderCountText, totalRevenue } = exact as Record<string, string>;
  return {
    summary: { ...(reply.value as ExactSummary), orderCountText, totalRevenue } as ExactSummary,
    reply,
  };
}
