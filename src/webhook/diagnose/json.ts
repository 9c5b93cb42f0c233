import { isTooLarge, type Layout, layOut, tokensOf } from '../../json/tokens.ts';
import { strictText } from './body.ts';
import type { CauseId, Step } from './causes.ts';

const layouts: readonly (readonly [CauseId, Layout])[] = [
  ['json_compact', { comma: ',', colon: ':', indent: '' }],
  ['json_spaced', { comma: ', ', colon: ': ', indent: '' }],
  ['json_indented_2', { comma: ',', colon: ': ', indent: '  ' }],
];

function canParse(text: string): boolean {
  try {
    JSON.parse(text);
    return !isTooLarge(text);
  } catch {
    return false;
  }
}

/** Matches only inside strings: escapes, and the characters that some serialisers escape. */
const escapable = /\\(?:u[0-9A-Fa-f]{4}|.)|[\u007f-\uffff/<>&]/gs;

type Respell = (json: string) => string;

const respell =
  (change: (match: string) => string): Respell =>
  (json) =>
    json.replace(escapable, change);

const escapeOf = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Returns the character that a `\u` escape stands for, or an empty string. */
const unescaped = (match: string) =>
  match.length === 6 ? String.fromCharCode(Number.parseInt(match.slice(2), 16)) : '';
const isBeyondAscii = (match: string) => match.length === 1 && match >= '\u007f';
const isHtmlSyntax = (match: string) => match === '<' || match === '>' || match === '&';

const toAscii = respell((match) => (isBeyondAscii(match) ? escapeOf(match) : match));
const toUnicode = respell((match) => (isBeyondAscii(unescaped(match)) ? unescaped(match) : match));
const escapeSlashes = respell((match) => (match === '/' ? '\\/' : match));
const plainSlashes = respell((match) => (match === '\\/' ? '/' : match));

/** Other spellings of the same strings. */
const spellings: readonly (readonly [CauseId, Respell])[] = [
  ['json_unescaped', toAscii],
  [
    'json_unescaped',
    respell((match) => (isBeyondAscii(match) ? `\\u${escapeOf(match).slice(2).toUpperCase()}` : match)),
  ],
  ['json_escaped', toUnicode],
  ['json_slashes', escapeSlashes],
  ['json_slashes', plainSlashes],
  ['json_slashes', (json) => escapeSlashes(toAscii(json))],
  ['json_slashes', (json) => plainSlashes(toUnicode(json))],
  ['json_html', respell((match) => (isHtmlSyntax(match) ? escapeOf(match) : match))],
  ['json_html', respell((match) => (isHtmlSyntax(unescaped(match)) ? unescaped(match) : match))],
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
  // A single token has no layout.
  if (!/^[[{]/.test(bare) || !canParse(bare)) return;
  const tokens = tokensOf(bare);
  const receivedLayout = layouts.find(([, layout]) => layOut(tokens, layout) === bare)?.[0];
  if (receivedLayout === undefined) yield* withSpellings(bare, [], maxCauses);
  for (const [id, layout] of layouts) {
    yield* withSpellings(layOut(tokens, layout), id === receivedLayout ? [] : [id], maxCauses);
  }
}

/** Yields up to two causes at once (layout and spelling), since one serialiser can change both. */
export function* jsonSteps(body: Uint8Array, maxCauses = 2): Generator<Step<Uint8Array>> {
  const text = strictText(body) ?? '';
  const bare = text.replace(/^\ufeff/, '').trim();
  // White space around the JSON is a separate mistake, or none.
  const start = text.indexOf(bare);
  const [lead, tail] = [text.slice(0, start), text.slice(start + bare.length)];
  for (const { value, by } of jsonVariants(bare, maxCauses)) {
    yield { value: Buffer.from(`${lead}${value}${tail}`), by };
  }
}
