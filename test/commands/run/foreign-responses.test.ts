import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { gate, gates } from '../../../src/index.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage } from '../../cli/harness.ts';
import { serve } from '../../transport/serve.ts';

let on: Stage;
afterEach(() => on.close());

const checkout = ['--project', 'shop', '--process', 'checkout'];
const page = (what: string) => `<!doctype html><title>${what}</title>`;
/** A fault without its endpoint and its timing. */
type Bare = { kind: 'status' | 'redirect-other' | 'redirect-same' } & Record<string, unknown>;
const html = (status: number): Bare => ({ kind: 'status', status, body: page('Company portal') });

const add = (fault: Bare, when: Partial<Fault> = {}) =>
  on.mock.faults.add({ ...fault, endpoint: 'run.status', ...when } as Fault);

const createRun = async () => (await on.rungate('run', 'trigger', ...checkout, '--no-wait')).out.trim();
const open = async (options: MockOptions = {}) => {
  on = await stage({ duration: 60_000, ...options });
};

/** Each way to wait for a run; resolves with the exit code. */
const ways = {
  gate: async (flags: readonly string[] = []) => (await on.rungate('gate', ...checkout, ...flags)).code,
  'run trigger --wait': async (flags: readonly string[] = []) =>
    (await on.rungate('run', 'trigger', ...checkout, '--wait', ...flags)).code,
  'run wait': async (flags: readonly string[] = []) => {
    const [one, two] = [await createRun(), await createRun()];
    return (await on.rungate('run', 'wait', one, two, ...flags)).code;
  },
  'gate() of the library': async () => {
    const { mock, clock } = on;
    const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
    return (await gate({ apiUrl: mock.url, apiKey: mock.apiKey, clock, trigger })).exitCode;
  },
  'gates() of the library': async () => {
    const { mock, clock } = on;
    const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
    const named = { one: { trigger }, two: { trigger, needs: ['one'] } };
    return (await gates({ apiUrl: mock.url, apiKey: mock.apiKey, clock, gates: named })).exitCode;
  },
};

describe('Retry-After is obeyed with any status', () => {
  it('while a run is created', async () => {
    for (const status of [403, 404, 409, 422]) {
      await open();
      const headers = { 'retry-after': '40' };
      on.mock.faults.add({ kind: 'status', status, headers, endpoint: 'run.trigger', times: 2 });
      expect(await ways.gate()).toBe(0);
      expect(on.mock.state.runs.size).toBe(1);
      expect(on.clock.monotonic()).toBeGreaterThan(80_000);
      await on.close();
    }
  });
});

describe('a foreign response while a run is created', () => {
  const creates = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');
  const portal = (skip: number, times = 1) =>
    on.mock.faults.add({ ...html(403), endpoint: 'run.trigger', skip, times } as Fault);

  it('does not leave a run whose response was lost', async () => {
    await open();
    on.mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
    portal(1, 2);
    expect(await ways.gate()).toBe(0);
    expect([creates().length, on.mock.state.runs.size]).toEqual([4, 1]);
  });

  it('ends the gate the fifth time in a row', async () => {
    await open({ outcome: 'failed' });
    portal(1, Number.POSITIVE_INFINITY);
    expect(await ways.gate(['--retries', '1'])).toBe(6);
    expect([creates().length, on.mock.state.runs.size]).toEqual([6, 1]);
  });
});

describe('a new run that is not visible yet', () => {
  const missing: Bare = { kind: 'status', status: 404 };

  it.each(['gate', 'run trigger --wait', 'gate() of the library', 'gates() of the library'] as const)(
    'is waited for during its first minute: %s',
    async (way) => {
      await open();
      add(missing, { untilMs: 59_000, times: Number.POSITIVE_INFINITY });
      expect(await ways[way]()).toBe(0);
      expect(on.clock.sleeps.filter((ms) => ms > 0).slice(0, 5)).toEqual(
        on.clock.sleeps.filter((ms) => ms >= 10_000).slice(0, 5),
      );
    },
  );

  it('ends the gate if it is missing after a minute', async () => {
    await open({ outcome: 'stuck' });
    add(missing, { times: Number.POSITIVE_INFINITY });
    expect(await ways.gate()).toBe(5);
    expect(on.clock.monotonic()).toBe(6 * 10_500);
  });
});

describe('run wait: a 404', () => {
  const missing: Bare = { kind: 'status', status: 404 };

  it('is not believed at once', async () => {
    await open();
    for (const skip of [0, 1, 4, 5]) add(missing, { skip });
    expect(await ways['run wait']()).toBe(0);
  });
});

describe('a proxy that adds a content coding', () => {
  it.each<[string, (body: string) => string | Uint8Array]>([
    ['gzip', (body) => gzipSync(body)],
    ['utf-8', (body) => body],
  ])('does not disturb a gate that also reads a version page: %s', async (coding, code) => {
    await open({ deployed: 'v7' });
    const { url } = await serve(async ({ seen: { method, url: path, headers, body }, response }) => {
      const { 'x-api-key': key = '', 'idempotency-key': id = 'none' } = headers;
      const sent = {
        'content-type': 'application/json',
        'x-api-key': String(key),
        'idempotency-key': String(id),
      };
      const init = { method, headers: sent, ...(method === 'POST' && { body }) };
      const own = await fetch(on.mock.url + path, init);
      response.writeHead(own.status, { 'content-encoding': coding }).end(code(await own.text()));
    });
    const deployed = ['--deployed-url', `${url}/_mock/version`, '--deployed-is', 'v7'];
    const { code: exitCode, err } = await on.rungate('gate', ...checkout, '--api-url', url, ...deployed);
    expect(err).not.toContain('content-encoding');
    expect(exitCode).toBe(0);
  });
});
