import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCaller } from '../../src/client/caller.ts';
import { createRun } from '../../src/gate/create.ts';
import { turnToCreate } from '../../src/gate/fleet/turns.ts';
import { runService } from '../../src/gate/service.ts';
import { type VirtualTime, virtualTime } from '../virtual-time.ts';
import { createHubLink, type FakeHub, fakeHub } from './fleet/fake-hub.ts';

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', onUnhandled);
});
afterEach(() => {
  process.off('unhandledRejection', onUnhandled);
});

/** Creates a run with a service whose first response is a 429 with `Retry-After: 5`. */
async function start(time: VirtualTime, hub: FakeHub, timeoutMs: number) {
  const { clock } = time;
  const sent: number[] = [];
  const transport = {
    async send() {
      sent.push(clock.monotonic());
      const headers = { 'content-type': 'application/json', 'retry-after': '5' };
      return sent.length === 1
        ? { status: 429, text: '{"error":"slow down"}', headers }
        : { status: 201, text: '{"runId":"run_1"}', headers };
    },
    async close() {},
  };
  const caller = createCaller({
    ...{ apiUrl: 'https://service.example', apiKey: 'key', random: () => 0, clock, transport },
  });
  const link = createHubLink(hub.client, { clock, silenceMs: Number.POSITIVE_INFINITY, onChange: () => {} });
  await link.watch([]);
  const stop = new AbortController();
  const creation = createRun(
    { body: { projectSlug: 'shop', processSlug: 'checkout' }, idempotencyKey: 'key' },
    { latest: timeoutMs, deadline: timeoutMs },
    { service: runService(caller, clock.now), clock, random: () => 0, signal: stop.signal, hub: link },
  );
  creation.catch(() => {});
  return { creation, stop, sent, link };
}

describe('creating a run after a 429, with a hub', () => {
  it('ends at the timeout if the hub grants nothing', async () => {
    const time = virtualTime();
    const { creation, sent, link } = await start(
      time,
      fakeHub(undefined, () => {}),
      60_000,
    );
    await time.run(61_000);
    await expect(creation).rejects.toThrow();
    expect(sent).toEqual([0]);
    expect(unhandled).toEqual([]);
    link.close();
  });

  it.each([
    ['waits as the service asks', 1000],
    ['waits for the grant', 8000],
  ])(
    'ends without a run and without an unhandled error when it is stopped while it %s',
    async (_name, at) => {
      const time = virtualTime();
      const { creation, stop, sent, link } = await start(
        time,
        fakeHub(undefined, () => {}),
        60_000,
      );
      await time.run(at);
      stop.abort(new Error('stopped'));
      await time.run(5000);
      const settled = await creation;
      expect(settled.kind).toBe('none');
      expect(sent).toEqual([0]);
      expect(unhandled).toEqual([]);
      link.close();
    },
  );
});

describe('a turn to create a run, with a hub', () => {
  it.each([
    ['waits for the grant', false, 'waiting to start the run: the hub has not granted it yet'],
    ['has lost its hub', true, 'waiting to start the run: without the hub, its turn comes in 30 s'],
  ])('is not silent while the gate %s', async (_name, isLost, message) => {
    const time = virtualTime();
    const hub = fakeHub(
      (stream) => (hub.streams.length > 1 ? stream.fail(new Error('lost')) : stream.send({ type: 'ready' })),
      () => {},
    );
    const link = createHubLink(hub.client, {
      clock: time.clock,
      random: () => 0.5,
      silenceMs: Number.POSITIVE_INFINITY,
      onChange: () => {},
    });
    const notes: unknown[] = [];
    const turn = turnToCreate(100_000, {
      hub: link,
      clock: time.clock,
      signal: new AbortController().signal,
      emit: (event) => notes.push(event),
    });
    await time.run(0);
    if (isLost) hub.streams[0]?.fail(new Error('lost'));
    await time.run(40_000);
    expect(notes).toEqual([{ type: 'note', message }]);
    hub.grants[0]?.settle(true);
    expect(await turn).toBe(true);
    link.close();
  });
});
