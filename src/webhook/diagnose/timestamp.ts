import { parseTimestamp } from '../timestamp.ts';
import { type Step, type Undo, undone } from './causes.ts';

/** A parsed timestamp: the instant, and the digits of its fraction. */
interface Instant {
  ms: number;
  fraction: string;
}

/** Parses a timestamp leniently: also Unix time, HTTP dates and times without a zone. */
function readInstant(text: string): Instant | null {
  const clean = text.trim();
  if (/^\d{9,11}(?:\.\d{1,9})?$/.test(clean)) {
    const [, fraction = ''] = clean.split('.');
    return { ms: Math.floor(Number(clean) * 1000), fraction };
  }
  if (/^\d{12,14}$/.test(clean)) return { ms: Number(clean), fraction: clean.slice(-3) };
  // Without a zone, assume UTC.
  const spelled = clean.replace(/^(\S+) (?=\d)/, '$1T').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  const zoned = /(?:[Zz]|[+-]\d{2}:\d{2})$/.test(spelled) ? spelled : `${spelled}Z`;
  const ms = parseTimestamp(zoned) ?? (/^[A-Z][a-z]{2}, /.test(clean) ? Date.parse(clean) : Number.NaN);
  if (Number.isNaN(ms)) return null;
  return { ms, fraction: /\.(\d+)/.exec(clean)?.[1] ?? '' };
}

/** The spellings of UTC, and the offsets in use around the world. */
const zones: readonly string[] = [
  ...['Z', 'z', '+00:00', '-00:00', '+0000', ''],
  ...['-12:00', '-11:00', '-10:00', '-09:00', '-08:00', '-07:00', '-06:00', '-05:00', '-04:00', '-03:00'],
  ...['-02:00', '-01:00', '+01:00', '+02:00', '+03:00', '+04:00', '+05:00', '+06:00', '+07:00', '+08:00'],
  ...['+09:00', '+10:00', '+11:00', '+12:00', '+13:00', '+14:00', '-09:30', '-03:30', '-02:30', '+03:30'],
  ...['+04:30', '+05:30', '+05:45', '+06:30', '+08:45', '+09:30', '+10:30', '+12:45'],
];

/** Returns the zone at the end of a timestamp. */
function zoneOf(text: string): string {
  return /(?:[Zz]|[+-]\d{2}:?\d{2})$/.exec(text.trim())?.[0] ?? '';
}

/** Returns the minutes ahead of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Formats an instant with a number of fraction digits, in a zone. */
function format({ ms, fraction }: Instant, digits: number, zone: string): string {
  const local = new Date(ms + offsetOf(zone) * 60_000);
  if (Number.isNaN(local.getTime())) return '';
  const seconds = local.toISOString().slice(0, -5);
  return `${seconds}${digits === 0 ? '' : `.${fraction.padEnd(digits, '0').slice(0, digits)}`}${zone}`;
}

function* spellings(text: string, instant: Instant): Generator<Step<string>> {
  const received = { digits: instant.fraction.length, zone: zoneOf(text) };
  for (const digits of new Set([received.digits, 3, 0, 6, 9, 1, 2, 4, 5, 7, 8])) {
    for (const zone of zones) {
      const value = format(instant, digits, zone);
      if (digits === received.digits && zone !== received.zone) yield { value, by: ['timestamp_zone'] };
      if (digits !== received.digits && zone === received.zone) yield { value, by: ['timestamp_fraction'] };
      if (digits !== received.digits && zone !== received.zone)
        yield { value, by: ['timestamp_fraction', 'timestamp_zone'] };
    }
  }
}

const undoOf = (instant: Instant | null): Undo<string> => ({
  timestamp_separator: (text) =>
    ['T', ' ', 't'].map((letter) => text.replace(/^(\d{4}-\d{2}-\d{2})[Tt ]/, `$1${letter}`)),
  timestamp_unix: () =>
    instant === null
      ? []
      : [String(Math.floor(instant.ms / 1000)), String(instant.ms), (instant.ms / 1000).toFixed(3)],
  timestamp_http_date: () => (instant === null ? [] : [new Date(instant.ms).toUTCString()]),
  timestamp_white_space: (text) => {
    const bare = text.replace(/^[\s"']+|(?<![\s"'])[\s"']+$/g, '');
    return [bare, `"${bare}"`, `${bare}\n`, `${bare} `, ` ${bare}`];
  },
});

export function* timestampSteps(text: string): Generator<Step<string>> {
  const instant = readInstant(text);
  if (instant !== null) yield* spellings(text, instant);
  yield* undone(undoOf(instant), text);
}

/** Yields every millisecond of the second of a timestamp that has none. */
export function* millisecondSteps(text: string): Generator<Step<string>> {
  const instant = readInstant(text);
  if (instant === null || /[1-9]/.test(instant.fraction)) return;
  for (let ms = 1; ms < 1000; ms += 1) {
    const fraction = String(ms).padStart(3, '0');
    yield { value: format({ ...instant, fraction }, 3, zoneOf(text)), by: ['timestamp_milliseconds'] };
  }
}
