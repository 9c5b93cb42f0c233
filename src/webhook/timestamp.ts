const pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The Gregorian calendar repeats after 400 years; shifting by them avoids the years 0 to 99, which `Date.UTC` misreads. */
const cycle = { years: 400, milliseconds: 146_097 * 86_400_000 };

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 48;
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the milliseconds of the fraction, which ends before `end`; finer digits are cut off. */
function fraction(text: string, end: number): number {
  let milliseconds = 0;
  for (let at = 20; at < 23; at += 1) milliseconds = milliseconds * 10 + (at < end ? digit(text, at) : 0);
  return milliseconds;
}

/** Returns the offset in minutes of the zone `+hh:mm` at the index `at`, or null. */
function offsetMinutes(text: string, at: number): number | null {
  const hours = twoDigits(text, at + 1);
  const minutes = twoDigits(text, at + 4);
  if (hours > 23 || minutes > 59) return null;
  return (text[at] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/**
 * Returns the milliseconds since the epoch of an RFC 3339 date-time with a zone, or null. The whole text must match: the
 * signature covers `<timestamp>.<body>`, so with a laxer format an attacker could move the boundary between the two
 * without changing the MAC.
 */
export function parseTimestamp(text: string): number | null {
  // The pattern fixes the position of every digit.
  if (!pattern.test(text)) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  // RFC 3339 allows the leap second 60; Date.UTC carries it over into the next minute.
  if (hour > 23 || minute > 59 || second > 60) return null;
  const utc = (text.charCodeAt(text.length - 1) | 32) === 122;
  const zoneAt = text.length - (utc ? 1 : 6);
  const offset = utc ? 0 : offsetMinutes(text, zoneAt);
  if (offset === null) return null;
  const milliseconds = fraction(text, zoneAt);
  const at = Date.UTC(year + cycle.years, month - 1, day, hour, minute - offset, second, milliseconds);
  return at - cycle.milliseconds;
}
