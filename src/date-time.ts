/** RFC 3339 with a zone, and at most nine digits of a fraction. */
const strict = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Returns the milliseconds since the epoch of an RFC 3339 date-time with a zone, or null; digits beyond milliseconds are cut off.
 * The whole text must match: the signature of a webhook covers `<timestamp>.<body>`, so with a laxer format an attacker could move
 * the boundary between the two without changing the MAC.
 */
export function parseTimestamp(text: string): number | null {
  const match = strict.exec(text);
  if (match === null) return null;
  const [, , , , , , , fraction = '', sign] = match;
  const numberAt = (group: number) => Number(match[group] ?? 0);
  const [year, month, day] = [numberAt(1), numberAt(2), numberAt(3)];
  const [hour, minute, second] = [numberAt(4), numberAt(5), numberAt(6)];
  const [zoneHours, zoneMinutes] = [numberAt(9), numberAt(10)];
  // RFC 3339 allows the leap second 60, which counts as the first of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || zoneHours > 23 || zoneMinutes > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // JavaScript reads 30 February as a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = (sign === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes);
  return date.setUTCHours(hour, minute - offset, second, Number(fraction.slice(0, 3).padEnd(3, '0')));
}

/** RFC 3339, also as databases and languages write it: with a space for the T, and without seconds, zone or colon in the zone. */
const lenient =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::([0-5]\d)(\.\d+)?)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?$/;

function parse(text: string): { ms: number; rfc3339: string; zoned: boolean } | null {
  const [, day, minute, second = '00', fraction = '', utc, hours, minutes = '00'] = lenient.exec(text) ?? [];
  const time = `${day}T${minute}:${second}`;
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const ms = parseTimestamp(`${time}${fraction.slice(0, 10)}${zone}`);
  return ms === null
    ? null
    : { ms, rfc3339: `${time}${fraction}${zone}`, zoned: (utc ?? hours) !== undefined };
}

/** Returns a date and time in milliseconds since the epoch, or null; a time without a zone is UTC. */
export const dateTimeMs = (text: string): number | null => parse(text)?.ms ?? null;

const dateOnly = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns a date and time as RFC 3339 writes it, in its own zone and with all digits of its fraction, or null. A date alone is its
 * midnight in UTC. A time without a zone could mean several times.
 */
export function toRfc3339(text: string): string | null {
  const parsed = parse(dateOnly.test(text) ? `${text}T00:00Z` : text);
  return parsed?.zoned ? parsed.rfc3339 : null;
}
