import { strictText } from './body.ts';
import type { CauseId, Step } from './causes.ts';

/** Deeper than any event; what is deeper is left alone. */
const deepest = 500;

const tokens = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/gs;

const opens = (token: string | undefined) => token === '{' || token === '[';
const closes = (token: string | undefined) => token === '}' || token === ']';

/**
 * JSON as its tokens, or null for what is not JSON. Numbers and strings stay as they were written, and keys that come
 * twice too.
 */
function tokensOf(text: string): readonly string[] | null {
  let found: readonly string[];
  try {
    JSON.parse(text);
    found = text.match(tokens) ?? [];
  } catch {
    // Not JSON, or with more escapes in one string than the pattern has room for.
    return null;
  }
  let depth = 0;
  for (const token of found) {
    if (opens(token)) depth += 1;
    if (closes(token)) depth -= 1;
    if (depth > deepest) return null;
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

/** Without an indent it is all in one line. */
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

/** The same value with its keys in the order of their characters, at every depth. */
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

/** What strings alone hold in a JSON text: escapes, and the characters that some serialisers escape. */
const marks = /\\(?:u[0-9A-Fa-f]{4}|.)|[\u007f-\uffff/<>&]/gs;

type Respell = (json: string) => string;

const respell =
  (change: (mark: string) => string): Respell =>
  (json) =>
    json.replace(marks, change);

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** The character that an escape stands for, or nothing where it is no escape. */
const unescaped = (mark: string) =>
  mark.length === 6 ? String.fromCharCode(Number.parseInt(mark.slice(2), 16)) : '';
const isBeyondAscii = (mark: string) => mark.length === 1 && mark >= '\u007f';
const isHtml = (mark: string) => mark === '<' || mark === '>' || mark === '&';

const toAscii = respell((mark) => (isBeyondAscii(mark) ? escaped(mark) : mark));
const toUnicode = respell((mark) => (isBeyondAscii(unescaped(mark)) ? unescaped(mark) : mark));
const escapeSlashes = respell((mark) => (mark === '/' ? '\\/' : mark));
const plainSlashes = respell((mark) => (mark === '\\/' ? '/' : mark));

/** Other ways to write the same strings. */
const spellings: readonly (readonly [CauseId, Respell])[] = [
  ['json_unescaped', toAscii],
  [
    'json_unescaped',
    respell((mark) => (isBeyondAscii(mark) ? `\\u${escaped(mark).slice(2).toUpperCase()}` : mark)),
  ],
  ['json_escaped', toUnicode],
  ['json_slashes', escapeSlashes],
  ['json_slashes', plainSlashes],
  ['json_slashes', (json) => escapeSlashes(toAscii(json))],
  ['json_slashes', (json) => plainSlashes(toUnicode(json))],
  ['json_html', respell((mark) => (isHtml(mark) ? escaped(mark) : mark))],
  ['json_html', respell((mark) => (isHtml(unescaped(mark)) ? unescaped(mark) : mark))],
];

/** A JSON text that is laid out, with its strings as they are and in every other spelling. */
function* spelled(json: string, by: readonly CauseId[], mostCauses: number): Generator<Step<string>> {
  if (by.length > 0) yield { value: json, by };
  if (by.length >= mostCauses) return;
  for (const [id, spell] of spellings) {
    const value = spell(json);
    if (value !== json) yield { value, by: [...by, id] };
  }
}

function* rewritings(bare: string, mostCauses: number): Generator<Step<string>> {
  const json = tokensOf(bare);
  // A text without brackets has no layout.
  if (json === null || json.length < 2) return;
  const own = layouts.find(([, layout]) => write(json, layout) === bare)?.[0];
  if (own === undefined) yield* spelled(bare, [], mostCauses);
  for (const order of [[], ['json_sorted']] as const) {
    const ordered = order.length === 0 ? json : sortKeys(json);
    for (const [id, layout] of layouts) {
      const by = [...(id === own ? [] : [id]), ...order];
      if (by.length <= mostCauses) yield* spelled(write(ordered, layout), by, mostCauses);
    }
  }
}

/** Up to three causes, a layout, an order and a spelling: they come together, since one serialiser makes them all. */
export function* jsonSteps(body: Uint8Array, mostCauses = 3): Generator<Step<Uint8Array>> {
  const text = strictText(body) ?? '';
  const bare = text.replace(/^\ufeff/, '').trim();
  // What stands around it is another mistake, or none.
  const start = text.indexOf(bare);
  const [lead, tail] = [text.slice(0, start), text.slice(start + bare.length)];
  for (const { value, by } of rewritings(bare, mostCauses)) {
    yield { value: Buffer.from(`${lead}${value}${tail}`), by };
  }
}
