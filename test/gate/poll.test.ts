import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waitRules } from '../../src/commands/run/wait-flags.ts';
import {
  HttpError,
  NetworkError,
  type NetworkFault,
  type RungateError,
  UnexpectedResponseError,
  UsageError,
} from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit.ts';
import {
  afterRead,
  atTheLimit,
  type Decision,
  endedAtFirstRead,
  firstProgress,
  overslept,
  type PollRules,
  type Progress,
  type ReadResult,
  type RunOutcome,
  rulesAt,
  stretchAfter,
} from '../../src/gate/poll.ts';
import { defaultSettings, mergeSettings } from '../../src/settings/merge.ts';
import type { SettingValues } from '../../src/settings/names.ts';
import { readStatus } from '../without-redaction.ts';

const halfHourMs = 30 * 60_000;
const unlimited: PollRules = {
  intervalMs: 10_000,
  maxAttempts: Number.POSITIVE_INFINITY,
  deadline: Number.POSITIVE_INFINITY,
  createdAt: null,
};

function status(json: unknown, retryAfterMs?: number): ReadResult {
  const reading = readStatus(json);
  if (reading.kind === 'broken') throw new Error('a broken response is an error');
  return { reading, retryAfterMs };
}

const running = (retryAfterSeconds?: number, retryAfterMs?: number) =>
  status({ state: 'in_progress', retryAfterSeconds }, retryAfterMs);
const ended = (state: string, failed = 0, blocked = 0) => status({ state, failed, blocked });
/** An error of the service itself. */
const http = (code: number, retryAfterMs?: number): ReadResult => ({
  error: new HttpError(`${code}`, { status: code, error: `${code}`, retryAfterMs }),
});
/** A response of something in front of the service. */
const foreign = (code: number, retryAfterMs?: number): ReadResult => ({
  error: new HttpError(`${code}`, { status: code, retryAfterMs }),
});
const network = (fault: NetworkFault): ReadResult => ({ error: new NetworkError(fault, fault) });
const broken = (field: string, unreadable = false): ReadResult => ({
  error: new UnexpectedResponseError('broken', {
    field,
    expected: 'something',
    received: 'nothing',
    unreadable,
  }),
});
const errorOf = (result: ReadResult): RungateError | null => ('error' in result ? result.error : null);
const isLimited = (result: ReadResult) =>
  'error' in result && result.error instanceof HttpError && result.error.status === 429;

const isOutage = (result: ReadResult) => {
  const error = errorOf(result);
  if (error instanceof HttpError) return error.status === 408 || error.status >= 500;
  return error !== null;
};
const leastAfter = (result: ReadResult) => ('error' in result ? 1000 : 0);

const outcomeOf = (decision: Decision): RunOutcome | null => ('done' in decision ? decision.done : null);

function waitOf(decision: Decision): number {
  if ('done' in decision) return expect.fail(`expected a wait, but the wait ended: ${decision.done.verdict}`);
  return decision.waitMs;
}

interface Step {
  result: ReadResult;
  before: Progress;
  progress: Progress;
  decision: Decision;
  now: number;
}

/** Reads until the wait ends or there are no more results. Time only passes in the waits. */
function play(
  results: readonly ReadResult[],
  rules: PollRules,
  random: (read: number) => number = () => 0,
): Step[] {
  const steps: Step[] = [];
  let progress = firstProgress();
  let now = 0;
  for (const [index, result] of results.entries()) {
    const before: Progress = Object.freeze(progress);
    const step = afterRead(before, result, rules, now, random(index));
    steps.push({ result, before, ...step, now });
    if ('done' in step.decision) break;
    progress = step.progress;
    now += step.decision.waitMs;
  }
  return steps;
}

function last(steps: readonly Step[]): Step {
  const step = steps.at(-1);
  return step ?? expect.fail('nothing was read');
}

const readAll = (results: readonly ReadResult[], rules: Partial<PollRules> = {}, random = 0) =>
  last(play(results, { ...unlimited, ...rules }, () => random));

