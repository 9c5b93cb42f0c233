import { sanitize } from './sanitize.ts';

/** Replaces the known secrets in a text. */
export type Redact = (text: string) => string;

export const redactNothing: Redact = (text) => text;

const mark = '***';
/** Shorter texts are not redacted: replacing them would garble the output. */
const shortest = 4;
/** From this length on, a secret is also found in any letter case and in base64. */
const long = 8;

type Encode = (text: string) => string;

const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const percent: Encode = (text) => encodeURIComponent(Buffer.from(text).toString());
const form: Encode = (text) => new URLSearchParams({ q: text }).toString().slice(2);

/** How writers of JSON differ: characters that they write as `\\u0026` although they need not. */
const jsonForms: readonly Encode[] = [
  /(?!)/g,
  /[\u007f-\uffff]/g,
  /[<>&]/g,
  /[#\u007f-\uffff]/g,
  /[<>&'+`\u007f-\uffff]/g,
]
  .map(
    (pattern): Encode =>
      (text) =>
        json(text).replace(pattern, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
  .flatMap((encode): Encode[] => [
    encode,
    (text) => encode(text).replaceAll('/', '\\/'),
    (text) => encode(text).replaceAll('\\"', '\\u0022'),
  ]);

/** As this Node writes a path: newer versions escape more characters. */
function pathname(text: string): string {
  const url = new URL('http://h/');
  url.pathname = `/${text}`;
  return url.pathname.slice(1);
}

/** Some writers of URLs leave the marks of a URL, others escape even `!'()*`. */
const percentForms: readonly Encode[] = [
  percent,
  (text) => encodeURI(Buffer.from(text).toString()),
  // As a URL parser writes a path and a query, which leave some characters that the others escape.
  (text) => encodeURI(Buffer.from(text).toString()).replace(/%(?:5B|5D|5E|7C)/g, decodeURIComponent),
  pathname,
  (text) => new URL(`http://h/?${text.replaceAll('#', '%23')}`).search.slice(1),
  (text) => percent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`),
  form,
];

/** How writers of HTML spell the quotes and the plus. */
const htmlForms: readonly Encode[] = [
  { '"': '"', "'": "'" },
  { '"': '&quot;', "'": "'" },
  { '"': '&quot;', "'": '&#39;' },
  { '"': '&quot;', "'": '&#039;' },
  { '"': '&quot;', "'": '&#x27;' },
  { '"': '&quot;', "'": '&apos;' },
  { '"': '&#34;', "'": '&#39;' },
  { '"': '&#34;', "'": '&#39;', '+': '&#43;' },
].map((quotes): Encode => {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', ...quotes };
  return (text) => text.replace(/[&<>"'+]/g, (char) => entities[char] ?? char);
});

const lowerHex: Encode = (text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

const encodings: readonly Encode[] = [
  (text: string) => text,
  ...htmlForms,
  ...jsonForms.flatMap((encode): Encode[] => [encode, (text) => json(encode(text))]),
  ...percentForms
    .flatMap((encode): Encode[] => [encode, (text) => percent(encode(text))])
    .flatMap((encode): Encode[] => [encode, (text) => lowerHex(encode(text))]),
  // As messages show them: sanitised, and in one line.
].flatMap((encode): Encode[] => [
  encode,
  (text) => sanitize(encode(text)),
  (text) => encode(text).replace(/\s+/g, ' '),
]);

/** Returns the base64 of the bytes after 0, 1 or 2 others, without the digits that depend on neighbouring bytes. */
export function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

/** Returns the base64 and base64url of a secret, also as URLs and JSON spell it. */
function base64Spellings(bytes: Buffer): string[] {
  return base64Forms(bytes).flatMap((digits) => [
    digits,
    percent(digits),
    percent(percent(digits)),
    digits.replaceAll('/', '\\/'),
    digits.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** Returns a secret in every spelling that is found; texts that need no escape have few. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const isLong = secret.length >= long;
  // Messages show text in one line, and headers show UTF-8 as Latin-1.
  const trimmed = secret.trim();
  const texts = [
    secret,
    trimmed,
    secret.replaceAll('\r\n', '\n'),
    secret.replace(/\r?\n/g, '\r\n'),
    trimmed.replace(/\s+/g, ' '),
  ];
  texts.push(bytes.toString('latin1'));
  if (isLong) {
    // A secret may be base64 itself. Percent-encoding depends on the case of letters outside ASCII.
    texts.push(
      secret.replaceAll('+', '-').replaceAll('/', '_'),
      secret.replaceAll('-', '+').replaceAll('_', '/'),
    );
    if (/[^\0-\x7f]/.test(secret)) texts.push(secret.toUpperCase(), secret.toLowerCase());
  }
  return [...new Set(texts)]
    .flatMap((text) => (/^[\w.~-]*$/.test(text) ? [text] : encodings.map((encode) => encode(text))))
    .concat(isLong ? base64Spellings(bytes) : [])
    .filter(({ length }) => length >= shortest);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** An ellipsis, as text and in the encodings. */
const ellipsis = /…|\.{3}|%(?:25)?e2%(?:25)?80%(?:25)?a6|\\{1,2}u2026|&(?:hellip|#8230|#x2026);/iy;

/** Whether a text was cut here, after so many characters of a secret. */
function isCut(text: string, at: number, count: number): boolean {
  ellipsis.lastIndex = at;
  return (count >= long && at === text.length) || (count >= shortest && ellipsis.test(text));
}

/** Returns the index after the spelling, or after the part of it before a cut; -1 if it does not match. */
function endOf(spelling: string, text: string, start: number): number {
  let count = 0;
  while (count < spelling.length && text.charCodeAt(start + count) === spelling.charCodeAt(count)) count += 1;
  const end = start + count;
  return count === spelling.length || isCut(text, end, count) ? end : -1;
}

/** Returns a text in lower case, of the same length, each letter by itself: `Σ` has another form at the end of a word. */
const lower: Encode = (text) =>
  text.replace(/[A-Z]+|[\u0080-\uffff]/g, (part) => part.toLowerCase().slice(0, part.length));

/** Returns a function that finds the spellings in a text. @param anyCase in any letter case */
function finder(spellings: readonly string[], anyCase: boolean): (text: string) => Span[] {
  const fold: Encode = anyCase ? lower : (text) => text;
  const all = new Set([...new Set(spellings)].map(fold));
  const byHead = new Map<string, string[]>();
  for (const spelling of all) {
    const head = spelling.slice(0, shortest);
    byHead.set(head, [...(byHead.get(head) ?? []), spelling]);
  }
  const heads = [...byHead.keys()].map((head) => head.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  if (heads.length === 0) return () => [];
  // A lookahead finds heads that overlap, too.
  const pattern = new RegExp(`(?=(${heads.join('|')}))`, 'g');
  return (text) => {
    const folded = fold(text);
    return [...folded.matchAll(pattern)].map(({ index: start, 1: head = '' }) => {
      const ends = byHead.get(head)?.map((spelling) => endOf(spelling, folded, start)) ?? [];
      return { start, end: Math.max(...ends) };
    });
  };
}

/**
 * Returns a function that replaces secrets of at least 4 characters in a text: as written, in one line, escaped for JSON or
 * URLs once or twice, for forms or for HTML. Secrets of at least 8 characters are also found in any letter case and in
 * base64, and their beginning at the end of the text or before an ellipsis.
 */
export function redactor(secrets: readonly string[]): Redact {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortest && /\S/.test(secret));
  if (known.length === 0) return redactNothing;
  const [longer, shorter] = [true, false].map((isLong) =>
    known.filter(({ length }) => length >= long === isLong).flatMap(spellingsOf),
  );
  const finders = [finder(longer ?? [], true), finder(shorter ?? [], false)];
  return (text) => {
    const spans = finders.flatMap((find) => find(text)).filter(({ end }) => end >= 0);
    let [redacted, copiedTo] = ['', 0];
    for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
      if (start >= copiedTo) redacted += text.slice(copiedTo, start) + mark;
      copiedTo = Math.max(copiedTo, end);
    }
    return copiedTo === 0 ? text : redacted + text.slice(copiedTo);
  };
}

export function redactSecrets(text: string, secrets: readonly string[]): string {
  return redactor(secrets)(text);
}

/** Returns what may be secret in the value of a header: all of it, without its scheme, and each longer part. */
export function headerSecrets(value: string): string[] {
  const parts = value.split(/[\s,;=]+/).filter((part) => part.length >= 8);
  return [value, value.replace(/^\S+ /, ''), ...parts];
}
