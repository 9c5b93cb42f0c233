import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../src/mock/data/webhooks.ts';
import { idOf, itemsOf, startService } from './service.ts';

const path = '/api/webhooks';
const url = 'https://receiver.example.test/in';

describe('event types', () => {
  it('are a list of types with descriptions', async () => {
    const { asUser } = await startService();
    const list = (await asUser('GET', `${path}/event-types`)).json() as unknown as Record<string, unknown>[];
    expect(list.map(({ type }) => type)).toContain('run.completed');
    for (const one of list)
      expect(one).toEqual({ type: expect.any(String), description: expect.any(String) });
  });
});

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

  it('is global and receives every event by default', async () => {
    const { asUser } = await startService();
    const { projectId, events } = (await asUser('POST', path, { url })).json();
    expect([projectId, (events as string[]).length]).toEqual([null, eventTypes.length]);
  });

  it('no longer exists after deletion, nor do its deliveries', async () => {
    const { asUser } = await startService();
    const target = `${path}/${idOf(await asUser('POST', path, { url }))}`;
    expect((await asUser('DELETE', target)).status).toBe(204);
    expect((await asUser('DELETE', target)).status).toBe(404);
    expect((await asUser('GET', `${target}/deliveries`)).status).toBe(404);
    expect((await asUser('POST', `${target}/test`)).status).toBe(404);
    expect((await asUser('POST', `${target}/secret/rotate`)).status).toBe(404);
  });
});

describe('deliveries', () => {
  it('are listed newest first, and can be read with their payload', async () => {
    const { asUser } = await startService();
    const [webhook] = itemsOf(await asUser('GET', path));
    const list = itemsOf(await asUser('GET', `${path}/${webhook?.id}/deliveries`));
    expect(list).toHaveLength(14);
    const dates = list.map(({ createdAt }) => createdAt);
    expect(dates).toEqual([...dates].sort().reverse());
    const one = (await asUser('GET', `${path}/${webhook?.id}/deliveries/${list[0]?.id}`)).json();
    expect(one).toEqual({
      ...list[0],
      payload: {
        id: list[0]?.id,
        type: list[0]?.eventType,
        createdAt: list[0]?.createdAt,
        data: { projectSlug: 'shop', runId: expect.stringMatching(/^run_/) },
      },
    });
    expect(webhook?.events).toContain(one.eventType);
  });

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

  it('can be sent again, which increases the count', async () => {
    const { asUser, clock } = await startService();
    const target = `${path}/${idOf(await asUser('POST', path, { url }))}`;
    const delivery = (await asUser('POST', `${target}/test`)).json();
    clock.advance(5000);
    const response = await asUser('POST', `${target}/deliveries/${delivery.id}/retry`);
    const after = { ...delivery, attempts: 2, lastAttemptAt: '2026-01-01T00:00:05.000Z' };
    expect([response.status, response.json()]).toEqual([200, after]);
    expect((await asUser('GET', `${target}/deliveries/${delivery.id}`)).json()).toEqual(after);
    expect((await asUser('POST', `${target}/deliveries/dlv_no/retry`)).status).toBe(404);
    expect((await asUser('GET', `${target}/deliveries/dlv_no`)).status).toBe(404);
  });
});
