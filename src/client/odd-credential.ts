import type { HintNames } from '../hint-names.ts';

export type CredentialKind = 'API key' | 'bearer token';

/** What people paste where a credential belongs, by its look, and what to do about it. Never with the value in it. */
const looks: readonly (readonly [RegExp, string])[] = [
  [/^bearer\s/i, 'leave out "Bearer", which rungate adds'],
  [/^x-api-key:/i, 'leave out the name of the header, which rungate adds'],
  [/^(["'])[^"']*\1$/, 'leave out the quotes, which are part of the value'],
  [
    /^(?:\$\{|\$\(|\$\w|%\w+%$|\{\{)/,
    'it is a placeholder that nothing replaced; look up how your CI fills in secrets',
  ],
  [/^(?:<[^<>]*>$|your[-_])/i, 'it is the placeholder of an example; put your own there'],
  [/^[A-Z][A-Z0-9_]*=/, 'leave out the name and the =; only the value belongs there'],
  [/^\*+$|[•…]/, 'it is masked; copy the secret itself'],
  [
    /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/,
    'it looks like a path; a variable that ends in _FILE takes the path of a file',
  ],
];

/** A JSON Web Token, which a user session's token is at most services and an API key at none. */
const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
const apiKey = /^[a-z]{2,8}_(live_|test_)?\w{16,}$/i;

/** What a credential looks as if it were, where it is not what it should be; null where nothing can be said. */
export function oddLook(kind: CredentialKind, value: string, names: HintNames): string | null {
  const found = looks.find(([pattern]) => pattern.test(value));
  if (found !== undefined) return found[1];
  if (kind === 'API key')
    return jwt.test(value) ? `what is set there looks like a token: ${names.token} is for it` : null;
  return apiKey.test(value) ? `what is set there looks like an API key: ${names.apiKey} is for it` : null;
}

const characters: Readonly<Record<string, string>> = {
  '\n': 'a line break',
  '\r': 'a carriage return',
  '\t': 'a tab',
  ' ': 'a space',
  '\u00a0': 'a no-break space',
  '\ufeff': 'a byte order mark',
};

/**
 * The first character that a header cannot carry, and where it is: `a line break as its last character`; null if all can be
 * sent.
 */
export function unsendable(value: string): string | null {
  const found = /[^\x21-\x7e]/u.exec(value);
  if (found === null) return null;
  const [character] = found;
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const name = characters[character] ?? `the character U+${code}`;
  if (found.index === 0) return `${name} as its first character`;
  const isLast = found.index + character.length === value.length;
  return `${name} as ${isLast ? 'its last character' : `character ${found.index + 1}`}`;
}