describe('an ended run ends the wait at once', () => {
  test.each<[string, number, number, string]>([
    ['completed', 0, 0, 'passed'],
    ['completed', 2, 1, 'failed'],
    ['completed', 0, 1, 'blocked'],
    ['cancelled', 0, 0, 'cancelled'],
    ['cancelled', 1, 0, 'failed'],
    ['cancelled', 0, 4, 'blocked'],
  ])('%s, %i failed, %i blocked: %s', (state, failed, blocked, verdict) => {
    expect(readAll([ended(state, failed, blocked)]).decision).toEqual({ done: { verdict } });
  });

  test('even if it is read after the deadline, or by the last read', () => {
    const rules = { ...unlimited, maxAttempts: 1, deadline: 5 };
    expect(afterRead(firstProgress(), ended('completed'), rules, 9, 0).decision).toEqual({
      done: { verdict: 'passed' },
    });
  });

  test('even after every kind of temporary error', () => {
    const trouble = [network('broken'), http(429), http(503), broken('state'), broken('', true), running(1)];
    expect(readAll([...trouble, ended('completed', 1)]).decision).toEqual({ done: { verdict: 'failed' } });
  });
});

describe('the wait between polls', () => {
  test.each([
    [undefined, 1000],
    [50, 50],
  ])('is never shorter than the shortest wait (%j), whatever the service requests', (shortestMs, least) => {
    for (const seconds of [1e-9, 0.049, Number.MIN_VALUE]) {
      const { decision } = afterRead(firstProgress(), running(seconds), { ...unlimited, shortestMs }, 0, 0);
      expect(decision).toEqual({ waitMs: least });
    }
  });

  test.each<[string, ReadResult, number]>([
    ['the interval, when the service requests nothing', running(), 10_000],
    ['retryAfterSeconds, when it is longer than the interval', running(30), 30_000],
    ['retryAfterSeconds, when it is shorter than the interval', running(2), 2000],
    ['retryAfterSeconds, with its fraction', running(1.25), 1250],
    ['the interval, when retryAfterSeconds is 0', running(0), 10_000],
    ['the interval, when retryAfterSeconds is negative', running(-3), 10_000],
    ['Retry-After, when it is larger than retryAfterSeconds', running(5, 20_000), 20_000],
    ['retryAfterSeconds, when it is larger than Retry-After', running(20, 5000), 20_000],
    ['Retry-After, when it is larger than the interval', running(undefined, 45_000), 45_000],
    ['the interval, when it is larger than Retry-After', running(undefined, 1000), 10_000],
    ['an hour, when the service requests an hour', running(3600), 3_600_000],
    ['the interval, when the state is unknown', status({ state: 'queued' }), 10_000],
  ])('is %s', (_name, result, waitMs) => {
    expect(waitOf(readAll([result]).decision)).toBe(waitMs);
    expect(waitOf(readAll([result], {}, 0.999).decision)).toBeCloseTo(waitMs * 1.0999, 3);
  });

  test('follows the last response and forgets earlier ones', () => {
    expect(waitOf(readAll([running(60), running()]).decision)).toBe(10_000);
  });
});

describe('never shortens a wait to fit the deadline', () => {
  test.each<[string, ReadResult, number, boolean]>([
    ['the interval ends before it', running(), 10_001, false],
    ['the interval would end right at it', running(), 10_000, true],
    ['the interval would pass it', running(), 9000, true],
    ['retryAfterSeconds would pass it, though the interval would not', running(30), 20_000, true],
    ['Retry-After would pass it', running(1, 30_000), 20_000, true],
    ['a 429 requests more than the time left', http(429, 60_000), 30_000, true],
    ['a 503 requests more than the time left', http(503, 60_000), 30_000, true],
  ])('%s', (_name, result, deadline, over) => {
    expect('done' in readAll([result], { deadline }).decision).toBe(over);
  });
});

describe('whether the run had ended at its first read', () => {
  const unknown = status({ state: 'paused' });
  const noCounts = broken('failed');
  test.each<[string, ReadResult[], boolean]>([
    ['is true for an ended run', [ended('completed')], true],
    ['is false for a run that was in progress first', [running(), ended('completed')], false],
    ['is decided by the read after an unknown state', [unknown, ended('completed')], true],
    ['is still false if an unknown state follows progress', [running(), unknown, ended('completed')], false],
    ['is true for an end without counts', [noCounts], true],
    ['is false for an end without counts after progress', [running(), noCounts], false],
    ['is false after a 401', [http(401)], false],
    ['is false for a run in progress', [running()], false],
    ['is false for an unknown state', [unknown], false],
  ])('%s', (_, results, expected) => {
    const last = play(results, unlimited).at(-1);
    const progress = last?.progress ?? firstProgress();
    expect(endedAtFirstRead({ progress, outcome: last ? outcomeOf(last.decision) : null })).toBe(expected);
  });

  test('does not see progress in an ended run', () => {
    expect(play([ended('completed')], unlimited).at(-1)?.progress.inProgress).toBe(false);
  });

  test('is false if the limits come before any response', () => {
    const progress = firstProgress();
    expect(endedAtFirstRead({ progress, outcome: atTheLimit(progress) })).toBe(false);
  });
});

