import { strictText } from './body.ts';
import type { CauseId, Step } from './causes.ts';

/** The limit for nesting; no event is that deep. */
const maxDepth = 500;

const tokens = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/gs;

const opens = (token: string | undefined) => token === '{' || token === '[';
const closes = (token: string | undefined) => token === '}' || token === ']';

/**
 * Splits JSON into tokens, or returns null if it is not JSON. Keeps the spelling of numbers and strings, and duplicate
 * keys.
 */
function tokensOf(text: string): readonly string[] | null {
  let found: readonly string[];
  try {
    JSON.parse(text);
    found = text.match(tokens) ?? [];
  } catch {
    // Not JSON, or a string with more escapes than the regex engine can match.
    return null;
  }
  let depth = 0;
  for (const token of found) {
    if (opens(token)) depth += 1;
    if (closes(token)) depth -= 1;
    if (depth > maxDepth) return null;
  }
  return found;
}

type Layout = readonly [comma: string, colon: string, indent: string];

const layouts: readonly (readonly [CauseId, Layout])[] = [
  ['json_compact', [',', ':', '']],
  ['json_spaced', [', ', ': ', '']],
  ['json_indented_2', [',', ': ', '  ']],
  ['json_indented_4', [',', ': ', '    ']],
  ['json_indented_tab', [',', ': ', '\t']],
];

/** Serialises tokens; without an indent, in one line. */
function write(json: readonly string[], [comma, colon, indent]: Layout): string {
  let depth = 0;
  const line = () => (indent === '' ? '' : `\n${indent.repeat(depth)}`);
  const written = json.map((token, at) => {
    if (token === ',') return comma + line();
    if (token === ':') return colon;
    if (opens(token)) {
      depth += 1;
      return closes(json[at + 1]) ? token : token + line();
    }
    if (!closes(token)) return token;
    depth -= 1;
    return opens(json[at - 1]) ? token : line() + token;
  });
  return written.join('');
}

/** Sorts the keys at every depth. */
function sortKeys(json: readonly string[]): readonly string[] {
  let at = 0;
  const take = () => json[at++] ?? '';
  function members<Member>(member: () => Member): Member[] {
    const all: Member[] = [];
    while (!closes(json[at])) {
      all.push(member());
      if (json[at] === ',') at += 1;
    }
    at += 1;
    return all;
  }
  function entry() {
    const key = take();
    const name: string = JSON.parse(key);
    return { name, text: `${key}${take()}${value()}` };
  }
  function value(): string {
    const token = take();
    if (token === '[') return `[${members(value).join(',')}]`;
    if (token !== '{') return token;
    const entries = members(entry).toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
    return `{${entries.map(({ text }) => text).join(',')}}`;
  }
  return value().match(tokens) ?? [];
}

/** Matches only inside strings: escapes, and the characters that some serialisers escape. */
const escapable = /\\(?:u[0-9A-Fa-f]{4}|.)|[\u007f-\uffff/<>&]/gs;

type Respell = (json: string) => string;

const respell =
  (change: (match: string) => string): Respell =>
  (json) =>
    json.replace(escapable, change);

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Returns the character that a `\u` escape stands for, or an empty string. */
const unescaped = (match: string) =>
  match.length === 6 ? String.fromCharCode(Number.parseInt(match.slice(2), 16)) : '';
const isBeyondAscii = (match: string) => match.length === 1 && match >= '\u007f';
const isHtml = (match: string) => match === '<' || match === '>' || match === '&';

const toAscii = respell((match) => (isBeyondAscii(match) ? escaped(match) : match));
const toUnicode = respell((match) => (isBeyondAscii(unescaped(match)) ? unescaped(match) : match));
const escapeSlashes = respell((match) => (match === '/' ? '\\/' : match));
const plainSlashes = respell((match) => (match === '\\/' ? '/' : match));

/** Other spellings of the same strings. */
const spellings: readonly (readonly [CauseId, Respell])[] = [
  ['json_unescaped', toAscii],
  [
    'json_unescaped',
    respell((match) => (isBeyondAscii(match) ? `\\u${escaped(match).slice(2).toUpperCase()}` : match)),
  ],
  ['json_escaped', toUnicode],
  ['json_slashes', escapeSlashes],
  ['json_slashes', plainSlashes],
  ['json_slashes', (json) => escapeSlashes(toAscii(json))],
  ['json_slashes', (json) => plainSlashes(toUnicode(json))],
  ['json_html', respell((match) => (isHtml(match) ? escaped(match) : match))],
  ['json_html', respell((match) => (isHtml(unescaped(match)) ? unescaped(match) : match))],
];

/** Yields a JSON text with its strings unchanged, and in every other spelling. */
function* withSpellings(json: string, by: readonly CauseId[], maxCauses: number): Generator<Step<string>> {
  if (by.length > 0) yield { value: json, by };
  if (by.length >= maxCauses) return;
  for (const [id, spell] of spellings) {
    const value = spell(json);
    if (value !== json) yield { value, by: [...by, id] };
  }
}

function* jsonVariants(bare: string, maxCauses: number): Generator<Step<string>> {
  const json = tokensOf(bare);
  // A single token has no layout.
  if (json === null || json.length < 2) return;
  const receivedLayout = layouts.find(([, layout]) => write(json, layout) === bare)?.[0];
  if (receivedLayout === undefined) yield* withSpellings(bare, [], maxCauses);
  for (const order of [[], ['json_sorted']] as const) {
    const ordered = order.length === 0 ? json : sortKeys(json);
    for (const [id, layout] of layouts) {
      const by = [...(id === receivedLayout ? [] : [id]), ...order];
      if (by.length <= maxCauses) yield* withSpellings(write(ordered, layout), by, maxCauses);
    }
  }
}

/** Yields up to three causes at once (layout, order and spelling), since one serialiser can change all of them. */
export function* jsonSteps(body: Uint8Array, maxCauses = 3): Generator<Step<Uint8Array>> {
  const text = strictText(body) ?? '';
  const bare = text.replace(/^\ufeff/, '').trim();
  // White space around the JSON is a separate mistake, or none.
  const start = text.indexOf(bare);
  const [lead, tail] = [text.slice(0, start), text.slice(start + bare.length)];
  for (const { value, by } of jsonVariants(bare, maxCauses)) {
    yield { value: Buffer.from(`${lead}${value}${tail}`), by };
  }
}
