import { formatDuration } from '../duration.ts';
import type { NameOf } from '../errors.ts';
import { parsedJson } from '../json/text.ts';

export type CredentialKind = 'API key' | 'bearer token';

/** Common mistakes in a credential, by pattern, each with its remedy, which never shows the value. */
const looks: readonly (readonly [RegExp, string])[] = [
  [/^bearer\s/i, 'remove "Bearer": rungate adds it'],
  [/^(["'])[^"']*\1$/, 'remove the quotes, which are part of the value'],
  [
    /^(?:\$\{|\$\(|\$\w|%\w+%$|\{\{)/,
    'it is a placeholder that was never replaced; check how your CI inserts secrets',
  ],
  [/^[A-Z][A-Z0-9_]*=/, 'remove the name and the =, and keep only the value'],
];

/** A JSON Web Token: at most services a bearer token, and never an API key. */
const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
/** Returns when a token expires, in milliseconds since the epoch; null if it is not a JWT or does not say. Verifies nothing. */
export function expiryOf(token: string): number | null {
  if (!jwt.test(token)) return null;
  const claims = parsedJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { exp } = Object(claims) as { exp?: unknown };
  const ms = typeof exp === 'number' ? exp * 1000 : Number.NaN;
  return Number.isNaN(new Date(ms).getTime()) ? null : ms;
}

const dayMs = 86_400_000;

/** Returns when a time was or will be, for people: `3 h ago (2026-01-31T12:00:00Z)`. */
export function whenText(ms: number, now: number): string {
  const days = Math.floor(Math.abs(ms - now) / dayMs);
  const distance = days > 1 ? `${days} days` : formatDuration(Math.abs(ms - now));
  const date = new Date(ms).toISOString().replace('.000Z', 'Z');
  return `${ms < now ? `${distance} ago` : `in ${distance}`} (${date})`;
}

const apiKey = /^[a-z]{2,8}_(live_|test_)?\w{16,}$/i;

/** Returns what is wrong with a credential, judged by its look, or null if nothing is recognised. */
export function mistakeIn(kind: CredentialKind, value: string, nameOf: NameOf): string | null {
  const look = looks.find(([pattern]) => pattern.test(value));
  if (look !== undefined) return look[1];
  if (kind === 'API key')
    return jwt.test(value) ? `the value looks like a token; tokens belong in ${nameOf('token')}` : null;
  return apiKey.test(value) ? `the value looks like an API key; keys belong in ${nameOf('apiKey')}` : null;
}

export interface Unsendable {
  /** The first such character and its place: `whitespace as its last character`. */
  readonly problem: string;
  readonly hint: string;
}

/** Returns the reason why a header cannot contain a credential, or null. */
export function unsendable(kind: CredentialKind, value: string, nameOf: NameOf): Unsendable | null {
  const match = /[^\x21-\x7e]/u.exec(value);
  if (match === null) return null;
  const [character] = match;
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const what = /\s/.test(character) ? 'whitespace' : `the character U+${code}`;
  const isLast = match.index + character.length === value.length;
  return {
    problem: `${what} as ${isLast ? 'its last character' : `character ${match.index + 1}`}`,
    hint:
      mistakeIn(kind, value, nameOf) ?? "give the value alone: echo adds a line break, printf '%s' does not",
  };
}
