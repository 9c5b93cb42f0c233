import type { Caller, Exchange } from '../../client/caller.ts';
import { type ExactSummary, listExact, readExactSummary } from '../../client/exact-orders.ts';
import { orders as api } from '../../contract/orders.ts';
import { count } from '../../count.ts';
import { exitCodes } from '../../exit.ts';
import { compare, parseDecimal, type Verification, verifySummary } from '../../money.ts';
import { renderJson } from '../../output/json.ts';
import type { Table } from '../../output/table.ts';
import type { Context } from '../context.ts';
import { command } from '../spec.ts';
import { describedEndpoint } from './derive.ts';
import { fieldTable } from './response-table.ts';

/** The most reads of the summary and the list, if new orders arrive in between. */
const rounds = 3;

interface ObservedSummary {
  summary: ExactSummary;
  response: Exchange;
  verification: Verification;
  /** False if the orders kept changing while they were read: the result is then unknown. */
  settled: boolean;
}

function sameAmounts(a: ExactSummary, b: ExactSummary): boolean {
  return (
    a.orderCount === b.orderCount &&
    compare(parseDecimal(a.totalRevenue, 'totalRevenue'), parseDecimal(b.totalRevenue, 'totalRevenue')) === 0
  );
}

/**
 * Reads the summary and the list, and the summary again if they differ, because an order may have arrived in between. A list
 * that matches the summary before or after it is right; one that differs from two equal summaries is wrong.
 */
async function observe(caller: Caller): Promise<ObservedSummary> {
  let before = await readExactSummary(caller);
  for (let round = 1; ; round += 1) {
    const { orders } = await listExact(caller);
    const early = verifySummary(orders, before.summary);
    if (early.addsUp) return { ...before, verification: early, settled: true };
    const after = await readExactSummary(caller);
    const late = verifySummary(orders, after.summary);
    const settled = late.addsUp || sameAmounts(before.summary, after.summary);
    if (settled || round === rounds) return { ...after, verification: late, settled };
    before = after;
  }
}

const none = null;
const orders = (number: number) => count(number, 'order');

function verificationTable({ summary, verification }: ObservedSummary): Table {
  const { orderCount, totalRevenue, byCurrency } = verification;
  const { stated, counted } = orderCount;
  const currencies = byCurrency.length > 1 ? byCurrency : [];
  return {
    head: ['', 'SUMMARY', 'LIST', 'DIFFERENCE'],
    rows: [
      ['orderCount', ...[stated, counted, stated - counted].map(String)],
      ['totalRevenue', totalRevenue.stated, totalRevenue.summed, totalRevenue.difference],
      ['totalRevenueDisplay', { prose: summary.totalRevenueDisplay }, none, none],
      ...currencies.map(({ currency, count, total }) => [
        `${currency} (${orders(count)})`,
        none,
        total,
        none,
      ]),
    ],
  };
}

/** Returns the verification as JSON text, with the service's summary in all its digits. */
function verificationJson({ verification, response, settled }: ObservedSummary): string {
  const { addsUp, ...figures } = verification;
  const report = { schemaVersion: 1, addsUp: settled ? addsUp : null, ...figures };
  const json = renderJson(report, 0).trimEnd();
  return `${json.slice(0, -1)},"summary":${response.text}}`;
}

function disagreement({ verification: { orderCount, totalRevenue } }: ObservedSummary): string {
  const parts = [];
  if (orderCount.stated !== orderCount.counted) {
    parts.push(`orderCount is ${orderCount.stated}, but the list has ${orders(orderCount.counted)}`);
  }
  if (compare(parseDecimal(totalRevenue.difference), parseDecimal('0')) !== 0) {
    const { stated, summed, difference } = totalRevenue;
    parts.push(`totalRevenue is ${stated}, but the list adds up to ${summed} (difference ${difference})`);
  }
  return parts.join('; ');
}

async function verifyOrders(context: Context, caller: Caller): Promise<number> {
  const { output } = context;
  const seen = await observe(caller);
  const { verification, settled } = seen;
  await output.response(verificationJson(seen), verificationTable(seen));
  if (verification.byCurrency.length > 1) {
    const codes = verification.byCurrency.map(({ currency }) => currency).join(', ');
    await output.note(
      `the orders are in ${verification.byCurrency.length} currencies (${codes}): the service adds them up in totalRevenue, but a sum over several currencies is misleading`,
    );
  }
  if (!settled) {
    await output.alert(
      `${output.paint('warn', 'unknown:')} the orders changed during each of ${rounds} reads; run the command again when fewer orders arrive`,
    );
    return exitCodes.timeout;
  }
  if (!verification.addsUp) {
    await output.alert(
      `${output.paint('bad', 'does not add up:')} ${output.excerpt(disagreement(seen), 3000)}`,
    );
    return exitCodes.failed;
  }
  const { counted } = verification.orderCount;
  await output.note(
    `${output.paint('good', 'adds up:')} ${orders(counted)}, ${verification.totalRevenue.summed} in all`,
  );
  return exitCodes.ok;
}

export const ordersSummary = command({
  ...describedEndpoint('orders.summary', api['orders.summary']),
  options: {
    '--verify':
      'compare with the exact sum of the orders: exit 1 if they differ, 3 if the orders keep changing',
  },
  examples: ['rungate orders summary --verify'],
  async run(context, _args, flags) {
    const caller = await context.connect();
    if (flags.verify === true) return verifyOrders(context, caller);
    const { text } = (await readExactSummary(caller)).response;
    await context.output.response(text, fieldTable(text));
    return exitCodes.ok;
  },
});
