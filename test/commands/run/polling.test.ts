import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
import { asked, cli, type Stage, stage, trigger } from '../../cli/harness.ts';

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

  it('include the number of reads from --max-attempts', async () => {
    on = await stage({ outcome: 'stuck' });
    expect((await on.rungate(...waitJson, '--max-attempts', '3')).code).toBe(3);
    expect(reads()).toHaveLength(3);
  });

  it('lift the 60 reads with --timeout, which no wait exceeds', async () => {
    on = await stage({ outcome: 'stuck' });
    const { code, out } = await on.rungate(...waitJson, '--timeout', '30m');
    expect(code).toBe(3);
    expect(reads().length).toBeGreaterThan(160);
    expect(JSON.parse(out).runs[0].elapsedSeconds).toBeLessThanOrEqual(1800);
  });

  it('end it at the first of the two, if both are set', async () => {
    on = await stage({ outcome: 'stuck' });
    await on.rungate(...waitJson, '--timeout', '30m', '--max-attempts', '5');
    expect(reads()).toHaveLength(5);
  });

  it('end it early rather than shorten the last wait', async () => {
    on = await stage({ outcome: 'stuck', retryAfterSeconds: 45 });
    const { out, code } = await on.rungate(...waitJson, '--timeout', '1m');
    expect(code).toBe(3);
    expect(reads()).toHaveLength(2);
    expect(JSON.parse(out).runs[0].elapsedSeconds).toBeLessThan(50);
  });
});

