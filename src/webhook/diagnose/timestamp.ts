import { parseTimestamp } from '../timestamp.ts';

/** A timestamp taken apart: the instant, and the digits of its fraction as they were written. */
export interface Instant {
  ms: number;
  fraction: string;
}

/** What a timestamp means, whether or not it is one that is accepted: Unix time and HTTP dates too. */
export function readInstant(text: string): Instant | null {
  const clean = text.trim();
  if (/^\d{9,11}(?:\.\d{1,9})?$/.test(clean)) {
    const [, fraction = ''] = clean.split('.');
    return { ms: Math.floor(Number(clean) * 1000), fraction };
  }
  if (/^\d{12,14}$/.test(clean)) return { ms: Number(clean), fraction: clean.slice(-3) };
  // Without a zone it is taken for UTC, as servers write it.
  const spelled = clean.replace(/^(\S+) (?=\d)/, '$1T').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  const zoned = /(?:[Zz]|[+-]\d{2}:\d{2})$/.test(spelled) ? spelled : `${spelled}Z`;
  const ms = parseTimestamp(zoned) ?? (/^[A-Z][a-z]{2}, /.test(clean) ? Date.parse(clean) : Number.NaN);
  if (Number.isNaN(ms)) return null;
  return { ms, fraction: /\.(\d+)/.exec(clean)?.[1] ?? '' };
}

/** Minutes east of UTC that clocks are set to somewhere. */
const offsets = Array.from({ length: 27 }, (_, index) => (index - 12) * 60).concat([
  -570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765,
]);

function offsetText(minutes: number, colon: string): string {
  const size = Math.abs(minutes);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${colon}${two(size % 60)}`;
}

/** The ways to write the zone, with the minutes by which the clock then differs from UTC. */
export const zones: readonly (readonly [string, number])[] = [
  ['Z', 0],
  ['z', 0],
  ['+00:00', 0],
  ['-00:00', 0],
  ['+0000', 0],
  ['', 0],
  ...offsets
    .filter((minutes) => minutes !== 0)
    .map((minutes) => [offsetText(minutes, ':'), minutes] as const),
];

/** The instant as a date-time: with as many digits of the fraction, and in a zone. */
export function spell(
  { ms, fraction }: Instant,
  digits: number,
  [zone, minutes]: readonly [string, number],
): string {
  const local = new Date(ms + minutes * 60_000);
  if (Number.isNaN(local.getTime())) return '';
  const seconds = local.toISOString().slice(0, -5);
  return `${seconds}${digits === 0 ? '' : `.${fraction.padEnd(digits, '0').slice(0, digits)}`}${zone}`;
}

/** The zone as it is written, at the end of a timestamp. */
export function zoneOf(text: string): string {
  return /(?:[Zz]|[+-]\d{2}:?\d{2})$/.exec(text.trim())?.[0] ?? '';
}
