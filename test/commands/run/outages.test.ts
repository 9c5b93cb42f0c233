import dns from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage } from '../../cli/harness.ts';

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

  it('until the deadline while a run is read', async () => {
    on = await stage({ outcome: 'passed' });
    const id = await createRun();
    const env = failingName('EAI_AGAIN', 150_000);
    expect((await on.with({ env })('run', 'wait', id)).code).toBe(0);
    const never = failingName('EAI_AGAIN', Number.POSITIVE_INFINITY);
    const before = on.clock.monotonic();
    const { code } = await on.with({ env: never })('run', 'wait', id, '--timeout', '20m');
    expect(code).toBe(7);
    expect(on.clock.monotonic() - before).toBeGreaterThan(18 * 60_000);
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

describe('after a failed read', () => {
  it.each<[string, Fault]>([
    ['503', { kind: 'status', status: 503 }],
    ['a reset', { kind: 'reset' }],
    ['HTML 200', { kind: 'html-200' }],
    ['408', { kind: 'status', status: 408 }],
    ['503 with a short Retry-After', { kind: 'status', status: 503, headers: { 'retry-after': '0' } }],
  ])('%s: the next one is 1 s later or more', async (_name, fault) => {
    for (const random of [0, 0.01, 0.999]) {
      on = await stage({ retryAfterSeconds: 0.05 });
      on.mock.faults.add({ ...fault, endpoint: 'run.status', times: 6 });
      const { code } = await on.with({ random: () => random })(...gate);
      expect(code).toBe(0);
      const waits = on.clock.sleeps.filter((ms) => ms > 0).slice(0, 6);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000);
      await on.close();
    }
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

  it('for each outage, and for each run', async () => {
    await open({ duration: 200_000 });
    const [one, two] = [await createRun(), await createRun()];
    for (const fromMs of [20_000, 80_000, 140_000])
      on.mock.faults.add({ ...outage, fromMs, untilMs: fromMs + 30_000 });
    const { code, err } = await on.rungate('run', 'wait', one, two);
    expect(code).toBe(0);
    for (const id of [one, two]) expect(lines(err, new RegExp(`${id}.*retrying in`)).length).toBe(9);
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
