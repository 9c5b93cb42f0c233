import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backoff,
  clockOf,
  limitWait,
  parseRetryAfter,
  type Refused,
  responseLost,
  retryKind,
} from '../../src/client/retry.ts';
import { HttpError, NetworkError, UnexpectedResponseError, UsageError } from '../../src/errors.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('Retry-After', () => {
  test.each<[string | undefined, number | undefined]>([
    ['0', 0],
    ['7', 7000],
    ['1.5', 1500],
    ['99999999', 99_999_999_000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
    [undefined, undefined],
    ['', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['Infinity', undefined],
    ['Thu, 99 Jan 2026 12:00:30 GMT', undefined],
    ['5, 10', undefined],
  ])('reads %j as %j ms', (value, ms) => expect(parseRetryAfter(value, now)).toBe(ms));

  test('reads any text as a duration of at least 0, or ignores it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseRetryAfter(text, now);
        expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});

describe('the time of a response', () => {
  const at = (second: number) => now + second * 1000;
  test.each<[string, string | undefined, number]>([
    ['is the local time without a date', undefined, now],
    ['is the local time if the date is invalid', 'soon', now],
    ['is the local time if the date is 2 s later', 'Thu, 01 Jan 2026 12:00:02 GMT', now],
    ['is the date if that is 3 s later', 'Thu, 01 Jan 2026 12:00:03 GMT', at(3)],
    ['is the date if that is 3 s earlier', ' Thu, 01 Jan 2026 11:59:57 GMT ', at(-3)],
  ])('%s', (_, date, clock) => expect(clockOf(date === undefined ? {} : { date }, now)).toBe(clock));
});

describe('backoff', () => {
  test.each([
    [0, 500],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 20_000],
    [2000, 20_000],
  ])('wait %i is shorter than %i ms', (n, bound) => {
    expect(backoff(n, () => 0)).toBe(0);
    expect(backoff(n, () => 0.5)).toBe(bound / 2);
    expect(backoff(n, () => 1 - Number.EPSILON)).toBeLessThan(bound);
  });
});

describe('the wait after a 429', () => {
  const minute = 60_000;
  const hour = 60 * minute;
  test.each<[string, Partial<Refused>, number, number]>([
    ['at first', {}, 15_000, 30_000],
    ['after the second', { refusals: 1, waitedMs: 22_000 }, 45_000, 75_000],
    ['after the first 45 s', { refusals: 2, waitedMs: 45_000 }, 30_000, 510_000],
    ['over more than the time waited so far', { refusals: 5, waitedMs: 8 * minute }, 30_000, 10.5 * minute],
    [
      'over a third of the time left',
      { refusals: 9, waitedMs: hour, leftMs: 36 * minute },
      30_000,
      12.5 * minute,
    ],
    [
      'over 4 minutes near the deadline',
      { refusals: 9, waitedMs: hour, leftMs: 9 * minute },
      30_000,
      4.5 * minute,
    ],
    ['before the deadline', { refusals: 9, waitedMs: hour, leftMs: 2 * minute }, 30_000, 2 * minute],
    ['after a deadline that no wait fits', { leftMs: 10_000 }, 15_000, 15_000],
    ['as long as the service requests', { requestedMs: 7000 }, 7000, 14_000],
    ['at most 15 s longer than requested', { requestedMs: hour / 2 }, hour / 2, hour / 2 + 15_000],
    ['30 s longer in the first minute', { refusals: 1, waitedMs: 9000, requestedMs: 7000 }, 7000, 37_000],
    ['8 minutes longer later', { refusals: 4, waitedMs: minute, requestedMs: 1000 }, 1000, 481_000],
    ['at once after the first Retry-After of 0', { requestedMs: 0 }, 0, 0],
    ['not at once after the second', { refusals: 1, requestedMs: 0 }, 45_000, 75_000],
    ['as absurdly long as requested', { requestedMs: 1e14 }, 1e14, 1e14],
  ])('is random: %s', (_, given, least, most) => {
    const refused: Refused = { refusals: 0, waitedMs: 0, requestedMs: undefined, leftMs: 2 * hour, ...given };
    expect(limitWait(refused, () => 0)).toBe(least);
    expect(limitWait(refused, () => 1)).toBe(most);
  });

  test('is always finite and at least the requested wait', () => {
    const ms = fc.integer({ min: 0, max: 1e12 });
    const refused = fc.record({
      refusals: fc.nat(1000),
      waitedMs: ms,
      requestedMs: fc.option(fc.integer({ min: 1000, max: 1e12 }), { nil: undefined }),
      leftMs: ms,
    });
    fc.assert(
      fc.property(refused, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (given, random) => {
        const wait = limitWait(given, () => random);
        expect(wait).toBeGreaterThanOrEqual(given.requestedMs ?? 15_000);
        expect(Number.isFinite(wait)).toBe(true);
      }),
    );
  });
});

