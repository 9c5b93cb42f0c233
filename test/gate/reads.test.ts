import { describe, expect, test } from 'vitest';
import { NetworkError, UsageError } from '../../src/errors.ts';
import { atTheLimit, endedUnseen, stretchAfter, unobserved } from '../../src/gate/reads.ts';
import type { Outcome } from '../../src/gate/state.ts';
import {
  afterRead,
  broken,
  ended,
  errorOf,
  failedWith,
  foreign,
  http,
  network,
  type Play,
  play,
  type Result,
  readAll,
  running,
  status,
  unread,
  waitAfter,
} from './reads-play.ts';

const outcomeAfter = (results: readonly Result[], options: Play = {}) =>
  readAll(results, options).run.outcome;

describe('an ended run ends the wait at once', () => {
  test.each<[string, number, number, Outcome['verdict']]>([
    ['cancelled', 0, 0, 'cancelled'],
    ['cancelled', 1, 0, 'failed'],
  ])('%s, %i failed, %i blocked: %s', (state, failed, blocked, verdict) => {
    expect(outcomeAfter([ended(state, failed, blocked)])).toEqual({
      ...unobserved(null),
      verdict,
      ended: true,
    });
  });

  test('even if it is read after the deadline, or by the last read', () => {
    const run = afterRead(unread(), ended('completed'), { maxReads: 1, deadline: 5 }, 9);
    expect(run.outcome).toMatchObject({ verdict: 'passed', limit: false });
  });

  test('even after every kind of temporary error', () => {
    const trouble = [network('broken'), http(429), http(503), broken('state'), broken('', true), running(1)];
    expect(outcomeAfter([...trouble, ended('completed', 1)])).toMatchObject({ verdict: 'failed' });
  });
});

describe('the wait between polls', () => {
  test.each([1000, 50])(
    'is never shorter than the shortest wait (%i ms), whatever the service requests',
    (shortestMs) => {
      for (const seconds of [1e-9, 0.049, Number.MIN_VALUE])
        expect(waitAfter([running(seconds)], { shortestMs })).toBe(shortestMs);
    },
  );

  test.each<[string, Result, number]>([
    ['the interval, when the service requests nothing', running(), 10_000],
    ['retryAfterSeconds, when it is shorter than the interval', running(2), 2000],
    ['the interval, when retryAfterSeconds is 0', running(0), 10_000],
    ['the interval, when retryAfterSeconds is negative', running(-3), 10_000],
    ['retryAfterSeconds, when it is larger than Retry-After', running(20, 5000), 20_000],
    ['an hour, when the service requests an hour', running(3600), 3_600_000],
    ['the interval, when the state is unknown', status({ state: 'queued' }), 10_000],
  ])('is %s', (_name, result, waitMs) => {
    expect(waitAfter([result])).toBe(waitMs);
    expect(waitAfter([result], {}, 0.999)).toBe(Math.ceil(waitMs * 1.0999));
  });

  test('follows the last good response after a failed read', () => {
    expect(waitAfter([running(60), http(404)])).toBe(60_000);
    expect(waitAfter([running(60), http(429)])).toBe(90_000);
    expect(waitAfter([running(2), foreign(403)])).toBe(2000);
  });
});

describe('never shortens a wait to fit the deadline', () => {
  test.each<[string, Result, number, boolean]>([
    ['the interval would end right at it', running(), 10_000, true],
    ['retryAfterSeconds would pass it, though the interval would not', running(30), 20_000, true],
    ['a 429 requests more than the time left', http(429, 60_000), 30_000, true],
  ])('%s', (_name, result, deadline, over) => {
    expect(outcomeAfter([result], { deadline }) !== null).toBe(over);
  });

  test('and the outcome has the wait that would pass it', () => {
    expect(outcomeAfter([running(10)], { deadline: 5000 })).toMatchObject({
      verdict: 'timeout',
      limit: true,
      nextReadMs: 10_000,
      readsUsed: false,
    });
  });
});

describe('whether the run had ended at its first read', () => {
  const unknown = status({ state: 'paused' });
  const noCounts = broken('failed');
  test.each<[string, Result[], boolean]>([
    ['is true for an ended run', [ended('completed')], true],
    ['is false for a run that was in progress first', [running(), ended('completed')], false],
    ['is decided by the read after an unknown state', [unknown, ended('completed')], true],
    ['is true for an end without counts', [noCounts], true],
    ['is false for an end without counts after progress', [running(), noCounts], false],
    ['is false after a 401', [http(401)], false],
    ['is false for an unknown state', [unknown], false],
  ])('%s', (_, results, expected) => {
    expect(endedUnseen(readAll(results).run)).toBe(expected);
  });

  test('is false if the limits come before any response', () => {
    expect(endedUnseen({ ...unread(), outcome: atTheLimit(unread()) })).toBe(false);
  });
});

