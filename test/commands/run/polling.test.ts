import dns from 'node:dns';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { rulesOf } from '../../../src/commands/run/plan.ts';
import { gate, gates } from '../../../src/index.ts';
import { rowOf } from '../../../src/mock/faults/kinds.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { defaultSettings, mergeSettings } from '../../../src/settings/merge.ts';
import type { SettingValues } from '../../../src/settings/names.ts';
import { cli, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
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
    const waits = () => on.clock.sleeps.filter((ms) => ms > 0);

    it('is 10 s by default, and jitter only adds to it', async () => {
      on = await stage({ outcome: 'stuck' });
      await on.rungate(...waitJson, '--max-attempts', '20');
      for (const ms of waits()) expect(ms).toBe(10_000 * 1.05);
    });

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

  describe('a permanent error ends the wait at once', () => {
    it('also a run that ended with an invalid count, which never passes', async () => {
      on = await stage({ outcome: 'passed', duration: 0 });
      on.mock.faults.add({ kind: 'patch', remove: ['failed'], endpoint: 'run.status', times: 100 });
      const { code, out, err } = await on.rungate(...waitJson);
      expect(code).toBe(5);
      expect(reads()).toHaveLength(1);
      expect(JSON.parse(out).runs[0]).toMatchObject({
        verdict: 'unobserved',
        error: { code: 'unexpected_response' },
      });
      expect(err).toMatch(/"failed" should be a whole number/);
    });
  });

  describe('an unknown result never passes the gate', () => {
    it.each<[string, Fault]>([
      [
        'HTML with status 200',
        { kind: 'reply', text: '<!doctype html><title>ok</title>', contentType: 'text/html' },
      ],
      ['an empty body', { kind: 'reply', text: '' }],
      ['a truncated body', { kind: 'truncated' }],
      ['half of the JSON', { kind: 'cut-json' }],
      ['null', { kind: 'reply', text: 'null' }],
      [
        'an unknown state with clean counts',
        { kind: 'patch', merge: { state: 'done', failed: 0, blocked: 0 } },
      ],
      ['a state in other letters', { kind: 'patch', merge: { state: 'Completed' } }],
      ['5xx', { kind: 'status', status: 503 }],
      ['reset', { kind: 'reset' }],
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

  describe('the limits of a wait', () => {
    it('are an interval of 10 s, 60 reads and 60 minutes by default', () => {
      expect(fromFlags({})).toMatchObject({ intervalMs: 10_000, maxAttempts: 60, timeoutMs: 3_600_000 });
    });

    it('do not include the 60 reads with an explicit timeout', () => {
      expect(fromFlags({ timeout: 7_200_000 })).toMatchObject({
        maxAttempts: Number.POSITIVE_INFINITY,
        timeoutMs: 7_200_000,
      });
    });

    it('include an explicit number of reads with an explicit timeout', () => {
      expect(fromFlags({ timeout: 7_200_000, maxAttempts: 5 })).toMatchObject({ maxAttempts: 5 });
    });

    it('include the hour with an explicit number of reads', () => {
      expect(fromFlags({ maxAttempts: 500 })).toMatchObject({ maxAttempts: 500, timeoutMs: 3_600_000 });
    });

    it('come with the policy', () => {
      expect(fromFlags({ strict: true }).policy.cancelled).toBe('fail');
      expect(fromFlags({ strict: true, on: { cancelled: 'warn' } }).policy.cancelled).toBe('warn');
    });
  });
});

describe('an outage', () => {
  let on: Stage;
  afterEach(async () => {
    vi.restoreAllMocks();
    await on.close();
  });

  const checkout = ['--project', 'shop', '--process', 'checkout'];
  const gate = ['gate', ...checkout];
  const createRun = async () => (await on.rungate('run', 'trigger', ...checkout, '--no-wait')).out.trim();
  const lines = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line));

  /** Lets the name of the service fail with a code until a time on the clock. */
  function failingName(code: string, untilMs: number): Record<string, string> {
    const { lookup } = dns;
    vi.spyOn(dns, 'lookup').mockImplementation(((...args: Parameters<typeof lookup>) => {
      if (on.clock.monotonic() >= untilMs) return lookup(...args);
      const done = args.at(-1) as unknown as (error: Error) => void;
      setImmediate(() => done(Object.assign(new Error(`getaddrinfo ${code}`), { code })));
    }) as never);
    return { RUNGATE_API_URL: `http://localhost:${on.mock.port}` };
  }

  describe('EAI_AGAIN is an outage', () => {
    it('of minutes while a run is created', async () => {
      on = await stage();
      const env = failingName('EAI_AGAIN', 150_000);
      const { code } = await on.with({ env })(...gate);
      expect(code).toBe(0);
      expect(on.mock.state.runs.size).toBe(1);
    });

    it('unlike ENOTFOUND, which gets four requests', async () => {
      on = await stage();
      const id = await createRun();
      const env = failingName('ENOTFOUND', Number.POSITIVE_INFINITY);
      expect((await on.with({ env })(...gate)).code).toBe(7);
      expect(dns.lookup).toHaveBeenCalledTimes(4);
      expect((await on.with({ env })('run', 'wait', id)).code).toBe(7);
      expect(dns.lookup).toHaveBeenCalledTimes(8);
    });
  });

  describe('a long outage prints three lines, then one a minute', () => {
    const outage: Fault = { kind: 'status', status: 503, endpoint: 'run.status', times: 100 };
    const open = async (options: MockOptions = {}) => {
      on = await stage({ outcome: 'passed', duration: 0, ...options });
    };

    it('while a run is read', async () => {
      await open();
      on.mock.faults.add(outage);
      const { code, err } = await on.rungate(...gate);
      expect(code).toBe(0);
      const minutes = Math.ceil(on.clock.monotonic() / 60_000);
      const printed = lines(err, /retrying in/);
      expect(printed.length).toBeGreaterThanOrEqual(3 + minutes - 2);
      expect(printed.length).toBeLessThanOrEqual(3 + minutes);
      const elapsed = printed.slice(0, 3).map((line) => /\(([^()]+) since the start\)$/.exec(line)?.[1]);
      expect(elapsed).toEqual(['0 ms', '1.3 s', '2.8 s']);
    });

    it('while a run is created', async () => {
      await open();
      on.mock.faults.add({ kind: 'status', status: 503, endpoint: 'run.trigger', times: 11 });
      const { code, err } = await on.rungate(...gate);
      expect(code).toBe(0);
      // The waits are 1, 2, 4, 8, 16 and 30 s, plus a quarter.
      expect(lines(err, /creating the run failed/)).toHaveLength(3 + 3);
    });
  });
});

describe('a foreign response', () => {
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
      expect((await on.rungate('gate', ...checkout, '--api-url', url, ...deployed)).code).toBe(0);
    });
  });
});

