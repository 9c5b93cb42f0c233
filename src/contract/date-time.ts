/** The extended and the basic form of ISO 8601: year, month, day, hour, minute, second, fraction, zone. */
const patterns = [
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?([Zz]|[+-]\d\d(?::?\d\d)?)?$/,
  /^(\d{4})(\d\d)(\d\d)[Tt ](\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?([Zz]|[+-]\d\d(?::?\d\d)?)?$/,
];

interface DateTime {
  /** The local time in milliseconds since the epoch, as if its zone were UTC. */
  localMs: number;
  /** Second 60; `localMs` is then the following second. */
  leapSecond: boolean;
  /** The digits of the fraction of a second. */
  fraction: string;
  /** Null without a zone. */
  zone: Zone | null;
}

interface Zone {
  sign: string;
  hours: number;
  minutes: number;
}

function parseZone(text: string | undefined): Zone | null {
  if (text === undefined) return null;
  const [, sign = 'Z', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  return { sign, hours: Number(hours), minutes: Number(minutes) };
}

function offsetMs({ sign, hours, minutes }: Zone): number {
  return (hours * 60 + minutes) * (sign === '-' ? -60_000 : 60_000);
}

function parse(text: string): DateTime | null {
  const match = patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null);
  if (match === undefined) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part = '0') => Number(part));
  const fraction = match[7] ?? '';
  const endOfDay = hour === 24 && minute === 0 && second === 0 && Number(fraction) === 0;
  if ((hour > 23 && !endOfDay) || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // 30 February would be the first or second of March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const localMs = date.setUTCHours(hour, minute, second, milliseconds);
  return { localMs, leapSecond: second === 60, fraction, zone: parseZone(match[8]) };
}

/**
 * Returns a date and time in milliseconds since the epoch, or null. Accepts what RFC 3339 and ISO 8601 writers send: seconds may
 * be missing, a leap second counts as the second after it, and a time without a zone is UTC.
 */
export function dateTimeMs(text: string): number | null {
  const parsed = parse(text);
  if (parsed === null) return null;
  return parsed.localMs - (parsed.zone === null ? 0 : offsetMs(parsed.zone));
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/**
 * Returns a date and time as RFC 3339 writes it, in its own zone and with all digits of its fraction. Returns null for a text
 * that could mean several times, such as one without a zone, or none.
 */
export function toRfc3339(text: string): string | null {
  const parsed = parse(text);
  if (parsed === null || parsed.zone === null) return null;
  const { localMs, leapSecond, fraction, zone } = parsed;
  if (zone.hours > 23 || zone.minutes > 59) return null;
  // Leap seconds are inserted at the end of a day in UTC.
  const utc = new Date(localMs - offsetMs(zone));
  if (leapSecond && utc.getUTCHours() + utc.getUTCMinutes() > 0) return null;
  const seconds = new Date(localMs - (leapSecond ? 1000 : 0)).toISOString().slice(0, 19);
  // A year beyond 9999 has a sign and six digits.
  if (!/^\d{4}-/.test(seconds)) return null;
  const written = leapSecond ? seconds.replace(/59$/, '60') : seconds;
  const { sign, hours, minutes } = zone;
  const offset = sign === 'Z' ? 'Z' : `${sign}${twoDigits(hours)}:${twoDigits(minutes)}`;
  return `${written}${fraction === '' ? '' : `.${fraction}`}${offset}`;
}