describe('the interval between reads', () => {
  const waits = () => on.clock.sleeps.filter((ms) => ms > 0);

  it('is 10 s by default, and jitter only adds to it', async () => {
    on = await stage({ outcome: 'stuck' });
    await on.rungate(...waitJson, '--max-attempts', '20');
    for (const ms of waits()) expect(ms).toBe(10_000 * 1.05);
  });

  it('is set by --interval', async () => {
    on = await stage({ outcome: 'stuck' });
    await on.rungate(...waitJson, '--max-attempts', '3', '--interval', '250ms');
    expect(waits()).toEqual([262.5, 262.5]);
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

  it('is refused in a file below 1 s, as a configuration error', async () => {
    const files = { '/repo/.rungate.json': '{"interval":"500ms"}', '/repo/.git': '' };
    const { code, err } = await cli(['run', 'wait', 'r'], { env: far, cwd: '/repo', files });
    expect(code).toBe(78);
    expect(err).toContain('the setting interval is too short');
  });

  it.each([
    ['2s', 1],
    ['10s', 0],
  ])('set to %s leads to %i warnings about the rule of 10 to 30 s', async (interval, times) => {
    const { code, err } = await cli(['run', 'wait', 'r', '--interval', interval], { env: far });
    expect(code).toBe(7);
    expect(err.match(/status read every 10 to 30 s/g) ?? []).toHaveLength(times);
  });

  it('is at least 50 ms on this machine, whatever retryAfterSeconds says', async () => {
    on = await stage({ outcome: 'stuck', retryAfterSeconds: 1e-9 });
    await on.rungate(...waitJson, '--max-attempts', '3');
    expect(waits()).toEqual([52.5, 52.5]);
  });

  it('follows retryAfterSeconds, including fractions', async () => {
    on = await stage({ outcome: 'stuck', retryAfterSeconds: 1.5 });
    await on.rungate(...waitJson, '--max-attempts', '3', '--interval', '20s');
    expect(waits()).toEqual([1575, 1575]);
  });

  it('is the larger of retryAfterSeconds and a Retry-After header', async () => {
    on = await stage({ outcome: 'stuck', retryAfterSeconds: 2 });
    const body = { state: 'in_progress', failed: 0, blocked: 0, retryAfterSeconds: 2 };
    on.mock.faults.add({
      kind: 'status',
      status: 200,
      body,
      headers: { 'retry-after': '7' },
      endpoint: 'run.status',
    });
    on.mock.faults.add({
      kind: 'status',
      status: 200,
      body,
      headers: { 'retry-after': '1' },
      endpoint: 'run.status',
    });
    await on.rungate(...waitJson, '--max-attempts', '3');
    expect(waits()).toEqual([7350, 2100]);
  });

  it.each([0, -1, null, 'soon', Number.POSITIVE_INFINITY, {}])(
    'ignores a retryAfterSeconds of %j',
    async (value) => {
      on = await stage({ outcome: 'stuck' });
      on.mock.faults.add({ kind: 'patch', merge: { retryAfterSeconds: value }, endpoint: 'run.status' });
      await on.rungate(...waitJson, '--max-attempts', '2');
      expect(waits()).toEqual([10_500]);
    },
  );
});

describe('a temporary fault does not fail the gate', () => {
  const temporary: [string, Fault][] = [
    ...[408, 500, 501, 502, 503, 504, 520].map((status): [string, Fault] => [
      `status ${status}`,
      { kind: 'status', status, body: '<html>Bad gateway</html>' },
    ]),
    ['429', { kind: 'status', status: 429 }],
    ['429 with Retry-After', { kind: 'status', status: 429, headers: { 'retry-after': '3' } }],
    ['a reset', { kind: 'reset' }],
    ['a truncated response', { kind: 'truncated' }],
    ['half of the JSON', { kind: 'cut-json' }],
    ['HTML with status 200', { kind: 'reply', text: '<html>maintenance</html>', contentType: 'text/html' }],
    ['an empty body', { kind: 'reply', text: '' }],
    ['JSON that is not a status', { kind: 'reply', text: '[1,2]' }],
    ['an unknown state', { kind: 'patch', merge: { state: 'defrosting' } }],
    ['no state', { kind: 'patch', remove: ['state'] }],
    ['counts of the wrong type while in progress', { kind: 'patch', merge: { failed: 'x', blocked: null } }],
  ];

  it.each(temporary)('%s', async (_name, fault) => {
    on = await stage({ outcome: 'passed', duration: 15_000 });
    on.mock.faults.add({ ...fault, endpoint: 'run.status' });
    const { code, out } = await on.rungate(...waitJson);
    expect(code).toBe(0);
    expect(JSON.parse(out).runs[0].verdict).toBe('passed');
    expect(on.mock.faults.pending).toBe(0);
  });

  // A count of the wrong type is not a temporary fault once the run has ended.
  const temporaryOnEnded = temporary.filter(([name]) => !name.startsWith('counts of'));
  it.each(temporaryOnEnded)('%s, as the first read of run wait', async (_name, fault) => {
    on = await stage({ outcome: 'failed', duration: 0 });
    const id = (await on.rungate(...trigger)).out.trim();
    on.mock.faults.add({ ...fault, endpoint: 'run.status' });
    expect((await on.rungate('run', 'wait', id)).code).toBe(1);
  });

  it('a failed read counts as an attempt, and a 429 does not', async () => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'status', status: 503, endpoint: 'run.status', times: 2 });
    on.mock.faults.add({ kind: 'status', status: 429, endpoint: 'run.status', times: 3 });
    const { out } = await on.rungate(...waitJson, '--max-attempts', '5');
    expect(JSON.parse(out).runs[0].attempts).toBe(5);
    expect(reads()).toHaveLength(8);
  });

  it('the HTTP layer does not add retries to those of the poll loop', async () => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'status', status: 503, endpoint: 'run.status', times: 100 });
    await on.rungate(...waitJson, '--max-attempts', '4');
    expect(reads()).toHaveLength(4);
  });

  it('a failed read is retried with full jitter from 0.5 s, doubling up to the interval', async () => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'reset', endpoint: 'run.status', times: 8 });
    await on.with({ random: () => 0.999 })(...waitJson, '--max-attempts', '8');
    const ceilings = [500, 1000, 2000, 4000, 8000, 10_999, 10_999];
    const waits = on.clock.sleeps.filter((ms) => ms > 0);
    expect(waits).toHaveLength(7);
    for (const [i, ms] of waits.entries()) expect(ms).toBeLessThanOrEqual(ceilings[i] ?? 0);
    expect(waits[4]).toBeGreaterThan(7000);
  });

  it('an unknown state leads to one warning', async () => {
    on = await stage({ outcome: 'passed', duration: 50_000 });
    on.mock.faults.add({ kind: 'patch', merge: { state: 'defrosting' }, endpoint: 'run.status', times: 3 });
    const { err, code } = await on.rungate(...trigger, '--wait');
    expect(code).toBe(0);
    expect(err.match(/in the unknown state/g)).toHaveLength(1);
  });

  it('a triggered run that is not visible at once is still waited for', async () => {
    on = await stage({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ kind: 'status', status: 404, endpoint: 'run.status', times: 3 });
    expect((await on.rungate(...waitJson)).code).toBe(0);
  });
});

