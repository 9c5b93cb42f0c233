import { isTooLarge, type Layout, layOut, tokensOf } from '../../json/tokens.ts';
import type { Candidate } from './causes.ts';

const layouts = {
  json_compact: { comma: ',', colon: ':', indent: '' },
  json_spaced: { comma: ', ', colon: ': ', indent: '' },
  json_indented_2: { comma: ',', colon: ': ', indent: '  ' },
} as const satisfies Record<string, Layout>;

type Respell = (json: string) => string;

/** Changes escapes, and the characters that some serialisers escape. They occur only inside strings. */
const respell =
  (change: (match: string) => string): Respell =>
  (json) =>
    json.replace(/\\(?:u[0-9A-Fa-f]{4}|.)|[\u007f-\uffff/<>&]/gs, change);

const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0');
/** Returns the character that a `\u` escape stands for, or an empty string. */
const unescaped = (match: string) =>
  match.length === 6 ? String.fromCharCode(Number.parseInt(match.slice(2), 16)) : '';
const isBeyondAscii = (match: string) => match.length === 1 && match >= '\u007f';
const isHtmlSyntax = (match: string) => match === '<' || match === '>' || match === '&';

const toAscii = respell((match) => (isBeyondAscii(match) ? `\\u${hexOf(match)}` : match));
const toUpperAscii = respell((match) => (isBeyondAscii(match) ? `\\u${hexOf(match).toUpperCase()}` : match));
const toUnicode = respell((match) => (isBeyondAscii(unescaped(match)) ? unescaped(match) : match));
const escapeSlashes = respell((match) => (match === '/' ? '\\/' : match));
const plainSlashes = respell((match) => (match === '\\/' ? '/' : match));
const escapeHtml = respell((match) => (isHtmlSyntax(match) ? `\\u${hexOf(match)}` : match));
const plainHtml = respell((match) => (isHtmlSyntax(unescaped(match)) ? unescaped(match) : match));

/** Other spellings of the same strings. */
const spellings = {
  json_unescaped: [toAscii, toUpperAscii],
  json_escaped: [toUnicode],
  json_slashes: [
    escapeSlashes,
    plainSlashes,
    (json) => escapeSlashes(toAscii(json)),
    (json) => plainSlashes(toUnicode(json)),
  ],
  json_html: [escapeHtml, plainHtml],
} as const satisfies Record<string, readonly Respell[]>;

const spellingRows = Object.entries(spellings) as [keyof typeof spellings, readonly Respell[]][];
const layoutRows = Object.entries(layouts) as [keyof typeof layouts, Layout][];

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || isTooLarge(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Yields JSON that a serialiser may have turned into this text, with the likeliest cause first. */
export function* jsonCandidates(text: string): Generator<Candidate<string>> {
  if (!isJson(text)) return;
  for (const [id, spells] of spellingRows) for (const spell of spells) yield [id, spell(text)];
  const end = text.slice(text.trimEnd().length);
  for (const [id, layout] of layoutRows) {
    const bare = layOut(tokensOf(text), layout);
    for (const json of new Set([bare, bare + end])) {
      // One serialiser may change both, as Python's does.
      for (const variant of [json, toAscii(json), toUnicode(json)]) yield [id, variant];
    }
  }
}
