import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactSecrets } from '../src/redact.ts';
import { escapeJson, excerpt, sanitize, sanitizeProse } from '../src/sanitize.ts';

const controls = /[\u0000-\u001f\u007f-\u009f]/;
const hidden = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const commands = /##vso\[|##\[|##teamcity\[/i;

/** Dangerous sequences and parts of them. */
const pieces = fc.constantFrom(
  ...['##', '#', 'vso[', 'VSO[', '[', 'teamcity[', 'TeamCity[', '::', ':', 'error', ' ', '\u00a0', '\u3000'],
  ...['\n', '\r', '\t', '\0', '\x1b', '\x1b[31m', '\x1b]0;title\x07', '\x7f', '\u0085', '\u009b'],
  ...[
    'א',
    'ب',
    '₪',
    '\u200f',
    '\u200b',
    '\u200e',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\u061c',
    '\u2060',
  ],
);
const nasty = fc.oneof(
  fc
    .array(fc.oneof({ weight: 4, arbitrary: pieces }, fc.string({ unit: 'binary', maxLength: 3 })))
    .map((all) => all.join('')),
  fc.string({ unit: 'binary' }),
);

describe('sanitize', () => {
  test.each([
    ['größe 日本語 😀 a::b C# #1 ## ok', 'größe 日本語 😀 a::b C# #1 ## ok'],
    ['a\nb\r\nc\td', 'a\\nb\\r\\nc\\td'],
    ['\x1b[31mred\x1b[0m', '\\u001b[31mred\\u001b[0m'],
    ['\u009b31m', '\\u009b31m'],
    ['user\u202etxt.exe', 'user\\u202etxt.exe'],
    ['::error::owned', ': :error::owned'],
    ['see ::error::', 'see ::error::'],
    ['##vso[task.setvariable]x', '# #vso[task.setvariable]x'],
    ['in mid-line ##vso[task.complete]', 'in mid-line # #vso[task.complete]'],
    ['####vso[x]', '### #vso[x]'],
    ['##[error]x', '# #[error]x'],
    ['##teamcity[buildStop]', '# #teamcity[buildStop]'],
    ['##vso [x]', '##vso [x]'],
  ])('turns %j into %j', (text, shown) => expect(sanitize(text)).toBe(shown));

  test.each(['\u00a0', '\u1680', '\u2003', '\u202f', '\u3000', ' \u00a0 '])(
    'breaks up :: after %j, too, which a log reader trims',
    (space) => expect(sanitize(`${space}::error::owned`).trim()).not.toMatch(/^::/),
  );

  test('returns one line that cannot control a terminal or a CI system', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const shown = sanitize(text);
        expect(shown).not.toMatch(controls);
        expect(shown).not.toMatch(hidden);
        expect(shown).not.toMatch(commands);
        expect(shown.trimStart()).not.toMatch(/^::/);
      }),
      { numRuns: 1500 },
    );
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        expect(sanitize(sanitize(text))).toBe(sanitize(text));
      }),
      { numRuns: 600 },
    );
  });
});

