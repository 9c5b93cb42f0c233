import dns from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rulesOf } from '../../../src/commands/run/plan.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { defaultSettings, mergeSettings } from '../../../src/settings/merge.ts';
import type { SettingValues } from '../../../src/settings/names.ts';
import { cli, type Stage, stage, trigger } from '../../cli/harness.ts';
import { serve } from '../../transport/serve.ts';

describe('polling', () => {
  let on: Stage;
  afterEach(() => on?.close());

  const reads = () => on.mock.requests.filter((request) => request.endpoint === 'run.status');
  const waitJson = [...trigger, '--wait', '--json'] as const;

  describe('the limits of a wait', () => {
    it('end it after 60 reads, with the run id and its URL on stdout', async () => {
      on = await stage({ outcome: 'stuck' });
      const { code, out } = await on.rungate(...trigger, '--wait');
      expect(code).toBe(3);
      expect(reads()).toHaveLength(60);
      expect(out).toMatch(/^run_\w+\ttimeout\tin_progress\t.*https:\S+\n$/);
      // 59 waits for 60 reads: no wait follows the last read.
      expect(on.clock.sleeps.filter((ms) => ms > 0)).toHaveLength(59);
    });
  });

  describe('the interval between reads', () => {
    const far = {
      RUNGATE_API_URL: 'https://service.example.com',
      HTTPS_PROXY: 'http://127.0.0.1:1',
      RUNGATE_API_KEY: 'k',
    };

    it.each(['0.5ms', '999ms', '.9'])(
      '--interval %s is refused, but for a service on this machine',
      async (interval) => {
        const { code, err } = await cli(['run', 'wait', 'r', '--interval', interval], { env: far });
        expect(code).toBe(64);
        expect(err).toMatch(/--interval is too short[\s\S]*every 10 to 30 s/);
      },
    );
  });

  describe('a temporary fault does not fail the gate', () => {
    it('an unknown state leads to one warning', async () => {
      on = await stage({ outcome: 'passed', duration: 50_000 });
      on.mock.faults.add({ kind: 'patch', merge: { state: 'defrosting' }, endpoint: 'run.status', times: 3 });
      const { err, code } = await on.rungate(...trigger, '--wait');
      expect(code).toBe(0);
      expect(err.match(/in the unknown state/g)).toHaveLength(1);
    });
  });

  describe('an unknown result never passes the gate', () => {
    it.each<[string, Fault]>([
      [
        'HTML with status 200',
        { kind: 'reply', text: '<!doctype html><title>ok</title>', contentType: 'text/html' },
      ],
      ['a truncated body', { kind: 'truncated' }],
      [
        'an unknown state with clean counts',
        { kind: 'patch', merge: { state: 'done', failed: 0, blocked: 0 } },
      ],
      ['5xx', { kind: 'status', status: 503 }],
    ])('%s in every read', async (_name, fault) => {
      on = await stage({ outcome: 'passed', duration: 0 });
      on.mock.faults.add({ ...fault, endpoint: 'run.status', times: Number.POSITIVE_INFINITY });
      const { code, out } = await on.rungate(...waitJson, '--max-attempts', '6');
      expect(code).toBeGreaterThan(0);
      expect(reads()).toHaveLength(6);
      expect(['unobserved', 'timeout']).toContain(JSON.parse(out).runs[0].verdict);
      expect(JSON.parse(out).runs[0].runId).toMatch(/^run_/);
    });
  });
});

describe('the rules of a wait', () => {
  const fromFlags = (values: Partial<SettingValues>) =>
    rulesOf(mergeSettings([defaultSettings, { origin: 'flag', values }]));
  const hour = 3_600_000;

  it.each<[string, Partial<SettingValues>, object]>([
    [
      '10 s, 60 reads and 60 minutes by default',
      {},
      { intervalMs: 10_000, maxAttempts: 60, timeoutMs: hour },
    ],
    [
      'an explicit timeout, without the 60 reads',
      { timeout: 2 * hour },
      { maxAttempts: Number.POSITIVE_INFINITY, timeoutMs: 2 * hour },
    ],
    ['an explicit timeout and number of reads', { timeout: 2 * hour, maxAttempts: 5 }, { maxAttempts: 5 }],
    [
      'the hour with an explicit number of reads',
      { maxAttempts: 500 },
      { maxAttempts: 500, timeoutMs: hour },
    ],
  ])('are %s', (_what, values, rules) => {
    expect(fromFlags(values)).toMatchObject(rules);
  });

  it('come with the policy', () => {
    expect(fromFlags({ strict: true }).policy.cancelled).toBe('fail');
    expect(fromFlags({ strict: true, on: { cancelled: 'warn' } }).policy.cancelled).toBe('warn');
  });
});