test.each([
  [0, 1],
  [15_000, 1],
  [3_600_000, 15],
])('a run that a limit delayed by %i ms stretches an interval of 10 s by %i', (limitedMs, stretch) => {
  expect(stretchAfter(limitedMs, 10_000)).toBe(stretch);
});

describe('the limit of status reads', () => {
  test.each([1, 2, 60])('ends the wait after the last of %i, without another wait', (maxReads) => {
    const steps = play(Array(100).fill(running()), { maxReads });
    expect(steps).toHaveLength(maxReads);
    expect(steps.at(-1)?.run.outcome).toEqual({
      ...unobserved(null),
      verdict: 'timeout',
      limit: true,
      readsUsed: true,
    });
  });
});

describe('at the end without a terminal state', () => {
  test('the verdict is unobserved if the deadline comes during the wait after a 429', () => {
    const outcome = outcomeAfter([running(), http(429, 60_000)], { deadline: 30_000 });
    expect(outcome).toMatchObject({ verdict: 'unobserved', error: { status: 429 }, nextReadMs: null });
  });

  test('the verdict is unobserved if the timeout passes before the first read', () => {
    expect(atTheLimit(unread())).toEqual({ ...unobserved('unread'), limit: true });
  });
});

describe('ends the wait at once, unobserved', () => {
  test.each<[string, Result, number]>([
    ['401', http(401), 6],
    ['403', http(403), 6],
    ...[302, 400, 402, 405, 409, 410, 422, 451].map((code): [string, Result, number] => [
      `${code}`,
      http(code),
      5,
    ]),
    ['an error of rungate itself', failedWith(new UsageError('closed')), 64],
  ])('%s', (_name, result, exitCode) => {
    for (const earlier of [[], [running(), network('broken')]])
      expect(outcomeAfter([...earlier, result])).toEqual(unobserved(errorOf(result)));
    expect(errorOf(result)?.exitCode).toBe(exitCode);
  });

  test.each(['failed', 'blocked'])('a terminal status with a bad %s: the run has ended', (field) => {
    const result = broken(field);
    for (const earlier of [[], [running(), network('broken')]])
      expect(outcomeAfter([...earlier, result])).toEqual({ ...unobserved(errorOf(result)), ended: true });
    expect(errorOf(result)?.exitCode).toBe(5);
  });

  test('401 and 403 even right after the gate created the run', () => {
    for (const code of [401, 403]) expect(outcomeAfter([http(code)], { createdAt: 0 })).not.toBeNull();
  });
});

describe('a failure that may be temporary does not end the wait', () => {
  test.each<[string, Result]>([
    ...[408, 425, 429, 500, 501, 502, 503, 504, 520].map((code): [string, Result] => [`${code}`, http(code)]),
    ...(['dns', 'refused', 'tls', 'connect', 'broken', 'deadline'] as const).map(
      (fault): [string, Result] => [`the network fault ${fault}`, network(fault)],
    ),
    ['a response that cannot be parsed', broken('', true)],
    ['a response without a state', broken('state')],
  ])('%s', (_name, result) => {
    expect(outcomeAfter([result])).toBeNull();
    expect(outcomeAfter([running(), ...Array(30).fill(result)])).toBeNull();
  });
});

test('a read that the deadline cuts leaves the run as it was', () => {
  const cut = failedWith(new NetworkError('deadline', 'deadline'), true);
  const { run } = readAll([running()]);
  expect(afterRead(run, cut, { deadline: 30_000 }, 30_000)).toEqual(run);
});

describe('a 404', () => {
  const missing = Array<Result>(20).fill(http(404));

  test.each<[string, Result[], Play, number | null]>([
    ['of a run of another command', missing, {}, 10_000],
    ['with a short interval', missing, { intervalMs: 3000 }, 12_000],
    ['after the run was seen', [running(), ...missing], {}, 20_000],
    ['with other failures between', [http(404), http(503), network('broken'), ...missing], {}, 12_000],
    ['followed by a good read each time', [http(404), running(), http(404), running()], {}, null],
    ['of a new run', missing, { createdAt: 0 }, 60_000],
    ['of a run that was created a minute ago', missing, { createdAt: -60_000 }, 10_000],
  ])('%s ends the wait at the right time', (_name, results, options, end) => {
    const { run, now } = readAll(results, options);
    expect(run.outcome === null ? null : now).toBe(end);
  });
});

