import * as formats from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateTimeMs, toRfc3339 } from '../src/date-time.ts';

describe('a date and time', () => {
  it.each([
    ['2026-05-01T12:34:56Z', '2026-05-01T12:34:56.000Z'],
    ['2026-05-01T00:00', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01t12:34:56z', '2026-05-01T12:34:56.000Z'],
    ['2026-05-01T12:34:56+02:00', '2026-05-01T10:34:56.000Z'],
    ['2026-05-01T12:34:56-0530', '2026-05-01T18:04:56.000Z'],
    ['2026-05-01T12:34+02', '2026-05-01T10:34:00.000Z'],
    ['2026-05-01T12:34:56.1234567890Z', '2026-05-01T12:34:56.123Z'],
  ])('%s is read as %s', (text, iso) => {
    expect(new Date(dateTimeMs(text) ?? Number.NaN).toISOString()).toBe(iso);
  });

  it.each([
    [''],
    ['2026-05-01'],
    ['2026-02-29T00:00Z'],
    ['2026-13-01T00:00Z'],
    ['2026-05-01T24:00Z'],
    ['2026-05-01T12:60Z'],
    ['2026-05-01T12:34:60Z'],
    ['2026-05-01T12:34:56Z '],
    ['2026-05-01T12:34:56.Z'],
    ['2026-05-01T12:34:56+2'],
  ])('refuses %j', (text) => expect(dateTimeMs(text)).toBeNull());

  it('reads the output of toISOString as the same time', () => {
    const dates = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        expect(dateTimeMs(date.toISOString())).toBe(date.getTime());
      }),
    );
  });
});

/** `date-time` as ajv-formats checks it. */
const isDateTime = (formats.fullFormats['date-time'] as { validate(text: string): boolean }).validate;

describe('a date and time in a request', () => {
  it.each([
    ['2026-05-01T02:00:00+02:00', '2026-05-01T02:00:00+02:00'],
    ['2026-05-01T00:00:00.1234567890Z', '2026-05-01T00:00:00.1234567890Z'],
    ['2026-05-01t00:00:00z', '2026-05-01T00:00:00Z'],
    ['2026-05-01 00:00:00Z', '2026-05-01T00:00:00Z'],
    ['2026-05-01T00:00Z', '2026-05-01T00:00:00Z'],
    ['2026-05-01T00:00:00-0530', '2026-05-01T00:00:00-05:30'],
    ['2026-05-01', '2026-05-01T00:00:00Z'],
  ])('%s is sent as %s', (text, sent) => {
    expect(toRfc3339(text)).toBe(sent);
    expect(isDateTime(sent)).toBe(true);
  });

  it.each([
    ['has no zone', '2026-05-01T00:00:00'],
    ['is a date that does not exist', '2026-02-29'],
    ['has a zone of 25 hours', '2026-05-01T00:00:00+25:00'],
    ['has 60 minutes in its zone', '2026-05-01T00:00:00+01:60'],
    ['is at 24:00', '2026-05-01T24:00:00Z'],
    ['has a fraction of a minute', '2026-05-01T00:00.5Z'],
  ])('is refused if it %s', (_case, text) => expect(toRfc3339(text)).toBeNull());
});