test.each([
  [0, 1],
  [15_000, 1],
  [30_000, 2],
  [225_000, 15],
  [3_600_000, 15],
])('a run that a limit delayed by %i ms stretches an interval of 10 s by %i', (limitedMs, stretch) => {
  expect(stretchAfter(limitedMs, 10_000)).toBe(stretch);
});

test('the timeout can pass before the first read', () => {
  expect(atTheLimit(firstProgress())).toMatchObject({
    verdict: 'unobserved',
    limit: true,
    cause: { hint: expect.stringContaining('longer timeout') },
  });
});

test('an error other than a network, HTTP or unexpected-response error ends the wait', () => {
  const [step] = play([{ error: new UsageError('closed') }], unlimited);
  expect(step && outcomeOf(step.decision)).toMatchObject({ verdict: 'unobserved' });
});

test('a broken connection proves that the address is right', () => {
  const refused = Array<ReadResult>(6).fill(network('refused'));
  expect(play([network('broken'), ...refused], unlimited)).toHaveLength(7);
  expect(play(refused, unlimited)).toHaveLength(4);
});

describe('no sleep after the last read', () => {
  test.each([1, 2, 60])('of %i', (maxAttempts) => {
    const steps = play(Array(100).fill(running()), { ...unlimited, maxAttempts });
    expect(steps).toHaveLength(maxAttempts);
    expect(last(steps).decision).toEqual({
      done: { verdict: 'timeout', limit: true, attemptsExhausted: true },
    });
  });

  test('failed reads count as attempts', () => {
    const steps = play([running(), network('broken'), broken('', true), http(500)], {
      ...unlimited,
      maxAttempts: 4,
    });
    expect(last(steps).decision).toMatchObject({ done: { verdict: 'unobserved', limit: true } });
  });

  test('a 429 does not count as a status read', () => {
    const reads = [http(429), http(429), http(429), running(), http(429), ended('completed')];
    const step = readAll(reads, { maxAttempts: 2 });
    expect(step.decision).toEqual({ done: { verdict: 'passed' } });
    expect(step.progress.attempts).toBe(2);
  });
});

describe('the limits', () => {
  const fromFlags = (values: Partial<SettingValues>) =>
    waitRules(mergeSettings([defaultSettings, { origin: 'flag', values }]));

  test('are an interval of 10 s, 60 reads and 60 minutes by default', () => {
    expect(fromFlags({})).toMatchObject({ intervalMs: 10_000, maxAttempts: 60, timeoutMs: 3_600_000 });
  });

  test('do not include the 60 reads with an explicit timeout', () => {
    expect(fromFlags({ timeout: 7_200_000 })).toMatchObject({
      maxAttempts: Number.POSITIVE_INFINITY,
      timeoutMs: 7_200_000,
    });
  });

  test('include an explicit number of reads with an explicit timeout', () => {
    expect(fromFlags({ timeout: 7_200_000, maxAttempts: 5 })).toMatchObject({ maxAttempts: 5 });
  });

  test('include the hour with an explicit number of reads', () => {
    expect(fromFlags({ maxAttempts: 500 })).toMatchObject({ maxAttempts: 500, timeoutMs: 3_600_000 });
  });

  test('come with the policy', () => {
    expect(fromFlags({ strict: true }).policy.cancelled).toBe('fail');
    expect(fromFlags({ strict: true, on: { cancelled: 'warn' } }).policy.cancelled).toBe('warn');
  });
});

