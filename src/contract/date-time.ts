const pattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?$/;

/** Minutes ahead of UTC by a zone such as `Z`, `+02`, `+0200` or `+02:00`; UTC where there is none. */
function offsetMinutes(zone: string): number {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}

/**
 * Returns the milliseconds since the epoch of a date and time as RFC 3339 and ISO 8601 writers send it, or null: seconds may
 * be missing, a leap second counts as the second after it, and a time without a zone is UTC.
 */
export function dateTimeMs(text: string): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part = '0') => Number(part));
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  if (hour > 23 || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // 30 February would be the first or second of March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return date.setUTCHours(hour, minute - offsetMinutes(match[8] ?? ''), second, milliseconds);
}
