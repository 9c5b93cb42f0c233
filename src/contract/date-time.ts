/** RFC 3339, also as databases and languages write it: with a space for the T, and without seconds, zone or colon in the zone. */
const pattern = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(\.\d+)?)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?$/;

interface DateTime {
  /** Milliseconds since the epoch; a time without a zone is UTC. */
  ms: number;
  rfc3339: string;
  zoned: boolean;
}

function parse(text: string): DateTime | null {
  const [, day, minute, second = '00', fraction = '', utc, hours, minutes = '00'] = pattern.exec(text) ?? [];
  if (day === undefined) return null;
  const midnight = Date.parse(`${day}T00:00Z`);
  // JavaScript reads 30 February as a day in March, and 24:00 as the next day.
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  if (!exists || minute?.startsWith('24')) return null;
  const local = `${day}T${minute}:${second}${fraction}`;
  const rfc3339 = `${local}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
  const ms = Date.parse(rfc3339);
  return Number.isNaN(ms) ? null : { ms, rfc3339, zoned: (utc ?? hours) !== undefined };
}

/** Returns a date and time in milliseconds since the epoch, or null. */
export const dateTimeMs = (text: string): number | null => parse(text)?.ms ?? null;

/**
 * Returns a date and time as RFC 3339 writes it, in its own zone and with all digits of its fraction, or null. A text without a
 * zone could mean several times.
 */
export function toRfc3339(text: string): string | null {
  const parsed = parse(text);
  return parsed?.zoned ? parsed.rfc3339 : null;
}
