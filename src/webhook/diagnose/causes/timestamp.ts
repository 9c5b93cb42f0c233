import type { Row } from './row.ts';

const verbatim = 'pass the timestamp on exactly as it came, as text: never through a date';

/** The timestamp changed on its way, or another form of it was signed. */
export const timestampCauses: readonly Row[] = [
  {
    id: 'timestamp_fraction',
    sentence: 'the fraction of the timestamp has other digits than the one that was signed',
    remedy: verbatim,
    on: 'fraction',
  },
  {
    id: 'timestamp_zone',
    sentence: 'the zone of the timestamp is spelled otherwise than the one that was signed',
    remedy: verbatim,
    on: 'zone',
  },
  {
    id: 'timestamp_separator',
    sentence: 'signed was the timestamp with another letter between date and time, or with a space there',
    remedy: verbatim,
    on: 'timestamp',
    undo: (text) => ['T', ' ', 't'].map((letter) => text.replace(/^(\d{4}-\d{2}-\d{2})[Tt ]/, `$1${letter}`)),
  },
  {
    id: 'timestamp_unix',
    sentence: 'signed was the time as a Unix number',
    remedy: verbatim,
    on: 'timestamp',
    undo: (_text, ms) =>
      ms === null ? [] : [String(Math.floor(ms / 1000)), String(ms), (ms / 1000).toFixed(3)],
  },
  {
    id: 'timestamp_http_date',
    sentence: 'signed was the time as an HTTP date',
    remedy: verbatim,
    on: 'timestamp',
    undo: (_text, ms) => (ms === null ? [] : [new Date(ms).toUTCString()]),
  },
  {
    id: 'timestamp_white_space',
    sentence: 'white space or quotes around the timestamp were signed with it, or were added to it',
    remedy: verbatim,
    on: 'timestamp',
    undo: (text) => {
      const bare = text.replace(/^[\s"']+|(?<![\s"'])[\s"']+$/g, '');
      return [bare, `"${bare}"`, `${bare}\n`, `${bare} `, ` ${bare}`];
    },
  },
  {
    id: 'timestamp_milliseconds',
    sentence: 'the milliseconds of the timestamp were lost',
    remedy: verbatim,
    on: 'lost',
  },
];
