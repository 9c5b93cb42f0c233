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
