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

const noSpace = 'give the bare value, without white space';

/** A character's name, and what to do about it. */
const characters: Readonly<Record<string, readonly [string, string]>> = {
  '\n': ['a line break', "give the bare value; echo ends its output with a line break, printf '%s' does not"],
  '\r': ['a carriage return', 'give the bare value; lines that end in CRLF leave a carriage return behind'],
  '\t': ['a tab', noSpace],
  ' ': ['a space', noSpace],
  '\u00a0': ['a no-break space', noSpace],
  '\ufeff': [
    'a byte order mark',
    'leave out the byte order mark, which some editors put at the start of a file',
  ],
};

/** What keeps a value out of a header, and what to do about it. */
export interface Unsendable {
  /** The first such character, and where it is: `a line break as its last character`. */
  readonly problem: string;
  readonly hint: string;
}

/** Returns what keeps a credential out of a header; null if nothing does. */
export function unsendable(kind: CredentialKind, value: string, names: HintNames): Unsendable | null {
  const found = /[^\x21-\x7e]/u.exec(value);
  if (found === null) return null;
  const [character] = found;
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const [name, remedy] = characters[character] ?? [
    `the character U+${code}`,
    'give the bare value; copy it again from where the service shows it',
  ];
  const isLast = found.index + character.length === value.length;
  const place = isLast ? 'its last character' : `character ${found.index + 1}`;
  return {
    problem: `${name} as ${found.index === 0 ? 'its first character' : place}`,
    hint: oddLook(kind, value, names) ?? remedy,
  };
}