describe('ends the wait at once, unobserved', () => {
  test.each<[string, ReadResult, number]>([
    ['401', http(401), 6],
    ['403', http(403), 6],
    ...[302, 400, 402, 405, 409, 410, 422, 451].map((code): [string, ReadResult, number] => [
      `${code}`,
      http(code),
      5,
    ]),
    ['a terminal status with a bad failed', broken('failed'), 5],
    ['a terminal status with a bad blocked', broken('blocked'), 5],
  ])('%s', (_name, result, exitCode) => {
    for (const earlier of [[], [running(), network('broken')]]) {
      const { decision } = readAll([...earlier, result]);
      expect(decision).toEqual({ done: { verdict: 'unobserved', cause: errorOf(result) } });
      expect(exitCodeOf(errorOf(result))).toBe(exitCode);
    }
  });

  test('401 and 403 even right after the gate triggered the run', () => {
    for (const code of [401, 403])
      expect('done' in readAll([http(code)], { createdAt: 0 }).decision).toBe(true);
  });
});

describe('a failure that may be temporary does not end the wait', () => {
  test.each<[string, ReadResult]>([
    ...[408, 429, 500, 501, 502, 503, 504, 520].map((code): [string, ReadResult] => [`${code}`, http(code)]),
    ...(['dns', 'refused', 'tls', 'connect', 'broken'] as const).map((fault): [string, ReadResult] => [
      `the network fault ${fault}`,
      network(fault),
    ]),
    ['a response that cannot be parsed', broken('', true)],
    ['a response without a state', broken('state')],
  ])('%s', (_name, result) => {
    expect('done' in readAll([result]).decision).toBe(false);
    expect('done' in readAll([running(), ...Array(30).fill(result)]).decision).toBe(false);
  });
});

describe('a 404', () => {
  /** Returns the time of the read that ends the wait. */
  const endOf = (results: readonly ReadResult[], rules: Partial<PollRules>) => {
    const { decision, now } = last(play(results, { ...unlimited, ...rules }));
    return 'done' in decision ? now : null;
  };
  const missing = Array<ReadResult>(20).fill(http(404));

  test.each<[string, ReadResult[], Partial<PollRules>, number | null]>([
    ['of a run of another command', missing, {}, 10_000],
    ['with a short interval', missing, { intervalMs: 3000 }, 12_000],
    ['with a long interval', missing, { intervalMs: 40_000 }, 40_000],
    ['after the run was seen', [running(), ...missing], {}, 20_000],
    ['with other failures between', [http(404), http(503), network('broken'), ...missing], {}, 12_000],
    ['followed by a good read each time', [http(404), running(), http(404), running()], {}, null],
    ['of a new run', missing, { createdAt: 0 }, 60_000],
    ['of a new run, first read later', missing, { createdAt: -55_000 }, 10_000],
    ['of a run that was created a minute ago', missing, { createdAt: -60_000 }, 10_000],
    ['of a new run after it was seen', [running(), ...missing], { createdAt: 0 }, 60_000],
  ])('%s ends the wait at the right time', (_name, results, rules, end) => {
    expect(endOf(results, rules)).toBe(end);
  });
});

describe('a foreign response', () => {
  const codes = [300, 302, 307, 401, 403, 404];

  test.each(codes)('%i ends the wait of a run that was never read', (code) => {
    expect(readAll([foreign(code)]).decision).toMatchObject({ done: { cause: { status: code } } });
  });

  test.each(codes)('%i ends the wait the fifth time in a row, an interval apart', (code) => {
    for (const [earlier, createdAt] of [
      [[running()], null],
      [[], -60_000],
    ] as const) {
      const steps = play([...earlier, ...Array<ReadResult>(9).fill(foreign(code))], {
        ...unlimited,
        createdAt,
      });
      expect(steps).toHaveLength(earlier.length + 5);
      expect(last(steps)).toMatchObject({
        now: (earlier.length + 4) * 10_000,
        decision: { done: { verdict: 'unobserved', cause: { status: code } } },
      });
    }
  });

  test('404 of a new run does not end the wait during its first minute', () => {
    const steps = play(Array<ReadResult>(99).fill(foreign(404)), {
      ...unlimited,
      createdAt: 0,
      intervalMs: 1000,
    });
    expect(last(steps).now).toBe(60_000);
  });

  test.each<[string, ReadResult]>([
    ['a good one', running()],
    ['a 503', http(503)],
    ['a 429', http(429)],
    ["the service's own 404", http(404)],
    ['a foreign one with Retry-After', foreign(403, 1000)],
  ])('counts from the start after %s', (_name, other) => {
    const four = Array<ReadResult>(4).fill(foreign(403));
    expect('done' in readAll([running(), ...four, other, ...four]).decision).toBe(false);
  });

  test.each([400, 402, 405, 407, 410, 422, 451])('is not a %i, which ends the wait', (code) => {
    expect('done' in readAll([running(), foreign(code)]).decision).toBe(true);
  });
});

