import { describe, expect, it } from 'vitest';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { mismatches } from '../../src/contract/issues.ts';

const order = { id: 'o', customer: 'c', total: 1.5, currency: 'EUR' };
const summary = { orderCount: 1, totalRevenue: 1.5, totalRevenueDisplay: '€1.50' };
const inList = (fields: object) => ({ orders: [fields] });
const itself = (fields: object) => fields;

/** The responses with required fields: valid fields, the response that contains them, and their path in it. */
const responses: [EndpointName, object, (fields: object) => object, string][] = [
  ['orders.list', { ...order, placedAt: '2026-01-01T00:00:00Z' }, inList, 'orders[0].'],
  ['orders.list', { orders: [] }, itself, ''],
  ['orders.get', order, itself, ''],
  ['orders.summary', summary, itself, ''],
  ['keys.create', { apiKey: 'rg_1' }, itself, ''],
  ['run.status', { state: 'in_progress' }, itself, ''],
];

const fields = responses.flatMap(([name, good, place, where]) =>
  Object.keys(good).map((field) => [name, field, good, place, `${where}${field}`] as const),
);

const found = (name: EndpointName, value: unknown) =>
  mismatches(api[name].response, value).map(({ field }) => field);

describe('required fields of a response', () => {
  it.each(fields)('refuses a response to %s if %s is missing or null', (name, field, good, place, path) => {
    expect(found(name, place(good))).toEqual([]);
    for (const value of [undefined, null]) {
      expect(found(name, place({ ...good, [field]: value }))).toEqual([path]);
    }
  });
});

it.each(['eur', '€', 'XBTC', ''])('accepts a currency that is not an ISO 4217 code: %j', (currency) => {
  expect(found('orders.get', { ...order, currency })).toEqual([]);
  expect(found('orders.list', inList({ ...order, currency, placedAt: '2026-01-01T00:00:00Z' }))).toEqual([]);
});