describe('a gate goes on', () => {
  let on: Stage;
  afterEach(async () => {
    vi.restoreAllMocks();
    await on.close();
  });

  const checkout = ['--project', 'shop', '--process', 'checkout'];
  const gate = ['gate', ...checkout];
  const open = async (options: MockOptions = {}) => {
    on = await stage({ duration: 60_000, ...options });
  };
  const add = (fault: Partial<Fault>) => on.mock.faults.add({ kind: 'status', ...fault } as Fault);
  const creates = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');
  const lines = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line));

  it.each([
    ['for minutes', 'EAI_AGAIN', 0, 1],
    ['for four requests', 'ENOTFOUND', 7, 0],
  ])('%s if the name of the service fails with %s while a run is created', async (_, error, code, count) => {
    await open();
    const { lookup } = dns;
    vi.spyOn(dns, 'lookup').mockImplementation(((...args: Parameters<typeof lookup>) => {
      if (on.clock.monotonic() >= 150_000) return lookup(...args);
      const done = args.at(-1) as unknown as (error: Error) => void;
      setImmediate(() => done(Object.assign(new Error('getaddrinfo'), { code: error })));
    }) as never);
    const env = { RUNGATE_API_URL: `http://localhost:${on.mock.port}` };
    expect((await on.with({ env })(...gate)).code).toBe(code);
    expect(on.mock.state.runs.size).toBe(count);
    if (count === 0) expect(dns.lookup).toHaveBeenCalledTimes(4);
  });

  it('in an outage while a run is read, of which it prints three lines, then one a minute', async () => {
    await open({ outcome: 'passed', duration: 0 });
    add({ status: 503, endpoint: 'run.status', times: 100 });
    const { code, err } = await on.rungate(...gate);
    expect(code).toBe(0);
    const minutes = Math.ceil(on.clock.monotonic() / 60_000);
    const printed = lines(err, /retrying in/);
    expect(printed.length).toBeGreaterThanOrEqual(3 + minutes - 2);
    expect(printed.length).toBeLessThanOrEqual(3 + minutes);
    const elapsed = printed.slice(0, 3).map((line) => /\(([^()]+) since the start\)$/.exec(line)?.[1]);
    expect(elapsed).toEqual(['0 ms', '1.3 s', '2.8 s']);
  });

  it('in an outage while a run is created, of which it prints as much', async () => {
    await open({ outcome: 'passed', duration: 0 });
    add({ status: 503, endpoint: 'run.trigger', times: 11 });
    const { code, err } = await on.rungate(...gate);
    expect(code).toBe(0);
    // The waits are 1, 2, 4, 8, 16 and 30 s, plus a quarter.
    expect(lines(err, /creating the run failed/)).toHaveLength(3 + 3);
  });

  it('after Retry-After with any status while a run is created', async () => {
    await open();
    add({ status: 403, headers: { 'retry-after': '40' }, endpoint: 'run.trigger', times: 2 } as never);
    expect((await on.rungate(...gate)).code).toBe(0);
    expect(on.mock.state.runs.size).toBe(1);
    expect(on.clock.monotonic()).toBeGreaterThan(80_000);
  });

  const portal = {
    status: 403,
    body: '<!doctype html><title>Company portal</title>',
    endpoint: 'run.trigger',
  };

  it('after foreign responses to the request that creates the run, whose response was lost', async () => {
    await open();
    add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
    add({ ...portal, skip: 1, times: 2 } as never);
    expect((await on.rungate(...gate)).code).toBe(0);
    expect([creates().length, on.mock.state.runs.size]).toEqual([4, 1]);
  });

  it('until the fifth foreign response in a row to a create', async () => {
    await open({ outcome: 'failed' });
    add({ ...portal, skip: 1, times: Number.POSITIVE_INFINITY } as never);
    expect((await on.rungate(...gate, '--retries', '1')).code).toBe(6);
    expect([creates().length, on.mock.state.runs.size]).toEqual([6, 1]);
  });

  it('behind a proxy that adds an unknown content coding, also to a version page', async () => {
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
      response.writeHead(own.status, { 'content-encoding': 'utf-8' }).end(await own.text());
    });
    const deployed = ['--deployed-url', `${url}/_mock/version`, '--deployed-is', 'v7'];
    expect((await on.rungate(...gate, '--api-url', url, ...deployed)).code).toBe(0);
  });
});
