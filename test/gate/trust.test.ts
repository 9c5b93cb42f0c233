import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gate } from '../../src/index.ts';
import { fakeClock } from '../fake-clock.ts';

const runId = 'run_1';
const service = 'https://service.example.com';

interface Response {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Runs the gate for one read of one run, through the whole client except the network. */
async function verdictOn(response: Response, maxAttempts = 1) {
  const transport = { send: async () => response, close: async () => {} };
  const options = { apiUrl: service, apiKey: 'k', runIds: [runId], random: () => 0.5, clock: fakeClock() };
  const report = await gate({ ...options, transport, maxAttempts });
  return { ...report, run: report.runs[0] };
}

const good = { state: '"completed"', failed: '0', blocked: '0' };
const json = (members: Readonly<Record<string, string>>, more = '') =>
  `{${Object.entries(members)
    .map(([name, literal]) => `"${name}":${literal}`)
    .join(',')}${more}}`;
const responseOf = (text: string, more: Partial<Response> = {}): Response => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  text,
  ...more,
});

describe('a status that cannot be trusted', () => {
  const untrusted: [string, Response, RegExp][] = [
    ['a count twice', responseOf(json(good, ',"failed":0')), /"failed" twice/],
    ['a count twice, once escaped', responseOf(json(good, String.raw`,"f\u0061iled":0`)), /"failed" twice/],
    [
      'a state twice',
      responseOf(json({ state: '"in_progress"' }, `,${json(good).slice(1, -1)}`)),
      /"state" twice/,
    ],
    ['another run', responseOf(json({ ...good, runId: '"run_2"' })), /run_2/],
    ['partial content', responseOf(json(good), { status: 206 }), /206/],
  ];

  it.each(untrusted)('never passes, and rungate reads it again: %s', async (_name, response, message) => {
    const report = await verdictOn(response, 3);
    expect(report).toMatchObject({ result: 'fail', exitCode: 5 });
    expect(report.run).toMatchObject({ verdict: 'unobserved', attempts: 3 });
    expect(report.run?.error?.message).toMatch(message);
  });

  it.each<[string, Response]>([
    ['has the run id', responseOf(json({ ...good, runId: '"run_1"' }))],
    ['has its own id', responseOf(json({ ...good, id: '77' }))],
    ['has its own UUID', responseOf(json({ ...good, id: '"0b0e7f3c-9f6e-4c3a-8a51-7f1c2f3b9d10"' }))],
    ['has the run in an object', responseOf(json({ ...good, run: '{"id":"run_1"}', data: '{"id":3}' }))],
    ['has a field twice in an object', responseOf(json({ ...good, project: '{"a":1,"a":2}' }))],
  ])('is not one that %s', async (_name, response) => {
    expect(await verdictOn(response)).toMatchObject({ result: 'pass', exitCode: 0 });
  });

  it('is not one that has the run id as a number of many digits', async () => {
    const big = '9007199254740993';
    const transport = { send: async () => responseOf(json({ ...good, runId: big })), close: async () => {} };
    const options = { apiUrl: service, apiKey: 'k', transport, clock: fakeClock() };
    expect(await gate({ ...options, runIds: [big] })).toMatchObject({ result: 'pass' });
    expect(await gate({ ...options, runIds: ['9007199254740992'], maxAttempts: 1 })).toMatchObject({
      exitCode: 5,
    });
  });
});

describe('a response passes the gate', () => {
  /** A part of a response, and whether a response with it may pass. */
  type Part<T> = readonly [T, boolean];
  const parts = <T>(right: readonly T[], wrong: readonly T[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...right).map((part): Part<T> => [part, true]) },
      { weight: 1, arbitrary: fc.constantFrom(...wrong).map((part): Part<T> => [part, false]) },
    );
  const zero = ['0', '-0', '0.0', '-0.00', ' 0 '];
  const notZero = [
    ...['1', '-1', '0.5', '1e400', '00', '+0', '0x0', '.0', '0.', 'NaN', ''],
    ...['"0"', 'null', 'false', '[]', '[0]', '{}', '0 0', '0,"failed":0', '0,"bl\\u006fcked":3'],
  ];
  const state = parts(
    ['"completed"', '"c\\u006fmpleted"', '\t"completed"\n'],
    [
      '"in_progress"',
      '"cancelled"',
      '"Completed"',
      '"completed "',
      '"passed"',
      'null',
      '["completed"]',
      '""',
      '0',
    ],
  );
  const other = parts(
    [
      '',
      ',"runId":"run_1"',
      ',"runId":null',
      ',"runId":"run\\u005f1"',
      ',"id":3,"x":{"failed":2,"failed":1}',
    ],
    [
      ',"runId":"run_2"',
      ',"runId":1',
      ',"runId":""',
      ',"runId":{}',
      ',"state":"completed"',
      ',',
      ',"x"',
      ',"x":1,"x":1',
    ],
  );
  const frame = parts<readonly [string, string]>(
    [
      ['', ''],
      [' ', '\r\n'],
    ],
    [
      ['', 'x'],
      ['\ufeff', ''],
      ['[', ']'],
      ['{"data":', '}'],
      [")]}',\n", ''],
      ['', '{}'],
    ],
  );
  const status = parts([200, 201, 203], [206, 301, 304, 400, 404, 408, 429, 500, 503]);
  const headers = fc
    .constantFrom<Record<string, string>>(
      {},
      { 'content-encoding': 'utf-8' },
      { 'retry-after': '0' },
      { 'content-type': 'text/html' },
    )
    .map((part): Part<Record<string, string>> => [part, true]);

  it('only if it is whole, valid, completed, with both counts 0 and without another run id', async () => {
    const response = fc.record({
      state,
      failed: parts(zero, notZero),
      blocked: parts(zero, notZero),
      other,
      frame,
      status,
      headers,
    });
    const seen = { pass: 0, fail: 0 };
    await fc.assert(
      fc.asyncProperty(response, async (made) => {
        const [before, after] = made.frame[0];
        const members = `"state":${made.state[0]},"failed":${made.failed[0]},"blocked":${made.blocked[0]}`;
        const report = await verdictOn({
          status: made.status[0],
          headers: made.headers[0],
          text: `${before}{${members}${made.other[0]}}${after}`,
        });
        const expected = Object.values(made).every(([, right]) => right) ? 'pass' : 'fail';
        seen[expected] += 1;
        if (expected === 'pass') expect(report.result).toBe('pass');
        else expect(['fail', 'warn']).toContain(report.result);
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.pass, seen.fail)).toBeGreaterThan(100);
  });

  it('only if it stays valid after text is removed from or added to it', async () => {
    const text = json({ ...good, runId: '"run_1"', note: '"a"' });
    const change = fc.record({
      at: fc.nat(text.length),
      drop: fc.nat(12),
      insert: fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('"', ',', '{', '}', '\\', '1', '-', '.')),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const changed = changes.reduce(
          (so, { at, drop, insert }) => so.slice(0, at) + insert + so.slice(at + drop),
          text,
        );
        if ((await verdictOn(responseOf(changed))).result !== 'pass') return;
        const body = JSON.parse(changed) as Record<string, unknown>;
        expect(body.state).toBe('completed');
        expect([Math.abs(Number(body.failed)), Math.abs(Number(body.blocked))]).toEqual([0, 0]);
        expect([undefined, null, runId]).toContain(body.runId);
        expect(changed.match(/"failed"|"blocked"|"state"/g)).toHaveLength(3);
        expect(changed).not.toMatch(/"(failed|blocked)"\s*:\s*-?[\d.]*[1-9]/);
      }),
      { numRuns: 500 },
    );
  });
});
