import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration, readDuration } from '../src/duration.ts';
import { UsageError } from '../src/errors.ts';

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

describe('readDuration', () => {
  test.each([
    ['250ms', 250],
    ['1.5m', 90_000],
    ['.5s', 500],
    ['0', 0],
    [' 10s ', 10_000],
    ['010s', 10_000],
    ['999999h', 3_599_996_400_000],
  ])('reads %j as %i ms', (text, ms) => expect(readDuration(text)).toBe(ms));

  test.each(['', ' ', 'ten', '1e3', '5.', '1,5s', '10 s', '1m30s', 's', '10s\n5s', '١٠s', '9'.repeat(400)])(
    'returns null for %j',
    (text) => expect(readDuration(text)).toBeNull(),
  );

  test.each(['0', '0s', '0.0ms', 'soon', '-5s', ''])(
    'parseDuration throws a usage error that names the option for %j',
    (text) => {
      expect(() => parseDuration('--interval', text)).toThrow(UsageError);
      expect(() => parseDuration('--interval', text)).toThrow(/--interval/);
    },
  );

  test('reads every unit, and a bare number as seconds', () => {
    const unit = fc.constantFrom('ms', 's', 'm', 'h', '');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), unit, (number, written) => {
        const ms = number * unitMs[written === '' ? 's' : (written as keyof typeof unitMs)];
        expect(parseDuration('--timeout', `${number}${written}`)).toBe(ms);
      }),
    );
  });

  test('returns a number of at least 0 or null for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
        const ms = readDuration(text);
        expect(ms === null || (Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [1250, '1.3 s'],
    [9960, '10 s'],
    [59_600, '1 min'],
    [125_000, '2 min 5 s'],
    [3_599_600, '1 h'],
    [3_780_000, '1 h 3 min'],
    [90_000_000, '25 h'],
  ])('writes %d ms as %j', (ms, text) => expect(formatDuration(ms)).toBe(text));

  /** The inverse of formatDuration. */
  function asMs(text: string): number {
    const units: Record<string, number> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };
    const parts = [...text.matchAll(/([\d.]+) (ms|s|min|h)/g)];
    return parts.reduce(
      (sum, [, number, unit]) => sum + Number(number) * (units[unit ?? ''] ?? Number.NaN),
      0,
    );
  }

  test('is exact to the smallest unit it shows, and no unit overflows', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (ms) => {
        const text = formatDuration(ms);
        const smallest = ms < 1000 ? 1 : ms < 3_599_500 ? 1000 : 60_500;
        expect(Math.abs(asMs(text) - ms)).toBeLessThan(smallest);
        expect(text).not.toMatch(/\b(60|[6-9]\d|\d{3,}) (s|min)\b|\d{4,} ms/);
      }),
    );
  });
});
