import { afterEach, describe, expect, it } from 'vitest';
import { createClient, type Mock, type MockOptions, type ServiceClient, startMock } from '../../src/index.ts';
import { fakeClock } from '../fake-clock.ts';

let mock: Mock;
let client: ServiceClient;
afterEach(async () => {
  await client?.close();
  await mock?.close();
});

async function play(options: MockOptions = {}): Promise<void> {
  mock = await startMock({ clock: fakeClock(), ...options });
  client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
}
const start = () => client.run.trigger({ projectSlug: 'shop', processSlug: 'checkout' });

describe('startMock', () => {
  it('shows the current state of runs', async () => {
    const clock = fakeClock();
    await play({ clock, outcome: 'failed', duration: 1000 });
    await start();
    const [before] = mock.runs;
    expect(before).toMatchObject({
      state: 'in_progress',
      failed: 0,
      request: { projectSlug: 'shop', processSlug: 'checkout' },
      cancelReason: null,
    });
    clock.advance(1000);
    expect(mock.runs).toMatchObject([{ runId: before?.runId, state: 'completed', failed: 2, blocked: 0 }]);
    expect(before?.state).toBe('in_progress');
  });

  it('records requests and responses', async () => {
    await play();
    mock.faults.add({ kind: 'status', status: 503, endpoint: 'orders.list' });
    expect(mock.faults.list).toMatchObject([{ kind: 'status', times: 1 }]);
    expect(mock.faults.pending).toBe(1);
    await client.orders.list();
    expect(mock.faults.pending).toBe(0);
    expect(mock.requests.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ['orders.list', 503],
      ['orders.list', 200],
    ]);
  });
});
