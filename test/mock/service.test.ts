import { describe, expect, it } from 'vitest';
import { type ReceivedRequest, route } from '../../src/mock/exchange.ts';
import { handlers } from '../../src/mock/handlers/index.ts';
import { createService, type Handlers } from '../../src/mock/service.ts';
import { createState } from '../../src/mock/state.ts';
import { fakeClock } from '../fake-clock.ts';

const summary = { orderCount: 1, totalRevenue: 2.5, totalRevenueDisplay: '$2.50' };

async function getSummary(handler: Handlers['orders.summary']) {
  const state = createState({ clock: fakeClock(Date.UTC(2026, 0, 1)) });
  state.credentials.set('k', { kind: 'key' });
  const path = '/api/orders/summary.json';
  const exchange: ReceivedRequest = {
    method: 'GET',
    path,
    target: path,
    query: {},
    headers: { 'x-api-key': 'k' },
    bytes: new Uint8Array(),
    route: route('GET', path),
    address: '127.0.0.1',
  };
  const { status, body } = await createService(state, { ...handlers, 'orders.summary': handler })(exchange);
  return [status, JSON.parse(Buffer.from(body).toString('utf8'))] as const;
}

describe('the service', () => {
  it('returns 500 for a response that does not match the API but compiles', async () => {
    expect(await getSummary(() => ({ body: { ...summary, currency: 'USD' } }))).toEqual([
      500,
      {
        error: 'The mock did not respond as its API says',
        details: 'orders.summary: response.currency is unknown',
      },
    ]);
  });

  it('returns 500 with an error body if a handler throws', async () => {
    const broken = () => {
      throw new TypeError('no such thing');
    };
    expect(await getSummary(broken)).toEqual([500, { error: 'The mock failed', details: 'no such thing' }]);
  });
});
