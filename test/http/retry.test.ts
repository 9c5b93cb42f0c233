import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContractError, HttpError, NetworkError, UsageError } from '../../src/errors.ts';
import { backoff, limitWait, parseRetryAfter, replyLost, retryKind } from '../../src/http/retry.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('Retry-After', () => {
  test.each<[string | undefined, number | undefined]>([
    ['0', 0],
    ['7', 7000],
    [' 7 ', 7000],
    ['1.5', 1500],
    ['0.0001', 1],
    ['86400', 86_400_000],
    ['99999999', 99_999_999_000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
    ['Thu Jan  1 12:00:30 2026', 30_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    [undefined, undefined],
    ['', undefined],
    ['-1', undefined],
    ['+5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['5s', undefined],
    ['soon', undefined],
    ['Infinity', undefined],
    ['NaN', undefined],
    ['2026-01-01T12:00:30Z', undefined],
    ['Thu, 99 Jan 2026 12:00:30 GMT', undefined],
    ['5, 10', undefined],
  ])('%j is %j ms', (value, ms) => expect(parseRetryAfter(value, now)).toBe(ms));

  test('any text is a duration from 0 up or nothing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseRetryAfter(text, now);
        expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });

  test('seconds are never truncated', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
        const text = value.toFixed(6);
        expect(parseRetryAfter(text, now)).toBeGreaterThanOrEqual(Number(text) * 1000);
      }),
    );
  });
});

describe('backoff', () => {
  test.each([
    [0, 500],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 20_000],
    [2000, 20_000],
  ])('wait %i is below %i ms', (n, bound) => {
    expect(backoff(n, () => 0)).toBe(0);
    expect(backoff(n, () => 0.5)).toBe(bound / 2);
    expect(backoff(n, () => 1 - Number.EPSILON)).toBeLessThan(bound);
  });

  test('is always between 0 and its cap', () => {
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(), unit, fc.integer({ min: 1, max: 60_000 }), (n, random, cap) => {
        const ms = backoff(n, () => random, { cap });
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThan(cap + 1);
      }),
    );
  });
});

describe('the wait for a limit that does not say how long', () => {
  test.each([
    [0, 15_000, 30_000],
    [1, 30_000, 60_000],
    [2, 45_000, 60_000],
    [3, 60_000, 120_000],
    [4, 120_000, 240_000],
    [5, 240_000, 480_000],
    [50, 240_000, 480_000],
  ])('is for 429 number %i from %i to %i ms', (n, low, high) => {
    expect(limitWait(n, () => 0)).toBe(low);
    expect(limitWait(n, () => 1)).toBe(high);
  });
});

const get = { method: 'GET', headers: {}, repeatable: true } as const;
const plainPost = { method: 'POST', headers: {}, repeatable: false } as const;
const keyedPost = { method: 'POST', headers: { 'idempotency-key': 'k' }, repeatable: true } as const;
const cancelPost = { method: 'POST', headers: {}, repeatable: true } as const;

const http = (status: number, error?: string, details?: string) =>
  new HttpError('', { status, error, details });
const contract = (unreadable: boolean) =>
  new ContractError('', { field: '', expected: '', received: '', unreadable });
const network = (fault: NetworkError['fault']) => new NetworkError(fault, '');

describe('what is retried', () => {
  test.each<[string, unknown, string, string]>([
    // error, of a GET or a keyed POST, of a plain POST
    ['408', http(408), 'again', 'no'],
    ['429', http(429), 'limit', 'limit'],
    ['500', http(500), 'again', 'no'],
    ['502', http(502), 'again', 'no'],
    ['503', http(503), 'again', 'no'],
    ['504', http(504), 'again', 'no'],
    ['501', http(501), 'no', 'no'],
    ['400', http(400), 'no', 'no'],
    ['401', http(401), 'no', 'no'],
    ['404', http(404), 'no', 'no'],
    ['302', http(302), 'no', 'no'],
    ['no such host', network('dns'), 'again', 'again'],
    ['nobody listens', network('refused'), 'again', 'again'],
    ['not connected', network('connect'), 'again', 'again'],
    ['broken', network('broken'), 'again', 'no'],
    ['certificate', network('tls'), 'no', 'no'],
    ['deadline', network('deadline'), 'no', 'no'],
    ['unreadable reply', contract(true), 'again', 'no'],
    ['reply against the contract', contract(false), 'no', 'no'],
    ['usage', new UsageError(''), 'no', 'no'],
    ['a bug', new TypeError(''), 'no', 'no'],
  ])('%s', (_, error, repeatable, plain) => {
    expect(retryKind(error, get)).toBe(repeatable);
    expect(retryKind(error, keyedPost)).toBe(repeatable);
    expect(retryKind(error, cancelPost)).toBe(repeatable);
    expect(retryKind(error, plainPost)).toBe(plain);
  });

  test('a 409 that says "in progress", of a keyed POST only', () => {
    for (const error of [http(409, 'request in progress'), http(409, 'conflict', 'still IN_PROGRESS')]) {
      expect(retryKind(error, keyedPost)).toBe('again');
      expect(retryKind(error, cancelPost)).toBe('no');
      expect(retryKind(error, plainPost)).toBe('no');
      expect(retryKind(error, get)).toBe('no');
    }
    expect(retryKind(http(409, 'the key came with another body'), keyedPost)).toBe('no');
  });

  test('what leaves open whether the request took effect', () => {
    expect([network('broken'), contract(true), http(502), http(504)].map(replyLost)).not.toContain(false);
    expect(
      [network('refused'), contract(false), http(503), http(500), http(429)].map(replyLost),
    ).not.toContain(true);
  });
});