describe('a foreign response', () => {
  const codes = [300, 302, 307, 400, 401, 403, 404, 405, 422, 451, 499];

  test.each(codes)('%i ends the wait of a run that was never read', (code) => {
    expect(outcomeAfter([foreign(code)])).toMatchObject({ error: { status: code } });
  });

  test.each(codes)('%i ends the wait the fifth time in a row, an interval apart', (code) => {
    for (const [earlier, createdAt] of [
      [[running()], null],
      [[], -60_000],
    ] as const) {
      const steps = play([...earlier, ...Array<Result>(9).fill(foreign(code))], { createdAt });
      expect(steps).toHaveLength(earlier.length + 5);
      expect(steps.at(-1)).toMatchObject({
        now: (earlier.length + 4) * 10_000,
        run: { outcome: { verdict: 'unobserved', error: { status: code } } },
      });
    }
  });

  test('404 of a new run does not end the wait during its first minute', () => {
    const results = Array<Result>(99).fill(foreign(404));
    expect(readAll(results, { createdAt: 0, intervalMs: 1000 }).now).toBe(60_000);
  });

  test.each<[string, Result]>([
    ['a good one', running()],
    ['a 503', http(503)],
    ['a 429', http(429)],
    ["the service's own 404", http(404)],
    ['a foreign one with Retry-After', foreign(403, 1000)],
  ])('counts from the start after %s', (_name, other) => {
    const four = Array<Result>(4).fill(foreign(403));
    expect(outcomeAfter([running(), ...four, other, ...four])).toBeNull();
  });

  test('is not a 407 of a proxy, which could lock the account, nor a 429', () => {
    expect(outcomeAfter([running(), foreign(407)])).not.toBeNull();
    expect(outcomeAfter([running(), ...Array(6).fill(foreign(429))])).toBeNull();
  });
});

test.each([300, 400, 401, 402, 403, 404, 409, 410, 422, 451])(
  'a %i with Retry-After never ends the wait',
  (code) => {
    for (const result of [http(code, 20_000), foreign(code, 20_000)]) {
      const steps = play(Array(30).fill(result));
      expect(steps).toHaveLength(30);
      expect(steps.at(-1)).toMatchObject({ waitMs: 20_000, run: { outcome: null } });
    }
  },
);

describe('a wrong address', () => {
  const faults = ['dns', 'refused', 'tls'] as const;

  test.each(faults)('ends the wait as unreachable after 4 reads with %s', (fault) => {
    const steps = play(Array(9).fill(network(fault)));
    expect(steps).toHaveLength(4);
    expect(steps.at(-1)?.run.outcome).toMatchObject({ verdict: 'unobserved', error: { exitCode: 7 } });
  });

  test.each(['connect', 'broken'] as const)('is not assumed after %s', (fault) => {
    expect(play(Array(50).fill(network(fault)))).toHaveLength(50);
    expect(play([network(fault), ...Array(6).fill(network('refused'))])).toHaveLength(7);
  });

  test.each(faults)('is not assumed for %s after one success, so only the limits end the wait', (fault) => {
    const steps = play([running(), ...Array(49).fill(network(fault))], { maxReads: 50 });
    expect(steps).toHaveLength(50);
    expect(steps.at(-1)?.run.outcome).toMatchObject({ verdict: 'unobserved', limit: true });
  });
});

describe('after a failed read', () => {
  test.each([
    [2, 1000],
    [5, 8000],
  ])('failure %i in a row waits 1 s and up to %i ms more', (count, most) => {
    const failures = Array(count).fill(http(503));
    expect(waitAfter(failures, {}, 0)).toBe(1000);
    expect(waitAfter(failures, {}, 0.5)).toBe(1000 + most / 2);
    expect(waitAfter(failures, {}, 0.999)).toBe(Math.ceil(1000 + most * 0.999));
  });

  test('the backoff grows up to the wait between polls and no further', () => {
    expect(waitAfter(Array(2000).fill(http(503)), {}, 0.999)).toBeLessThan(12_000);
    expect(waitAfter([running(1), ...Array(50).fill(http(503))], {}, 0.999)).toBeLessThan(2100);
  });

  test('the wait is at least Retry-After', () => {
    expect(waitAfter([http(503, 20_000)])).toBe(20_000);
    expect(waitAfter([http(408, 20_000)], {}, 0.5)).toBeGreaterThanOrEqual(20_000);
  });
});

test('on 429, a random share of up to a half is added', () => {
  expect(waitAfter([http(429)], {}, 0.5)).toBe(18_750);
});
