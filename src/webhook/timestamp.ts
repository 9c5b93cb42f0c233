const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

function offsetMinutes(zone: string): number | null {
  if (/^[Zz]$/.test(zone)) return 0;
  const [hours = 99, minutes = 99] = zone.slice(1).split(':').map(Number);
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/**
 * Milliseconds since the epoch of an RFC 3339 date-time with a zone, or null. It must be the whole text: the
 * signature covers `<timestamp>.<body>`, and a timestamp that could end elsewhere would let its end and the
 * beginning of the body change places under one MAC.
 */
export function parseTimestamp(text: string): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offset = offsetMinutes(match[8] ?? '');
  // RFC 3339 knows the leap second 60; Date.UTC carries it over into the next minute.
  if (offset === null || hour > 23 || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute - offset, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  return date.getTime();
}
