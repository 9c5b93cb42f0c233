import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/create-client.ts';
import { asked, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

/** JSON as text, so that the test decides every digit. */
function orderText(total: string, currency = '"EUR"'): string {
  return `{"id":"o","customer":"Ann","total":${total},"currency":${currency},"placedAt":"2026-01-02T03:04:05Z"}`;
}

const listText = (...orders: string[]) => `{"orders":[${orders.join(',')}]}`;
const eur = (...totals: string[]) => listText(...totals.map((total) => orderText(total)));
const summaryText = (count: string, revenue: string, display = '"€0.30"') =>
  `{"orderCount":${count},"totalRevenue":${revenue},"totalRevenueDisplay":${display}}`;

function listIs(text: string, times = Number.POSITIVE_INFINITY) {
  on.mock.faults.add({ kind: 'reply', text, endpoint: 'orders.list', times });
}

function summaryIs(text: string, times = Number.POSITIVE_INFINITY) {
  on.mock.faults.add({ kind: 'reply', text, endpoint: 'orders.summary', times });
}

const summary = (...more: string[]) => on.rungate('orders', 'summary', ...more);
const verify = (...more: string[]) => summary('--verify', ...more);

describe('orders summary', () => {
  it('prints the fields with every digit, and the display text unchanged', async () => {
    summaryIs(summaryText('2', '1.50', '"1.234,50\u00a0€ (१)"'));
    expect((await summary()).out).toBe(
      'orderCount\t2\ntotalRevenue\t1.50\ntotalRevenueDisplay\t1.234,50\u00a0€ (१)\n',
    );
    const shown = await on.with({ isTTY: true, env: { NO_COLOR: '1' } })('orders', 'summary');
    expect(shown.out).toMatch(/^ ?FIELD +VALUE\n/);
    expect(shown.out).toMatch(/totalRevenue +1\.50\n/);
  });
});

describe('orders summary --verify', () => {
  it('refuses a list that has a next page', async () => {
    summaryIs(summaryText('1', '1'));
    const order = '{"id":"o","customer":"c","total":1,"currency":"EUR","placedAt":"2026-01-01T00:00:00Z"}';
    listIs(`{"orders":[${order}],"hasNextPage":true}`);
    const { code, err } = await verify();
    expect(code).toBe(5);
    expect(err).toContain('a list that has a next page');
  });

  it('exits with 0 if the list adds up exactly, even if doubles would not', async () => {
    summaryIs(summaryText('2', '0.3'));
    listIs(eur('0.1', '0.2'));
    const { code, out, err } = await verify();
    expect(code).toBe(0);
    expect(out).toBe('orderCount\t2\t2\t0\ntotalRevenue\t0.3\t0.3\t0.0\ntotalRevenueDisplay\t€0.30\t\t\n');
    expect(err).toBe('adds up: 2 orders, 0.3 in all\n');
    expect(asked(on.mock)).toEqual(['orders.summary', 'orders.list']);
  });

  it('exits with 1 if the list does not add up, and shows the difference', async () => {
    summaryIs(summaryText('3', '0.30000000000000004'));
    listIs(eur('0.1', '0.2'));
    const { code, out, err } = await verify('--quiet');
    expect(code).toBe(1);
    expect(out).toContain('orderCount\t3\t2\t1\n');
    expect(err).toBe(
      'does not add up: orderCount is 3, but the list has 2 orders; totalRevenue is 0.30000000000000004, but the list adds up to 0.3 (difference 0.00000000000000004)\n',
    );
    expect(asked(on.mock)).toEqual(['orders.summary', 'orders.list', 'orders.summary']);
  });

  it('prints JSON with decimals as strings, and the summary unchanged', async () => {
    summaryIs(summaryText('3', '1.0E3'));
    listIs(listText(orderText('12.50'), orderText('987.25', '"USD"'), orderText('2.5e-1')));
    const { code, out } = await verify('--json');
    expect(code).toBe(0);
    expect(out).toContain('"totalRevenue": 1.0E3');
    expect(JSON.parse(out)).toEqual({
      schemaVersion: 1,
      addsUp: true,
      orderCount: { stated: 3, counted: 3 },
      totalRevenue: { stated: '1000', summed: '1000.00', difference: '0.00' },
      byCurrency: [
        { currency: 'EUR', count: 2, total: '12.75' },
        { currency: 'USD', count: 1, total: '987.25' },
      ],
      summary: { orderCount: 3, totalRevenue: 1000, totalRevenueDisplay: '€0.30' },
    });
    summaryIs(summaryText('3', '1.0E3'));
    const one = await on.rungate('orders', 'summary', '--verify', '--format', 'ndjson');
    expect(one.out.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('orders summary --verify, if orders arrive while it reads,', () => {
  it('reads up to three times', async () => {
    summaryIs(summaryText('1', '10'), 1);
    summaryIs(summaryText('3', '16'), 1);
    summaryIs(summaryText('4', '20'));
    listIs(eur('10', '5'), 1);
    listIs(eur('10', '5', '1', '4'));
    expect((await verify()).code).toBe(0);
    expect(asked(on.mock)).toHaveLength(5);
  });

  it('exits with 3, null and a reason if they never stop arriving', async () => {
    for (let count = 1; count <= 4; count += 1) summaryIs(summaryText(String(count), `${count}0`), 1);
    listIs(eur('7'));
    const { code, out, err } = await verify('--json');
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({ addsUp: null, orderCount: { stated: 4, counted: 1 } });
    expect(err).toMatch(/^unknown: the orders changed during each of/);
    expect(asked(on.mock)).toHaveLength(7);
  });
});

describe('client.orders.listExact', () => {
  const connect = () => createClient({ apiUrl: on.mock.url, token: on.mock.token });

  it('returns each total as its original text, and the rest as orders.list does', async () => {
    const withExtraFields = orderText('0.10').replace('}', ',"items":[1.50],"total2":7}');
    listIs(listText(orderText('12345678901234567890.10'), withExtraFields, orderText('-1E-2')));
    const client = connect();
    const { orders } = await client.orders.listExact();
    expect(orders.map((order) => order.total)).toEqual(['12345678901234567890.10', '0.10', '-1E-2']);
    const plain = await client.orders.list();
    expect(orders.map(({ total: _total, ...rest }) => rest)).toEqual(
      plain.orders.map(({ total: _total, ...rest }) => rest),
    );
    await client.close();
  });
});