describe('sanitizeProse', () => {
  test.each([
    ['\u200f1,234.50 \u200f₪', '\u200f1,234.50 \u200f₪'],
    ['\u200eשלום\u200f!', '\u200eשלום\u200f!'],
    ['run\u200e_1', 'run\\u200e_1'],
    ['\u200f€1.00', '\\u200f€1.00'],
    ['שלום\u202e\u2066\u2069\u200b', 'שלום\\u202e\\u2066\\u2069\\u200b'],
    ['\u200f::error::שלום', '\u200f: :error::שלום'],
  ])('turns %j into %j', (text, shown) => expect(sanitizeProse(text)).toBe(shown));

  test('differs from sanitize only in the marks of right-to-left text, and in :: after them', () => {
    const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
    fc.assert(
      fc.property(nasty, (text) => {
        const shown = sanitizeProse(text);
        const joined = (one: string) => one.replaceAll(': :', '::');
        expect(joined(shown.replace(/[\u061c\u200e\u200f]/g, escaped))).toBe(joined(sanitize(text)));
        expect(shown.replace(/[\u061c\u200e\u200f]/g, '').trimStart()).not.toMatch(/^::/);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('excerpt', () => {
  test.each([
    ['short', 10, 'short'],
    ['eleven char', 10, 'eleven ch…'],
  ])('shortens %j to %i characters: %j', (text, limit, shown) => expect(excerpt(text, limit)).toBe(shown));

  test('never exceeds its limit and is sanitized', () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 300 }), (text, limit) => {
        const shown = excerpt(text, limit);
        expect(shown.length).toBeLessThanOrEqual(limit);
        expect(shown).not.toMatch(controls);
        expect(shown).not.toMatch(commands);
      }),
    );
  });
});

describe('escapeJson', () => {
  test('escapes # and hidden characters', () => {
    expect(escapeJson(JSON.stringify({ '#k': '##vso[x] \u202e \u009b' }))).toBe(
      '{"\\u0023k":"\\u0023\\u0023vso[x] \\u202e \\u009b"}',
    );
  });

  test.each(['\\#', '\\\\#', '#\\', '"#"', '\u2028#'])('does not change the value of %j', (text) => {
    expect(JSON.parse(escapeJson(JSON.stringify(text)))).toBe(text);
  });

  test('does not change any value and leaves nothing that could control a terminal or a CI system', () => {
    const value = fc.oneof(fc.jsonValue(), nasty, fc.dictionary(nasty, nasty), fc.array(nasty));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        const escaped = escapeJson(text);
        expect(JSON.parse(escaped)).toEqual(JSON.parse(text));
        expect(escaped).not.toContain('#');
        expect(escaped.replaceAll('\n', '')).not.toMatch(controls);
        expect(escaped).not.toMatch(hidden);
        for (const line of escaped.split('\n')) expect(line.trimStart()).not.toMatch(/^::/);
      }),
      { numRuns: 400 },
    );
  });
});

describe('redactSecrets', () => {
  test.each<[string, string[], string]>([
    ['key=s3cret.', ['s3cret'], 'key=***.'],
    ['s3crets3cret', ['s3cret'], '******'],
    ['long-secret and long', ['long', 'long-secret'], '*** and ***'],
    ['a.c+ abc', ['a.c+'], '*** abc'],
    ['$& and $1', ['$& a'], '***nd $1'],
    ['nothing here', ['s3cret'], 'nothing here'],
    ['nothing here', [], 'nothing here'],
  ])('turns %j with the secrets %j into %j', (text, secrets, clean) =>
    expect(redactSecrets(text, secrets)).toBe(clean),
  );

  test('removes every secret at any place', () => {
    const secret = fc.string({ minLength: 4, maxLength: 12 }).filter((one) => !one.includes('*'));
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.oneof(fc.nat(), fc.string())),
        (secrets, parts) => {
          const text = parts
            .map((part) => (typeof part === 'number' ? secrets[part % secrets.length] : part))
            .join('');
          const clean = redactSecrets(text, secrets);
          for (const one of secrets) expect(clean).not.toContain(one);
        },
      ),
      { numRuns: 400 },
    );
  });

  test.each(['ab"cd', 'ab\\cd', 'ab#cd', 'ab\ncd', 'ab\u202ecd', '##vso[ab'])(
    'finds the secret %j in JSON and in sanitized text, too',
    (secret) => {
      const json = escapeJson(JSON.stringify({ message: `bad key ${secret}!` }));
      expect(redactSecrets(json, [secret])).toBe('{"message":"bad key ***!"}');
      expect(redactSecrets(JSON.stringify([secret]), [secret])).toBe('["***"]');
      expect(redactSecrets(sanitize(`bad key ${secret}!`), [secret])).toBe('bad key ***!');
    },
  );

  test('keeps JSON valid', () => {
    const secret = fc.string({ unit: 'binary-ascii', minLength: 4 });
    fc.assert(
      fc.property(secret, (one) => {
        fc.pre(!'{"message":"bad key !"}'.includes(one) && !/["{}:\\,[\]]/.test(one));
        const text = redactSecrets(escapeJson(JSON.stringify({ message: `bad key ${one}!` })), [one]);
        // Whitespace around a secret says nothing, and may stay.
        expect(JSON.parse(text)).toEqual({ message: expect.stringMatching(/^bad key\s*\*{3}\s*!$/) });
      }),
    );
  });
});
