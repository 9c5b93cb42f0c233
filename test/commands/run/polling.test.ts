import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
import { cli, type Stage, stage, trigger } from '../../cli/harness.ts';

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