test.each([300, 400, 401, 402, 403, 404, 409, 410, 422, 451])(
  'a %i with Retry-After never ends the wait',
  (code) => {
    for (const result of [http(code, 20_000), foreign(code, 20_000)]) {
      const steps = play(Array(30).fill(result), unlimited);
      expect(steps).toHaveLength(30);
      expect(last(steps).decision).toEqual({ waitMs: 20_000 });
    }
  },
);

describe('a read that the deadline cuts', () => {
  const cut = network('deadline');
  const rules = { ...unlimited, deadline: 30_000 };
  const readAt = (earlier: readonly ReadResult[], now: number, own: Partial<PollRules> = {}) =>
    afterRead(readAll(earlier, rules).progress, cut, { ...rules, ...own }, now, 0);

  test('leaves the progress as it was', () => {
    expect(readAt([running()], 30_000).progress).toEqual(readAll([running()], rules).progress);
  });

  test.each<[string, ReadResult, object]>([
    ['a timeout after a good read', running(), { verdict: 'timeout', limit: true }],
    ['unobserved after a failed one', http(503), { verdict: 'unobserved', cause: { status: 503 } }],
  ])('is %s', (_name, earlier, done) => {
    for (const now of [29_996, 30_000, 30_999])
      expect(readAt([earlier], now).decision).toMatchObject({ done });
  });

  test('is unobserved if it was the only one', () => {
    const { decision } = afterRead(firstProgress(), cut, rules, 30_000, 0);
    expect(decision).toMatchObject({ done: { verdict: 'unobserved', cause: { fault: 'deadline' } } });
  });

  test('is repeated once after a sleep', () => {
    expect(readAt([running()], 31_000).decision).toEqual({ waitMs: 0 });
    const own = rulesAt(rules, 31_000);
    expect(own).toEqual({ ...rules, deadline: 41_000, isLast: true });
    expect(readAt([running()], 99_000, own).decision).toMatchObject({ done: { verdict: 'timeout' } });
  });
});

describe('a last read', () => {
  test('is one that begins after the deadline', () => {
    const rules = { ...unlimited, deadline: 30_000 };
    expect(rulesAt(rules, 29_999)).toBe(rules);
    expect(rulesAt(rules, 30_000).isLast).toBe(true);
    expect(overslept(rules, 30_999)).toBe(false);
    expect(overslept(rules, 31_000)).toBe(true);
    expect(overslept(rulesAt(rules, 31_000), 99_000)).toBe(false);
  });

  test.each<[string, ReadResult, string]>([
    ['a run in progress', running(1), 'timeout'],
    ['a run that has ended', ended('completed'), 'passed'],
    ['a 503', http(503), 'unobserved'],
    ['a 429', http(429), 'unobserved'],
    ['a 403 with Retry-After', http(403, 1), 'unobserved'],
  ])('ends the wait after %s, with or without a hub', (_name, result, verdict) => {
    for (const hub of [true, false]) {
      const rules = rulesAt({ ...unlimited, deadline: 0, hub }, 50_000);
      const { decision } = afterRead(firstProgress(), result, rules, 50_001, 0);
      expect(decision).toMatchObject({ done: { verdict } });
    }
  });
});

describe('a wrong address', () => {
  const faults = ['dns', 'refused', 'tls'] as const;

  test.each(faults)('ends the wait as unreachable after 4 reads with %s', (fault) => {
    const steps = play(Array(9).fill(network(fault)), unlimited);
    expect(steps).toHaveLength(4);
    const outcome = outcomeOf(last(steps).decision);
    expect(outcome?.verdict).toBe('unobserved');
    expect(outcome?.verdict === 'unobserved' && exitCodeOf(outcome.cause)).toBe(7);
  });

  test('ends the wait after a mix of them', () => {
    const steps = play([...faults, ...faults].map(network), unlimited);
    expect(steps).toHaveLength(4);
  });

  test.each(['connect', 'broken'] as const)('is not assumed after %s', (fault) => {
    expect(play(Array(50).fill(network(fault)), unlimited)).toHaveLength(50);
  });

  test.each(faults)('is not assumed for %s after one success, so only the limits end the wait', (fault) => {
    const reads = [running(), ...Array(49).fill(network(fault))];
    const steps = play(reads, { ...unlimited, maxAttempts: 50 });
    expect(steps).toHaveLength(50);
    expect(last(steps).decision).toMatchObject({ done: { verdict: 'unobserved', limit: true } });
  });
});

