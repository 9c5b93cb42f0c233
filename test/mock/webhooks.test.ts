import { describe, expect, it } from 'vitest';
import { idOf, itemsOf, startService } from './service.ts';

const path = '/api/webhooks';
const url = 'https://receiver.example.test/in';

describe('the list of webhooks', () => {
  it('never contains a secret', async () => {
    const { mock, asUser } = await startService();
    const { text } = await asUser('GET', path);
    const webhooks = [...mock.state.account.webhooks.values()];
    expect(webhooks).toHaveLength(9);
    for (const { secret } of webhooks) expect(text).not.toContain(secret);
    expect(text).not.toContain('"secret"');
  });
});

describe('a registered webhook', () => {
  it('is returned with its secret only when it is created', async () => {
    const { asUser } = await startService();
    const response = await asUser('POST', path, {
      url,
      projectId: 'shop',
      events: ['run.completed'],
      note: 'mine',
    });
    const { secret, ...record } = response.json();
    expect(secret).toMatch(/^whsec_[0-9A-Za-z]{32}$/);
    expect([response.status, record]).toEqual([
      201,
      {
        id: expect.stringMatching(/^wh_/),
        ...{ url, projectId: 'shop', events: ['run.completed'], note: 'mine' },
        ...{ createdAt: '2026-01-01T00:00:00.000Z', secretRotatedAt: null },
      },
    ]);
    expect(itemsOf(await asUser('GET', path)).at(-1)).toEqual(record);
  });
});

describe('deliveries', () => {
  it('are recorded but not sent by default', async () => {
    const { asUser } = await startService();
    const target = `${path}/${idOf(await asUser('POST', path, { url }))}`;
    const response = await asUser('POST', `${target}/test`);
    expect([response.status, response.json()]).toMatchObject([
      201,
      {
        eventType: 'webhook.test',
        status: 'not_sent',
        responseStatus: null,
        attempts: 1,
        payload: { type: 'webhook.test' },
      },
    ]);
    const { payload: _payload, ...listed } = response.json();
    expect(itemsOf(await asUser('GET', `${target}/deliveries`))).toEqual([listed]);
  });
});
