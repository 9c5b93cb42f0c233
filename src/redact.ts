import { escapeJson, sanitize } from './sanitize.ts';

/** Replaces the known secrets in a text. */
export type Redact = (text: string) => string;

export const redactNothing: Redact = (text) => text;

const mark = '***';
/** Shorter texts are not redacted: replacing them would garble the output. */
const shortest = 4;
/** From this length on, a secret is also found in any letter case and in base64. */
const long = 8;

/** Returns the base64 of the bytes after 0, 1 or 2 others, without the digits that depend on neighbouring bytes. */
export function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

const asJson = (text: string) => JSON.stringify(text).slice(1, -1);
/** As PHP and Python write JSON: with escaped slashes, and only ASCII. */
const asPhpJson = (text: string) => asJson(text).replaceAll('/', '\\/');
const asAsciiJson = (text: string) =>
  asJson(text).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** Half a surrogate pair has no percent-encoding. */
const asPercent = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
const asStrictPercent = (text: string) =>
  asPercent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
const asForm = (text: string) => new URLSearchParams({ q: text }).toString().slice(2);
const asHtml = (quote: string, apostrophe: string) => (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);
const asNumbers = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Returns the ways in which text carries a secret. Other nested encodings are not looked for. */
function spellingsOf(secret: string): string[] {
  const plain = [
    secret,
    sanitize(secret),
    secret.replace(/\s+/g, ' '),
    Buffer.from(secret).toString('latin1'),
  ];
  const html = [asHtml('&quot;', '&#39;'), asHtml('&#34;', '&#x27;'), asHtml('&quot;', '&apos;'), asNumbers];
  const shown = [...plain, ...html.map((encode) => encode(secret))];
  const json = shown.flatMap((text) => {
    const usual = asJson(text);
    return [usual, escapeJson(usual), asPhpJson(text), asAsciiJson(text)];
  });
  const percent = [asPercent, asStrictPercent, asForm].map((encode) => encode(secret));
  const base64 = secret.length < long ? [] : base64Forms(Buffer.from(secret));
  const all = [
    ...[...shown, ...json, ...json.map(asJson), ...percent, ...percent.map(asPercent)],
    ...[...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))],
  ];
  return [...new Set([...all, ...all.map(sanitize)])].filter(({ length }) => length >= shortest);
}

interface Place {
  start: number;
  end: number;
}

/** Returns a function that finds the spellings in a text, also where they overlap. */
function finder(spellings: readonly string[], flags: string): (text: string) => Place[] {
  if (spellings.length === 0) return () => [];
  const longestFirst = spellings.toSorted((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = new RegExp(`(?=(${escaped.join('|')}))`, flags);
  return (text) =>
    Array.from(text.matchAll(pattern), ({ index, 1: found = '' }) => ({
      start: index,
      end: index + found.length,
    }));
}

const ellipsis = '…';
const lower = (text: string) => text.toLowerCase();

/** Returns the beginnings of spellings of which the rest was cut off: before an ellipsis, or at the end of the text. */
function tornIn(text: string, spellings: readonly string[]): Place[] {
  const places: Place[] = [];
  let end = -1;
  for (const piece of text.split(ellipsis)) {
    end += piece.length + 1;
    const least = end === text.length ? long : shortest;
    for (const spelling of spellings) {
      const tail = lower(piece.slice(-spelling.length));
      const head = spelling.slice(0, least);
      for (let at = tail.indexOf(head); at >= 0; at = tail.indexOf(head, at + 1)) {
        if (!spelling.startsWith(tail.slice(at))) continue;
        places.push({ start: end - tail.length + at, end });
        break;
      }
    }
  }
  return places;
}

/** The beginning of an escape in JSON: cutting it in half would break the text. */
const halfEscape = /(?<!\\)(?:\\\\)*(\\(?:u[\da-f]{0,3})?)$/i;

/**
 * Returns a function that replaces secrets of at least 4 characters in a text: as they are, and as JSON, URLs, forms and HTML
 * carry them. Secrets of at least 8 characters are also found in any letter case and in base64. The beginning of a secret is found before an ellipsis.
 * @example
 * ```ts
 * redactor(['rg_live_0123456789'])('the key rg_live_0123456789 is unknown'); // 'the key *** is unknown'
 * ```
 */
export function redactor(secrets: readonly string[]): Redact {
  const known = [...new Set(secrets)].filter(({ length }) => length >= shortest);
  if (known.length === 0) return redactNothing;
  const spellings = known.flatMap(spellingsOf);
  const longOnes = known.filter(({ length }) => length >= long).flatMap(spellingsOf);
  const finders = [finder(spellings, 'g'), finder(longOnes, 'gi')];
  const heads = [...new Set(spellings.map(lower))];
  return (text) => {
    const places = [...finders.flatMap((find) => find(text)), ...tornIn(text, heads)];
    if (places.length === 0) return text;
    let [redacted, copiedTo] = ['', 0];
    for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
      if (start >= copiedTo) {
        const half = halfEscape.exec(text.slice(Math.max(copiedTo, start - 40), start))?.[1] ?? '';
        redacted += text.slice(copiedTo, start - half.length) + mark;
      }
      copiedTo = Math.max(copiedTo, end);
    }
    return redacted + text.slice(copiedTo);
  };
}

export function redactSecrets(text: string, secrets: readonly string[]): string {
  return redactor(secrets)(text);
}