describe('at the end without a terminal state', () => {
  test('the verdict is timeout if the last read succeeded', () => {
    const trouble = [http(500), network('broken')];
    expect(readAll([...trouble, running()], { maxAttempts: 3 }).decision).toEqual({
      done: { verdict: 'timeout', limit: true, attemptsExhausted: true },
    });
  });

  test.each<[string, ReadResult, number]>([
    ['503', http(503), 5],
    ['a broken connection', network('broken'), 7],
    ['a response that cannot be parsed', broken('', true), 5],
  ])(
    'the verdict is unobserved if the last read was %s, with the exit code of its cause',
    (_name, result, exitCode) => {
      const outcome = outcomeOf(readAll([running(), result], { maxAttempts: 2 }).decision);
      expect(outcome).toEqual({ verdict: 'unobserved', cause: errorOf(result), limit: true });
      expect(exitCodeOf(errorOf(result))).toBe(exitCode);
    },
  );

  test('the verdict is unobserved if the deadline comes during the wait after a 429', () => {
    const outcome = outcomeOf(readAll([running(), http(429, 60_000)], { deadline: 30_000 }).decision);
    expect(outcome).toMatchObject({ verdict: 'unobserved', cause: { status: 429 } });
  });

  test('the verdict is unobserved if the timeout passes before the first read', () => {
    const outcome = atTheLimit(firstProgress());
    expect(outcome.verdict).toBe('unobserved');
    expect(outcome.verdict === 'unobserved' && exitCodeOf(outcome.cause)).toBe(7);
  });
});

describe('after a failed read', () => {
  test.each([
    [1, 500],
    [2, 1000],
    [3, 2000],
    [4, 4000],
    [5, 8000],
  ])('failure %i in a row waits 1 s and up to %i ms more', (count, most) => {
    const failures = Array(count).fill(http(503));
    expect(waitOf(readAll(failures, {}, 0).decision)).toBe(1000);
    expect(waitOf(readAll(failures, {}, 0.5).decision)).toBe(1000 + most / 2);
    expect(waitOf(readAll(failures, {}, 0.999).decision)).toBeCloseTo(1000 + most * 0.999, 6);
  });

  test('the backoff grows up to the wait between polls and no further', () => {
    expect(waitOf(readAll(Array(2000).fill(http(503)), {}, 0.999).decision)).toBeLessThan(12_000);
    expect(waitOf(readAll([running(1), ...Array(50).fill(http(503))], {}, 0.999).decision)).toBeLessThan(
      2100,
    );
  });

  test('a success resets the backoff', () => {
    const failures = Array(6).fill(http(503));
    expect(waitOf(readAll([...failures, running(), http(503)], {}, 0.5).decision)).toBe(1250);
  });

  test('the wait is at least Retry-After', () => {
    expect(waitOf(readAll([http(503, 20_000)]).decision)).toBe(20_000);
    expect(waitOf(readAll([http(408, 20_000)], {}, 0.5).decision)).toBeGreaterThanOrEqual(20_000);
  });
});

describe('on 429', () => {
  test('the interval grows by half each time, and on success shrinks by a tenth down to the base', () => {
    const waits = play([http(429), http(429), running(), running(), ...Array(20).fill(running())], unlimited);
    const seen = waits.map((step) => Math.round(waitOf(step.decision)));
    expect(seen.slice(0, 5)).toEqual([15_000, 22_500, 20_250, 18_225, 16_403]);
    expect(seen.at(-1)).toBe(10_000);
  });

  test('the interval grows up to 30 minutes', () => {
    expect(waitOf(readAll(Array(100).fill(http(429))).decision)).toBe(halfHourMs);
  });

  test('the wait is at least Retry-After', () => {
    expect(waitOf(readAll([http(429, 90_000)]).decision)).toBe(90_000);
    expect(waitOf(readAll([http(429, 2 * halfHourMs)]).decision)).toBe(2 * halfHourMs);
  });

  test('an interval above 30 minutes is neither stretched nor shortened', () => {
    expect(waitOf(readAll(Array(5).fill(http(429)), { intervalMs: 2 * halfHourMs }).decision)).toBe(
      2 * halfHourMs,
    );
    expect(waitOf(readAll([http(429), running(7200)]).decision)).toBe(7_200_000);
  });
});

