import { afterEach, describe, expect, it } from 'vitest';
import { createClient, gate, gates, type Mock, startMock, startRun } from '../../src/index.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
const full = new Error('the disk is full');

let mock: Mock;
let clock: FakeClock;
afterEach(() => mock.close());

/** Starts a mock, and returns the options that reach it. */
async function service(outcome: 'stuck' | 'passed' = 'stuck') {
  clock = fakeClock();
  mock = await startMock({ clock, outcome, duration: 0 });
  return { apiUrl: mock.url, apiKey: mock.apiKey, clock, random: () => 0.5, timeoutMs: 600_000 };
}

/** The ways in which a callback fails. */
const failures = {
  throws: () => {
    throw full;
  },
  rejects: async () => {
    throw full;
  },
  'rejects later': async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    throw full;
  },
};

const functions = {
  gate: (options: object) => service().then((own) => gate({ ...own, trigger, ...options })),
  gates: (options: object) =>
    service().then((own) => gates({ ...own, gates: { api: { trigger } }, ...options })),
  startRun: (options: object) => service().then((own) => startRun({ ...own, trigger, ...options })),
};

describe.each(Object.entries(functions))('%s', (_, start) => {
  describe.each(['onProgress', 'onExchange'])('whose %s', (name) => {
    it.each(Object.entries(failures))('%s cancels its run and rejects with the error', async (_how, fail) => {
      await expect(start({ [name]: fail })).rejects.toBe(full);
      expect(mock.runs.map(({ state }) => state)).toEqual(['cancelled']);
    });
  });
});

it.each(Object.entries(failures))('a gate rejects if onProgress %s at its last event', async (_how, fail) => {
  const options = { ...(await service('passed')), trigger };
  await expect(
    gate({ ...options, onProgress: (event) => (event.type === 'read' ? fail() : undefined) }),
  ).rejects.toBe(full);
});

it.each(Object.entries(failures))('a call of a client rejects if onExchange %s', async (_how, fail) => {
  const client = createClient({ ...clientOf(await service()), onExchange: fail });
  await expect(client.run.trigger(trigger)).rejects.toBe(full);
  await client.close();
});

it.each(Object.entries(failures))('a call of a client rejects if onRetry %s', async (_how, fail) => {
  const client = createClient(clientOf(await service()));
  mock.faults.add({ kind: 'status', status: 503 });
  await expect(client.run.trigger(trigger, { onRetry: fail })).rejects.toBe(full);
  expect(mock.requests).toHaveLength(1);
  await client.close();
});

/** Returns the options without those of a gate. */
function clientOf({ timeoutMs: _, ...options }: Awaited<ReturnType<typeof service>>) {
  return options;
}