describe('a permanent error ends the wait at once', () => {
  it.each([
    [401, 6],
    [403, 6],
    [404, 5],
    [400, 5],
    [409, 5],
    [410, 5],
    [422, 5],
  ])('status code %i with exit code %i, after one read', async (status, code) => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'status', status, endpoint: 'run.status', times: 100 });
    const result = await on.rungate('run', 'wait', 'run_1', '--json');
    expect(result.code).toBe(code);
    expect(reads()).toHaveLength(1);
    expect(JSON.parse(result.out).runs[0]).toMatchObject({
      verdict: 'unobserved',
      gate: 'fail',
      error: { status, path: '/api/ci/runs/run_1' },
    });
  });

  it('404 after the first three reads of a triggered run', async () => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'status', status: 404, endpoint: 'run.status', times: 100 });
    expect((await on.rungate(...waitJson)).code).toBe(5);
    expect(reads()).toHaveLength(4);
  });

  it.each([
    ['failed is missing', { remove: ['failed'] }],
    ['blocked is missing', { remove: ['blocked'] }],
    ['failed is text', { merge: { failed: '0' } }],
    ['failed is null', { merge: { failed: null } }],
    ['failed is negative', { merge: { failed: -1 } }],
    ['blocked is a fraction', { merge: { blocked: 0.5 } }],
    ['blocked is true', { merge: { blocked: true } }],
  ])('a run that ended with an invalid count, which never passes: %s', async (_name, patch) => {
    on = await stage({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ kind: 'patch', ...patch, endpoint: 'run.status', times: 100 });
    const { code, out, err } = await on.rungate(...waitJson);
    expect(code).toBe(5);
    expect(reads()).toHaveLength(1);
    expect(JSON.parse(out).runs[0]).toMatchObject({ verdict: 'unobserved', error: { code: 'contract' } });
    expect(err).toMatch(/"(failed|blocked)" should be a whole number/);
  });

  it('but not a missing appUrl, which is null', async () => {
    on = await stage({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ kind: 'reply', text: '{"runId":"r1"}', endpoint: 'run.trigger' });
    on.mock.faults.add({
      kind: 'reply',
      text: '{"state":"completed","failed":0,"blocked":0}',
      endpoint: 'run.status',
    });
    const { code, out } = await on.rungate(...waitJson);
    expect(code).toBe(0);
    expect(JSON.parse(out).runs[0].appUrl).toBeNull();
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

  it.each<[string, Fault, number]>([
    ['network errors', { kind: 'reset' }, 7],
    ['service errors', { kind: 'status', status: 500 }, 5],
    ['unreadable', { kind: 'reply', text: '' }, 5],
    ['limited', { kind: 'status', status: 429, headers: { 'retry-after': '86400' } }, 5],
  ])('unobserved exits with the code of its cause: %s', async (_name, fault, code) => {
    on = await stage({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ ...fault, endpoint: 'run.status', times: Number.POSITIVE_INFINITY });
    const result = await on.rungate(...waitJson, '--max-attempts', '3');
    expect(result.code).toBe(code);
  });

  it('unobserved can be a warning, but not a pass', async () => {
    on = await stage({ outcome: 'passed', duration: 0 });
    on.mock.faults.add({ kind: 'status', status: 500, endpoint: 'run.status', times: 99 });
    const flags = ['--max-attempts', '2', '--on', 'unobserved=warn'];
    const { code, out, err } = await on.rungate(...waitJson, ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ gate: 'warn', exitCode: 0 });
    expect(err).toMatch(/WARNING/);
  });
});

describe('a wrong address', () => {
  it('ends the wait after four refused connections', async () => {
    on = await stage();
    const url = on.mock.url;
    await on.mock.close();
    const env = { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_key' };
    const { code, out, err } = await cli(['run', 'wait', 'run_1', '--json'], { env });
    expect(code).toBe(7);
    expect(JSON.parse(out).runs[0]).toMatchObject({ verdict: 'unobserved', attempts: 4 });
    expect(err).toMatch(/nothing is listening/);
  });

  it('ends the wait after four unknown hosts', async () => {
    const env = { RUNGATE_API_URL: 'https://rungate-test.invalid', RUNGATE_API_KEY: 'rg_key' };
    const { code, out } = await cli(['run', 'wait', 'run_1', '--json'], { env });
    expect(code).toBe(7);
    expect(JSON.parse(out).runs[0].attempts).toBe(4);
  });

  it('is not assumed after one response: only the limits end the wait', async () => {
    on = await stage({ outcome: 'stuck' });
    const id = (await on.rungate(...trigger)).out.trim();
    on.mock.faults.add({ kind: 'reset', endpoint: 'run.status', skip: 1, times: Number.POSITIVE_INFINITY });
    const { code, out } = await on.rungate('run', 'wait', id, '--json', '--max-attempts', '12');
    expect(code).toBe(7);
    expect(JSON.parse(out).runs[0]).toMatchObject({ attempts: 12, state: 'in_progress' });
  });
});

describe('run status', () => {
  it.each(['passed', 'failed', 'blocked', 'cancelled', 'stuck'] as const)(
    'exits with 0 for any state: %s',
    async (outcome) => {
      on = await stage({ outcome, duration: 0 });
      const id = (await on.rungate(...trigger)).out.trim();
      const { code, out } = await on.rungate('run', 'status', id, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(out)).toHaveProperty('state');
      expect(asked(on.mock)).toEqual(['run.trigger', 'run.status']);
    },
  );

  it.each([
    ['{"state":"completed"}', 'completed'],
    ['{"state":"paused","failed":"2"}', 'paused'],
    ['{}', undefined],
  ])('prints any response: %s', async (text, state) => {
    on = await stage();
    on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.status' });
    const { code, out } = await on.rungate('run', 'status', 'run_1', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out).state).toBe(state);
  });

  it('prints all digits of the response', async () => {
    on = await stage();
    const text = '{"state":"in_progress","failed":0,"blocked":0,"cost":10.50,"build":12345678901234567890}';
    on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.status' });
    const { out } = await on.rungate('run', 'status', 'run_1', '--json');
    expect(out).toContain('10.50');
    expect(out).toContain('12345678901234567890');
  });
});