describe('a wait that would pass the deadline', () => {
  const rules = { ...unlimited, deadline: 5000 };

  test('ends the gate with the wait in the outcome', () => {
    expect(afterRead(firstProgress(), running(10), rules, 0, 0).decision).toMatchObject({
      done: { verdict: 'timeout', limit: true, nextReadMs: 10_000 },
    });
  });

  test('goes on with a hub, which may end it at any time', () => {
    expect(afterRead(firstProgress(), running(10), { ...rules, hub: true }, 0, 0).decision).toEqual({
      waitMs: 10_000,
    });
  });
});

describe('for any results', () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const retryAfterMs = fc.option(fc.integer({ min: 0, max: 4_000_000 }), { nil: undefined });
  const seconds = fc.option(fc.double({ min: 0.001, max: 7200, noNaN: true }), { nil: undefined });
  const anyRunning = fc.tuple(seconds, retryAfterMs).map(([s, ms]) => running(s, ms));
  const anyEnded = fc
    .tuple(fc.constantFrom('completed', 'cancelled'), fc.nat(2), fc.nat(2))
    .map(([state, failed, blocked]) => ended(state, failed, blocked));
  const temporary = fc.oneof(
    fc.tuple(fc.constantFrom(408, 500, 502, 503, 504), retryAfterMs).map(([code, ms]) => http(code, ms)),
    fc.constantFrom<NetworkFault>('dns', 'refused', 'tls', 'connect', 'broken').map(network),
    fc.tuple(fc.constantFrom(302, 401, 403, 404), retryAfterMs).map(([code, ms]) => foreign(code, ms)),
    fc.constantFrom(broken('', true), broken('state')),
  );
  const limited = retryAfterMs.map((ms) => http(429, ms));
  const final = fc.oneof(
    fc.constantFrom(401, 403, 404, 400, 409, 410).map((code) => http(code)),
    fc.constantFrom(broken('failed'), broken('blocked')),
  );
  const going = fc.oneof({ weight: 4, arbitrary: anyRunning }, { weight: 2, arbitrary: temporary }, limited);
  const any = fc.oneof({ weight: 20, arbitrary: going }, anyEnded, final);
  const reads = fc.array(any, { minLength: 1, maxLength: 40 });
  const randoms = fc.array(unit, { minLength: 40, maxLength: 40 });
  const someRules = fc.record({
    intervalMs: fc.integer({ min: 1, max: 4_000_000 }),
    maxAttempts: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Number.POSITIVE_INFINITY)),
    deadline: fc.oneof(fc.integer({ min: 0, max: 20_000_000 }), fc.constant(Number.POSITIVE_INFINITY)),
    createdAt: fc.option(fc.integer({ min: -100_000, max: 0 })),
  });

  function always(
    check: (step: Step, rules: PollRules, random: number, steps: readonly Step[]) => void,
  ): void {
    fc.assert(
      fc.property(reads, someRules, randoms, (results, rules, jitter) => {
        const steps = play(results, rules, (read) => jitter[read] ?? 0);
        for (const [index, step] of steps.entries()) check(step, rules, jitter[index] ?? 0, steps);
      }),
      { numRuns: 1000 },
    );
  }

  /** Returns the wait that the service and the settings request, before jitter and stretch. */
  function baseOf(step: Step, rules: PollRules): number {
    const { seen } = step.progress;
    const asks = seen?.kind === 'running' ? seen.retryAfterSeconds : null;
    return asks === null ? rules.intervalMs : Math.max(asks * 1000, 1000);
  }

  function requestedBy(result: ReadResult): number {
    if ('error' in result) return (result.error instanceof HttpError ? result.error.retryAfterMs : 0) ?? 0;
    return result.retryAfterMs ?? 0;
  }

  test('no wait is shorter than requested, and jitter adds at most a tenth, or a half after a 429', () => {
    always((step, rules) => {
      if ('done' in step.decision) return;
      const { waitMs } = step.decision;
      expect(waitMs).toBeGreaterThanOrEqual(requestedBy(step.result));
      if (isOutage(step.result)) return;
      const least = Math.max(baseOf(step, rules), requestedBy(step.result), leastAfter(step.result));
      expect(waitMs).toBeGreaterThanOrEqual(least);
      const stretched = Math.min(baseOf(step, rules) * step.progress.stretch, halfHourMs);
      const most = Math.max(least, stretched) * (isLimited(step.result) ? 1.5 : 1.1);
      expect(waitMs).toBeLessThanOrEqual(most);
    });
  });

  test('the wait after a failure is at least 1 s', () => {
    always((step) => {
      if (!('done' in step.decision))
        expect(step.decision.waitMs).toBeGreaterThanOrEqual(leastAfter(step.result));
    });
  });

  test('the wait in an outage has full jitter, up to the wait between polls', () => {
    always((step, rules, random) => {
      if ('done' in step.decision || !isOutage(step.result)) return;
      const between = Math.max(
        baseOf(step, rules),
        requestedBy(step.result),
        1000,
        Math.min(baseOf(step, rules) * step.progress.stretch, halfHourMs),
      );
      const most = Math.min(between * 1.1, 500 * 2 ** (step.progress.failures - 1));
      expect(step.decision.waitMs).toBeLessThanOrEqual(
        Math.max(requestedBy(step.result), 1000 + random * most),
      );
    });
  });

  test('a wait never exceeds the deadline, and is the same as without a deadline', () => {
    always((step, rules, random) => {
      if ('done' in step.decision) return;
      expect(step.now + step.decision.waitMs).toBeLessThan(rules.deadline);
      const free = afterRead(
        step.before,
        step.result,
        { ...rules, deadline: Number.POSITIVE_INFINITY },
        step.now,
        random,
      );
      expect(free.decision).toEqual(step.decision);
    });
  });

  test('every read counts, except those with a 429', () => {
    always((step) => {
      expect(step.progress.attempts - step.before.attempts).toBe(isLimited(step.result) ? 0 : 1);
    });
  });

  test('the last read is always followed by a verdict, never by another read', () => {
    always((step, rules) => {
      expect(step.progress.attempts).toBeLessThanOrEqual(rules.maxAttempts);
      if (step.progress.attempts >= rules.maxAttempts) expect(step.decision).toHaveProperty('done');
    });
  });

  test('a wait is a finite number of 0 or more', () => {
    always((step) => {
      if ('done' in step.decision) return;
      expect(Number.isFinite(step.decision.waitMs) && step.decision.waitMs >= 0).toBe(true);
    });
  });

  test('the verdict is timeout only if the last read succeeded and the run had not ended', () => {
    always((step) => {
      const outcome = outcomeOf(step.decision);
      if (outcome?.verdict !== 'timeout') return;
      expect('reading' in step.result && step.result.reading.kind).toBe('running');
      expect(outcome.limit).toBe(true);
    });
  });

  test('the verdict is unobserved only if the last read failed, and its error is the cause', () => {
    always((step) => {
      const outcome = outcomeOf(step.decision);
      if (outcome?.verdict === 'unobserved') expect(outcome.cause).toBe(errorOf(step.result));
      else if (outcome !== null) expect(errorOf(step.result)).toBeNull();
    });
  });

  test('the verdict is passed only for a completed run with both counts 0', () => {
    always((step) => {
      if (outcomeOf(step.decision)?.verdict !== 'passed') return;
      expect(step.result).toMatchObject({
        reading: { kind: 'ended', state: 'completed', failed: 0, blocked: 0 },
      });
    });
  });

  test('the stretch grows by half on 429, shrinks by a tenth on success, and keeps the interval within 30 minutes', () => {
    always(({ before, progress, result }, rules) => {
      const most = Math.max(1, halfHourMs / rules.intervalMs);
      expect(progress.stretch).toBeGreaterThanOrEqual(1);
      expect(progress.stretch).toBeLessThanOrEqual(most);
      if (isLimited(result)) expect(progress.stretch).toBe(Math.min(before.stretch * 1.5, most));
      else if (errorOf(result) === null) expect(progress.stretch).toBe(Math.max(1, before.stretch * 0.9));
      else expect(progress.stretch).toBe(before.stretch);
    });
  });

  test('failures keep the last valid status', () => {
    always(({ before, progress, result }) => {
      expect(progress.seen).toBe('reading' in result ? result.reading : before.seen);
      expect(progress.trouble).toBe(errorOf(result));
    });
  });

  test('the same read leads to the same decision', () => {
    always(({ before, result, progress, decision, now }, rules, random) => {
      expect(afterRead(before, result, rules, now, random)).toEqual({ progress, decision });
    });
  });
});
