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

/** Responses of something in front of the service, with the exit code if they do not end. */
const foreign = {
  'an HTML 401': [html(401), 6],
  'an HTML 403': [html(403), 6],
  'an HTML 404': [html(404), 5],
  'an empty 401': [{ kind: 'status', status: 401, body: '' }, 6],
  'JSON without an error, 403': [{ kind: 'status', status: 403, body: { blocked: true } }, 6],
  'a redirect to another origin': [{ kind: 'redirect-other' }, 5],
  'too many redirects': [{ kind: 'redirect-same' }, 5],
} satisfies Record<string, [Bare, number]>;
const foreignRows = Object.entries(foreign).map(([name, [fault, code]]) => [name, fault, code] as const);

const reads = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.status');
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
const wayNames = Object.keys(ways) as (keyof typeof ways)[];

describe('a foreign response among good ones does not end the wait:', () => {
  describe.each(wayNames)('%s', (way) => {
    it.each(foreignRows)('%s', async (_name, fault) => {
      await open();
      for (const skip of [2, 3, 4, 5]) add(fault, { skip, times: fault.kind === 'redirect-same' ? 6 : 1 });
      expect(await ways[way]()).toBe(0);
    });
  });

  it.each(foreignRows)('%s, before the first good response to a gate', async (_name, fault) => {
    await open();
    add(fault);
    expect(await ways.gate()).toBe(0);
  });
});

describe('five foreign responses in a row end the wait', () => {
  it.each(foreignRows)('%s', async (_name, fault, exitCode) => {
    for (const way of ['gate', 'run wait'] as const) {
      await open();
      add(fault, { skip: way === 'gate' ? 1 : 2, times: Number.POSITIVE_INFINITY });
      expect(await ways[way](['--timeout', '10m'])).toBe(exitCode);
      // Each read is an interval after the one before, with its jitter.
      const isMissing = way === 'gate' && fault.kind === 'status' && fault.status === 404;
      expect(on.clock.monotonic()).toBe((isMissing ? 6 : 5) * 10_500);
      await on.close();
    }
  });

  it('but not if another response comes between them', async () => {
    await open({ duration: 200_000 });
    for (let skip = 1; skip < 18; skip += 1)
      add(skip % 5 === 0 ? { kind: 'status', status: 502 } : html(403), { skip });
    expect(await ways.gate()).toBe(0);
  });

  it('the first one ends a run wait that has seen no good response', async () => {
    for (const [fault, exitCode] of Object.values(foreign)) {
      await open();
      const id = await createRun();
      add(fault, { times: Number.POSITIVE_INFINITY });
      expect((await on.rungate('run', 'wait', id)).code).toBe(exitCode);
      expect(on.clock.monotonic()).toBe(0);
      await on.close();
    }
  });
});

describe("the service's own refusal ends the wait at once", () => {
  it.each([
    [401, 6],
    [403, 6],
    [400, 5],
    [410, 5],
    [422, 5],
  ])('%i', async (status, exitCode) => {
    for (const way of ['gate', 'run wait'] as const) {
      await open();
      add({ kind: 'status', status }, { skip: 2, times: Number.POSITIVE_INFINITY });
      expect(await ways[way]()).toBe(exitCode);
      expect(reads().length).toBeLessThanOrEqual(4);
      await on.close();
    }
  });
});

describe('Retry-After is obeyed with any status', () => {
  const statuses = [400, 401, 403, 404, 409, 410, 422, 423, 451, 500, 503];

  it.each(statuses)('%i', async (status) => {
    for (const body of [undefined, page('Busy')])
      for (const way of ['gate', 'run wait'] as const) {
        await open();
        add({ kind: 'status', status, body, headers: { 'retry-after': '40' } }, { times: 7 });
        const before = on.clock.monotonic();
        expect(await ways[way](['--timeout', '20m'])).toBe(0);
        expect(on.clock.monotonic() - before).toBeGreaterThan(3 * 40_000);
        await on.close();
      }
  });

  it('until the deadline, and then its error decides', async () => {
    await open();
    add(
      { kind: 'status', status: 403, headers: { 'retry-after': '40' } },
      { times: Number.POSITIVE_INFINITY },
    );
    expect(await ways.gate(['--timeout', '5m'])).toBe(6);
    expect(reads()).toHaveLength(8);
  });

  it('a wait that is longer than the timeout ends the gate', async () => {
    await open();
    add({ kind: 'status', status: 403, headers: { 'retry-after': '99999999' } });
    expect(await ways.gate()).toBe(6);
    expect(reads()).toHaveLength(1);
  });

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

  it('ends the gate if nothing was created before', async () => {
    await open();
    portal(0);
    expect(await ways.gate()).toBe(6);
    expect(creates()).toHaveLength(1);
  });

  it('does not leave a run whose response was lost', async () => {
    await open();
    on.mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
    portal(1, 2);
    expect(await ways.gate()).toBe(0);
    expect([creates().length, on.mock.state.runs.size]).toEqual([4, 1]);
  });

  it('does not end the retries of a failed run', async () => {
    await open({ outcome: ['failed', 'passed'] });
    portal(1, 2);
    expect(await ways.gate(['--retries', '1'])).toBe(0);
    expect([creates().length, on.mock.state.runs.size]).toEqual([4, 2]);
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

  it.each(['1s', '10s'])('is waited for if its 404s are not JSON, with --interval %s', async (interval) => {
    await open();
    add(html(404), { untilMs: 59_000, times: Number.POSITIVE_INFINITY });
    expect(await ways.gate(['--interval', interval])).toBe(0);
  });

  it('is waited for after a lagging replica has shown it', async () => {
    await open();
    for (const skip of [1, 2, 4]) add(missing, { skip });
    expect(await ways.gate()).toBe(0);
  });

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

  it.each([
    ['10s', 10_500],
    ['3s', 12_600],
    ['30s', 31_500],
  ])('ends the wait at a second read, 10 s later or more, with --interval %s', async (interval, ms) => {
    await open();
    const { code } = await on.rungate('run', 'wait', 'run_missing', '--interval', interval);
    expect(code).toBe(5);
    expect(on.clock.monotonic()).toBe(ms);
  });

  it('counts from the last good read', async () => {
    await open({ duration: 200_000 });
    const id = await createRun();
    for (let skip = 1; skip < 16; skip += 2) add(missing, { skip });
    expect((await on.rungate('run', 'wait', id)).code).toBe(0);
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