const get = { method: 'GET', headers: {}, repeatable: true } as const;
const plainPost = { method: 'POST', headers: {}, repeatable: false } as const;
const keyedPost = { method: 'POST', headers: { 'idempotency-key': 'k' }, repeatable: true } as const;
const cancelPost = { method: 'POST', headers: {}, repeatable: true } as const;

const http = (status: number, error?: string, details?: string) =>
  new HttpError('', { status, error, details });
const later = (status: number) => new HttpError('', { status, retryAfterMs: 5000 });
const unexpected = (unreadable: boolean) =>
  new UnexpectedResponseError('', { field: '', expected: '', received: '', unreadable });
const network = (fault: NetworkError['fault']) => new NetworkError(fault, '');

describe('retryKind', () => {
  test.each<[string, unknown, string, string]>([
    // error, GET or keyed POST, plain POST
    ['a 408', http(408), 'again', 'no'],
    ['a 429', http(429), 'limit', 'limit'],
    ['a 503', http(503), 'again', 'no'],
    ['a 425', http(425), 'again', 'no'],
    ["Cloudflare's 521", http(521), 'again', 'no'],
    ['a 501', http(501), 'no', 'no'],
    ['a 505', http(505), 'no', 'no'],
    ['a 400', http(400), 'no', 'no'],
    ['a 404', http(404), 'no', 'no'],
    ['a 302 with Retry-After', later(302), 'again', 'no'],
    ['a 403 with Retry-After', later(403), 'again', 'no'],
    ['an unknown host', network('dns'), 'again', 'again'],
    ['a refused connection', network('refused'), 'again', 'again'],
    ['a broken connection', network('broken'), 'again', 'no'],
    ['an untrusted certificate', network('tls'), 'no', 'no'],
    ['a passed deadline', network('deadline'), 'no', 'no'],
    ['an unreadable response', unexpected(true), 'again', 'no'],
    ['a response that does not match the API', unexpected(false), 'no', 'no'],
    ['a usage error', new UsageError(''), 'no', 'no'],
    ['a bug', new TypeError(''), 'no', 'no'],
  ])('classifies %s', (_, error, repeatable, plain) => {
    expect(retryKind(error, get)).toBe(repeatable);
    expect(retryKind(error, keyedPost)).toBe(repeatable);
    expect(retryKind(error, cancelPost)).toBe(repeatable);
    expect(retryKind(error, plainPost)).toBe(plain);
  });

  test('retries a 409 that says "in progress" only for a keyed POST', () => {
    for (const error of [http(409, 'request in progress'), http(409, 'conflict', 'still IN_PROGRESS')]) {
      expect(retryKind(error, keyedPost)).toBe('again');
      expect(retryKind(error, cancelPost)).toBe('no');
      expect(retryKind(error, plainPost)).toBe('no');
      expect(retryKind(error, get)).toBe('no');
    }
    const keyedPut = { ...keyedPost, method: 'PUT' } as const;
    expect(retryKind(http(409, 'in progress'), keyedPut)).toBe('no');
    expect(retryKind(http(422, 'in progress'), keyedPost)).toBe('no');
    expect(retryKind(http(409, 'the key was used with another body'), keyedPost)).toBe('no');
  });

  test('responseLost is true if the request may have taken effect', () => {
    const lost = [
      network('broken'),
      unexpected(true),
      ...[502, 504, 520, 522, 524].map((code) => http(code)),
    ];
    const known = [network('refused'), unexpected(false), ...[503, 500, 429, 521].map((code) => http(code))];
    expect(lost.map(responseLost)).toEqual(lost.map(() => true));
    expect(known.map(responseLost)).toEqual(known.map(() => false));
  });
});