describe('a late deadline', () => {
  let on: Stage;
  /** How long the next lost reads take on the clock, in milliseconds. */
  let delays: number[] = [];
  beforeAll(() => {
    const { play: reset } = rowOf('reset');
    vi.spyOn(rowOf('reset'), 'play').mockImplementation((wire, fault) => {
      on.clock.advance(delays.shift() ?? 0);
      return reset(wire, fault);
    });
  });
  afterEach(() => on.close());
  afterAll(() => vi.restoreAllMocks());

  const checkout = ['--project', 'shop', '--process', 'checkout'];
  const hourMs = 3_600_000;
  const lost = (skip: number, times = 1): Fault => ({
    kind: 'reset',
    endpoint: 'run.status',
    skip,
    times,
  });
  const asked = (endpoint: string) => on.mock.requests.filter((request) => request.endpoint === endpoint);

  const createRun = async () => (await on.rungate('run', 'trigger', ...checkout, '--no-wait')).out.trim();

  /** The commands that wait for a run. */
  const commands = {
    gate: async () => ['gate', ...checkout],
    'run trigger --wait': async () => ['run', 'trigger', ...checkout, '--wait'],
    'run wait': async () => ['run', 'wait', await createRun()],
  };
  const names = Object.keys(commands) as (keyof typeof commands)[];

  interface Scene extends MockOptions {
    delays?: number[];
    faults?: Fault[];
    settings?: Settings;
  }

  /** Plays a wait of 30 s. */
  async function play(command: keyof typeof commands, flags: readonly string[], scene: Scene) {
    const { faults = [], settings = {}, ...options } = scene;
    on = await stage(options);
    delays = scene.delays ?? [];
    const argv = await commands[command]();
    for (const fault of faults) on.mock.faults.add(fault);
    const limits = ['--timeout', '30s', '--json'];
    const { code, out, err } = await on.with(settings)(...argv, ...limits, ...flags);
    return { code, err, run: JSON.parse(out).runs[0] };
  }

  describe.each(names)('%s: a read that the deadline cuts', (command) => {
    it('is a timeout, and follows the policy for it', async () => {
      const scene: Scene = { outcome: 'stuck', delays: [9_500], faults: [lost(2)] };
      const { code, run } = await play(command, [], scene);
      expect([code, run.verdict, run.attempts, run.state]).toEqual([3, 'timeout', 2, 'in_progress']);
      await on.close();
      const lax = await play(command, ['--on', 'timeout=warn'], {
        ...scene,
        delays: [9_500],
        faults: [lost(2)],
      });
      expect([lax.code, lax.run.action]).toEqual([0, 'warn']);
    });
  });

  describe.each(names)('%s: after a sleep past the deadline', (command) => {
    /** The computer sleeps for an hour during the wait between the first two reads. */
    const asleep = (): Settings => {
      let woke = false;
      return {
        stopsWhen() {
          if (!woke && asked('run.status').length === 1) {
            woke = true;
            on.clock.advance(hourMs);
          }
          return false;
        },
      };
    };

    it.each(['passed', 'failed'] as const)('reads the run once: it has %s', async (outcome) => {
      const { code, run } = await play(command, [], { outcome, duration: 60_000, settings: asleep() });
      expect([code, run.verdict]).toEqual([outcome === 'passed' ? 0 : 1, outcome]);
    });
  });
});
