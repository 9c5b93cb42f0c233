import { describe, expect, it } from 'vitest';
import { createAccount, defaultSizes } from '../../../src/mock/data/account.ts';

const until = Date.UTC(2026, 0, 1);
const account = (seed: number) => createAccount(seed, defaultSizes, until);
const dataOf = (seed: number) => {
  const { orders, environments, projects, webhooks } = account(seed);
  const observations = [...projects].map(([slug, store]) => [slug, [...store]]);
  return { orders, environments, webhooks, observations };
};

describe('the data set', () => {
  it('is the same for the same seed and different for another', () => {
    const [first, again, other] = [dataOf(7), dataOf(7), dataOf(8)];
    expect(again).toEqual(first);
    for (const part of ['orders', 'environments', 'webhooks', 'observations'] as const) {
      expect(other[part]).not.toEqual(first[part]);
    }
  });

  it('has orders of recent months in several currencies, the yen without minor units', () => {
    const { orders } = account(1);
    expect(orders).toHaveLength(137);
    expect(new Set(orders.map(({ currency }) => currency))).toEqual(new Set(['EUR', 'USD', 'GBP', 'JPY']));
    for (const { total, currency } of orders) {
      expect(total).toMatch(currency === 'JPY' ? /^[1-9]\d*$/ : /^\d+\.\d\d$/);
    }
    const dates = orders.map(({ placedAt }) => placedAt);
    expect(dates).toEqual([...dates].sort().reverse());
    expect(dates[0]?.startsWith('2025-12-')).toBe(true);
    expect(dates.at(-1)?.startsWith('2025-08-')).toBe(true);
    expect(orders.some(({ customer }) => /[^\p{ASCII}]/u.test(customer))).toBe(true);
  });

  it('has projects with many, few and no observations, in every status, oldest first', () => {
    const { projects, environments } = account(1);
    expect([...projects].map(([slug, { size }]) => [slug, size])).toEqual([
      ['shop', 230],
      ['shop-mobile', 24],
      ['payments-api', 7],
      ['playground', 0],
    ]);
    const all = [...(projects.get('shop')?.values() ?? [])];
    expect(new Set(all.map(({ status }) => status)).size).toBe(6);
    const dates = all.map(({ createdAt }) => createdAt);
    expect(dates).toEqual([...dates].sort());
    const tags = new Set([...environments.values()].map(({ key, version }) => `${key} ${version}`));
    for (const one of all) {
      expect(one.updatedAt >= one.createdAt && one.updatedAt <= new Date(until).toISOString()).toBe(true);
      expect(one.status === 'superseded').toBe(one.supersededBy !== null);
      expect(one.status === 'promoted_to_ticket').toBe(one.ticketId !== null);
      const { discoveredInEnvironmentKey: key, discoveredInEnvironmentVersion: version } = one;
      expect(key === null ? version === null : tags.has(`${key} ${version}`)).toBe(true);
      if (one.supersededBy !== null) {
        const newer = projects.get('shop')?.get(one.supersededBy);
        expect(newer && newer.createdAt >= one.createdAt).toBe(true);
      }
    }
  });

  it('uses given orders unchanged and generates their missing fields', () => {
    const given = [
      { total: '12.340', currency: 'KWD' },
      { id: 'mine', total: '7' },
    ];
    const { orders } = createAccount(1, { ...defaultSizes, orders: given }, until);
    expect(orders).toMatchObject([
      { total: '12.340', currency: 'KWD' },
      { id: 'mine', total: '7' },
    ]);
    expect(orders[0]).toMatchObject({ id: expect.stringMatching(/^ord_/), customer: expect.any(String) });
    const wrong = () => createAccount(1, { ...defaultSizes, orders: [{ total: '1e3' }] }, until);
    expect(wrong).toThrow('the total "1e3" is not decimal text');
  });
});
