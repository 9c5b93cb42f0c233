import { describe, expect, it } from 'vitest';
import { createAccount } from '../../../src/mock/data/account.ts';

const until = Date.UTC(2026, 0, 1);
const dataOf = (seed: number) => {
  const { orders, environments, projects, webhooks } = createAccount(seed, {}, until);
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

  it('has several currencies, and observations in every status that refer to what exists', () => {
    const { orders, projects, environments } = createAccount(1, {}, until);
    expect(new Set(orders.map(({ currency }) => currency)).size).toBe(4);
    const shop = projects.get('shop') ?? new Map();
    expect(new Set([...shop.values()].map(({ status }) => status)).size).toBe(6);
    const keys = [null, ...[...environments.values()].map(({ key }) => key)];
    for (const { supersededBy, discoveredInEnvironmentKey } of shop.values()) {
      expect(supersededBy === null || shop.has(supersededBy)).toBe(true);
      expect(keys).toContain(discoveredInEnvironmentKey);
    }
  });
});
