import { orders } from '../contract/orders.ts';
import { ContractError } from '../errors.ts';
import type { Caller, CallOptions, Exchange } from './options.ts';

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
  totalRevenue: string;
  totalRevenueDisplay: string;
}

/** Replies are always checked here: a total that is no number has no decimal text. */
export type ExactOptions = Omit<CallOptions, 'check'>;

type Sender = Pick<Caller, 'exchange'>;

/** The reply once more, its numbers as text. What JSON.parse reads and this does not is ambiguous. */
async function withNumberText(name: string, reply: Exchange): Promise<unknown> {
  const { parse } = await import('lossless-json');
  const refuse = (field: string, expected: string, received: string, cause?: unknown): never => {
    const message = `${name}: ${field === '' ? 'the reply' : field} is not as the contract says: expected ${expected}, received ${received}`;
    const error = new ContractError(message, { field, expected, received, status: reply.status, cause });
    error.facts = { endpoint: name, method: 'GET', attempts: reply.attempts, elapsedMs: reply.elapsedMs };
    throw error;
  };
  const options = {
    parseNumber: (text: string) => text,
    // An amount that is there twice may be either of the two.
    onDuplicateKey: ({ key }: { key: string }) => refuse(key, 'each field once', 'two values for it'),
  };
  try {
    return parse(reply.text, undefined, options);
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
  const endpoint = orders['orders.list'];
  const reply = await caller.exchange('orders.list', endpoint, { params: {} }, { ...options, check: true });
  const checked = reply.value as { orders: Record<string, unknown>[] };
  const exact = (await withNumberText('orders.list', reply)) as { orders: { total: string }[] };
  return {
    orders: checked.orders.map(
      (order, index) => ({ ...order, total: exact.orders[index]?.total }) as ExactOrder,
    ),
  };
}

/** The summary with its exact revenue, and the reply it was read from. */
export async function readExactSummary(
  caller: Sender,
  options: ExactOptions = {},
): Promise<{ summary: ExactSummary; reply: Exchange }> {
  const endpoint = orders['orders.summary'];
  const reply = await caller.exchange(
    'orders.summary',
    endpoint,
    { params: {} },
    { ...options, check: true },
  );
  const checked = reply.value as { orderCount: number; totalRevenueDisplay: string };
  const exact = (await withNumberText('orders.summary', reply)) as { totalRevenue: string };
  return { summary: { ...checked, totalRevenue: exact.totalRevenue }, reply };
}
