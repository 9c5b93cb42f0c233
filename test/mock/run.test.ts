import { describe, expect, it } from 'vitest';
import { byProcess, byTags, startService } from './service.ts';

describe('creating a run', () => {
  it('returns 201 with the id of a run in progress for every field of the API', async () => {
    const { mock, post } = await startService();
    const commit = { repository: 'r', ref: 'main', commitSha: 'c0de', event: 'push' };
    const body = {
      ...byTags,
      ...commit,
      environmentKey: 'staging',
      externalUrl: 'https://ci.example.test/1',
    };
    const response = await post('/api/ci/runs', body);
    expect(response.status).toBe(201);
    const created = response.json();
    expect(created).toEqual({
      runId: expect.stringMatching(/^run_[0-9a-z]{12}$/),
      state: 'in_progress',
      appUrl: `https://app.example.test/projects/shop/runs/${created.runId}`,
    });
    expect(mock.state.runs.get(String(created.runId))?.request).toEqual(body);
  });

  it.each<[string, unknown, string]>([
    ['neither selector', { projectSlug: 'shop' }, 'one of processSlug and tags is required'],
    [
      'no tags in the list',
      { projectSlug: 'shop', tags: [] },
      'body.tags must be a non-empty array, not an empty array',
    ],
    ['an unknown field', { ...byProcess, shard: 1 }, 'body.shard is unknown'],
  ])('refuses %s with 422 and names the problem', async (_case, body, details) => {
    const { mock, post } = await startService();
    const response = await post('/api/ci/runs', body);
    expect(response.status).toBe(422);
    expect(response.json()).toEqual({
      error: 'Invalid request body',
      details: expect.stringContaining(details),
    });
    expect(mock.state.runs.size).toBe(0);
  });
});

describe('the idempotency key', () => {
  const key = { 'idempotency-key': 'job-17' };

  it('replays the first response for the same key and bytes', async () => {
    const { mock, clock, post } = await startService();
    const first = await post('/api/ci/runs', byProcess, key);
    clock.advance(60_000);
    const second = await post('/api/ci/runs', byProcess, key);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBe('false');
    expect(mock.state.runs.size).toBe(1);
  });

  it('refuses the same key with another body, even if only a space differs', async () => {
    const { mock, post } = await startService();
    await post('/api/ci/runs', byProcess, key);
    const response = await post('/api/ci/runs', `${JSON.stringify(byProcess)} `, key);
    expect(response.status).toBe(422);
    expect(response.json()).toEqual({
      error: 'Idempotency key reused',
      details: expect.stringContaining('Idempotency-Key'),
    });
    expect(mock.state.runs.size).toBe(1);
  });
});

describe('the status of a run', () => {
  it.each([
    ['passed', 'completed', 0, 0],
    ['failed', 'completed', 2, 0],
    ['blocked', 'completed', 0, 1],
    ['cancelled', 'cancelled', 0, 0],
    ['stuck', 'in_progress', 0, 0],
  ] as const)(
    'is in progress for the outcome %s before its duration, then %s',
    async (outcome, state, failed, blocked) => {
      const { clock, call, trigger } = await startService({ outcome, duration: 5000 });
      const id = await trigger();
      const appUrl = `https://app.example.test/projects/shop/runs/${id}`;
      const before = await call('GET', `/api/ci/runs/${id}`);
      expect([before.status, before.json()]).toEqual([
        200,
        { state: 'in_progress', failed: 0, blocked: 0, appUrl },
      ]);
      clock.advance(4999);
      expect((await call('GET', `/api/ci/runs/${id}`)).json().state).toBe('in_progress');
      clock.advance(1);
      expect((await call('GET', `/api/ci/runs/${id}`)).json()).toEqual({ state, failed, blocked, appUrl });
    },
  );

  it('suggests a polling interval only while the run is in progress', async () => {
    const { clock, call, trigger } = await startService({ retryAfterSeconds: 1.5, duration: 100 });
    const path = `/api/ci/runs/${await trigger()}`;
    expect((await call('GET', path)).json().retryAfterSeconds).toBe(1.5);
    clock.advance(100);
    expect((await call('GET', path)).json()).not.toHaveProperty('retryAfterSeconds');
  });

  it('is 404 for an unknown run', async () => {
    const { call } = await startService();
    const unknown = await call('GET', '/api/ci/runs/run_000');
    expect([unknown.status, unknown.json()]).toEqual([
      404,
      { error: 'Run not found', details: 'no run has the id "run_000"' },
    ]);
  });
});

describe('cancelling a run', () => {
  it('ends a run in progress permanently and keeps the reason', async () => {
    const { mock, clock, call, post, trigger } = await startService({ outcome: 'stuck' });
    const id = await trigger();
    const response = await post(`/api/ci/runs/${id}/cancel`, { reason: 'SIGTERM' });
    expect(response.status).toBe(200);
    expect(response.json()).toMatchObject({ runId: id, state: 'cancelled', failed: 0, blocked: 0 });
    expect(mock.state.runs.get(id)?.cancelled).toEqual({ at: 0, reason: 'SIGTERM' });
    clock.advance(1_000_000);
    expect((await call('GET', `/api/ci/runs/${id}`)).json().state).toBe('cancelled');
  });

  it('is 404 for an unknown run', async () => {
    const { call } = await startService();
    expect((await call('POST', '/api/ci/runs/run_000/cancel')).status).toBe(404);
  });
});
