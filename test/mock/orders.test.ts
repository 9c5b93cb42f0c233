import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonNode, parseJson } from '../../src/json/parse.ts';
import { startService } from './service.ts';

/** Returns the digits of a number as sent. */
function digits(node: JsonNode, field: string): string {
  const value = node.member(field)?.value;
  expect(typeof value?.value).toBe('number');
  return value?.text ?? '';
}

const totalOf = (order: JsonNode) => digits(order, 'total');

/** Adds decimal texts in units of 1/10^9, deliberately unlike the mock's own method. */
function sum(texts: readonly string[]): bigint {
  return texts.reduce((all, text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return all + BigInt(whole + fraction.padEnd(9, '0'));
  }, 0n);
}

async function orderService(orders?: { total: string; currency?: string }[]) {
  const service = await startService(orders === undefined ? {} : { data: { orders } });
  const list = async () =>
    parseJson((await service.call('GET', '/api/orders.json')).text).at(['orders'])?.elements ?? [];
  const summary = async () => (await service.call('GET', '/api/orders/summary.json')).text;
  return { ...service, list, summary };
}

describe('the order summary', () => {
  it('has the exact sum of any totals, even beyond the precision of a double', async () => {
    const money = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.nat({ max: 999 }), fc.nat({ max: 3 }))
      .map(([whole, part, scale]) =>
        scale === 0 ? `${whole}` : `${whole}.${String(part).padStart(3, '0').slice(0, scale)}`,
      );
    await fc.assert(
      fc.asyncProperty(fc.array(money, { maxLength: 20 }), async (totals) => {
        const { mock, list, summary } = await orderService(totals.map((total) => ({ total })));
        const body = parseJson(await summary());
        const listed = (await list()).map(totalOf);
        await mock.close();
        expect(listed).toEqual(totals);
        expect(sum([digits(body, 'totalRevenue')])).toBe(sum(totals));
      }),
      { numRuns: 25 },
    );
  });
});
