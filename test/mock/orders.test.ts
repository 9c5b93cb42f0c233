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

describe('the order list', () => {
  it('has every order of the account, with the required fields', async () => {
    const { call, list } = await orderService();
    expect(await list()).toHaveLength(137);
    for (const order of (await call('GET', '/api/orders.json')).json().orders as unknown[]) {
      expect(order).toEqual({
        id: expect.stringMatching(/^ord_/),
        customer: expect.stringMatching(/./),
        total: expect.any(Number),
        currency: expect.stringMatching(/^(EUR|USD|GBP|JPY)$/),
        placedAt: expect.stringMatching(/^2025-.*Z$/),
      });
    }
  });

  it('sends totals as JSON numbers with unchanged digits', async () => {
    const totals = ['1234.50', '800', '0.10', '-5.00', '9007199254740993.07', '0.123456789012345678'];
    const { list } = await orderService(totals.map((total) => ({ total })));
    expect((await list()).map(totalOf)).toEqual(totals);
  });
});

describe('the order summary', () => {
  it('has the exact sum of the listed totals', async () => {
    const { list, summary } = await orderService();
    const body = parseJson(await summary());
    const totals = (await list()).map(totalOf);
    expect(digits(body, 'orderCount')).toBe(String(totals.length));
    expect(sum([digits(body, 'totalRevenue')])).toBe(sum(totals));
  });

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

  it('has exactly three fields, also for an account without orders', async () => {
    const { summary } = await orderService([]);
    expect(JSON.parse(await summary())).toEqual({
      orderCount: 0,
      totalRevenue: 0,
      totalRevenueDisplay: '€0.00',
    });
  });

  it("shows the sum in the currency of the orders, or in the account's if there are several", async () => {
    const display = async (orders: { total: string; currency: string }[]) =>
      JSON.parse(await (await orderService(orders)).summary()).totalRevenueDisplay;
    const dollars = { total: '1234567.8', currency: 'USD' };
    expect(await display([dollars])).toBe('$1,234,567.80');
    expect(await display([dollars, { total: '1', currency: 'GBP' }])).toBe('€1,234,568.80');
  });
});

describe('a single order', () => {
  it('agrees with the list', async () => {
    const { call, list } = await orderService();
    for (const order of (await list()).slice(0, 5)) {
      const id = order.at(['id'])?.value;
      const { text } = await call('GET', `/api/orders/${id}.json`);
      expect(text).toContain(`"total":${totalOf(order)}`);
      expect(JSON.parse(text)).toMatchObject({ id });
    }
  });

  it('gets 404 if it does not exist', async () => {
    const { call } = await orderService();
    expect((await call('GET', '/api/orders/no.json')).status).toBe(404);
  });
});
