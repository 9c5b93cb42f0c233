import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor } from '../src/redact.ts';
import { escapeJson, excerpt, sanitize } from '../src/sanitize.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** The ways in which a service or a proxy repeats a secret. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  unchanged: (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'in lower case': (secret) => secret.toLowerCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'percent-encoded in lower case': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  'form-encoded': (secret) => new URLSearchParams({ q: secret }).toString().slice(2),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'in JSON in JSON': (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  "in PHP's JSON": (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
  'in HTML': (secret) => secret.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`),
  'in HTML with names': (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'in base64': base64,
  'in base64 after one byte': (secret) => base64(`:${secret}`),
  'in base64 between others': (secret) => base64(`me:${secret}:u`),
  'in base64url': (secret) => Buffer.from(`a ${secret}`).toString('base64url'),
};

/** Returns the length of the longest common substring, ignoring case. */
function shared(text: string, other: string): number {
  const [a, b] = [text.toLowerCase(), other.toLowerCase()];
  let most = 0;
  for (let at = 0; at < b.length; at += 1)
    while (at + most < b.length && a.includes(b.slice(at, at + most + 1))) most += 1;
  return most;
}

const secrets = fc.string({
  unit: fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHIJ23456789_-+/%&<"\\é\u202e'),
  minLength: 8,
  maxLength: 60,
});
/** Characters that do not occur in the secrets. */
const padding = fc.string({ unit: fc.constantFrom(' ', '.', '!', '(', 'ł'), maxLength: 300 });

describe.each(Object.entries(spellings))('a secret %s', (_, spell) => {
  test('is redacted in a text', () => {
    fc.assert(
      fc.property(secrets, padding, padding, (secret, before, after) => {
        const shown = redactor([secret])(`${before}${spell(secret)}${after}`);
        expect(shared(shown, spell(secret))).toBeLessThan(8);
        expect(shown.startsWith(before)).toBe(true);
        expect(shown.endsWith(after)).toBe(true);
      }),
      { examples: [['abcdefgh\\\\', '', '']] },
    );
  });

  test('is redacted in a text that was cut off within it', () => {
    fc.assert(
      fc.property(secrets, padding, fc.integer({ min: 1, max: 400 }), (secret, before, limit) => {
        const shown = redactor([secret])(excerpt(`${before}${spell(secret)} and more`, limit));
        expect(shared(shown, spell(secret))).toBeLessThan(
          8 * Math.ceil(spell(secret).length / secret.length),
        );
        expect(shared(shown, secret)).toBeLessThan(8);
      }),
      { examples: [['aaaaaaak/a%a', '        ', 23]] },
    );
  });
});

const inJson = Object.entries(spellings).filter(([name]) => name !== 'in JSON in JSON');

test.each(inJson)('a secret %s is redacted in JSON, which stays valid', (_, spell) => {
  fc.assert(
    fc.property(secrets, padding, (secret, before) => {
      const json = escapeJson(JSON.stringify({ text: `\n${before}${spell(secret)}` }));
      const shown = redactor([secret])(json);
      expect(shared(JSON.parse(shown).text, spell(secret))).toBeLessThan(8);
    }),
  );
});

test('a text without a secret is unchanged, whatever escapes it contains', () => {
  const redact = redactor(['rg_0123456789abcdef', 'pass']);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'%25\\u0061&#;+-_"…xyz') }), (text) => {
      expect(redact(text)).toBe(text);
    }),
  );
});

test('overlapping secrets are both redacted', () => {
  expect(redactor(['abcdefgh', 'efghijklmnop'])('<abcdefghijklmnop>')).toBe('<***>');
  expect(redactor(['efghijkl', 'abcdefghijklmnop'])('<abcdefghijklmnop>')).toBe('<***>');
});

test('a secret of fewer than 8 characters is found only in its exact spelling', () => {
  const redact = redactor(['pa5s']);
  expect(redact('pa5s PA5S cGE1cw==')).toBe('*** PA5S cGE1cw==');
});

test('a secret with control characters is found in sanitized text', () => {
  const secret = 'key\u0007-\u001b[31m-##[end]';
  expect(redactor([secret])(sanitize(`<${secret}>`))).toBe('<***>');
});

test('text before a cut is redacted only if a secret begins with it', () => {
  const redact = redactor(['rg_live_0123456789']);
  expect(redact('"rg_live_other…", rg_live_')).toBe('"rg_live_other…", ***');
  expect(redact('"rg_live_012…"')).toBe('"***…"');
});

test.each([1, 2, 3, 7, 16, 40])('a secret with %i backslashes in a row is found', (times) => {
  const secret = `key${'\\'.repeat(times)}end-${'\\'.repeat(times)}`;
  const redact = redactor([secret]);
  const json = JSON.stringify(secret);
  expect(redact(`<${secret}>`)).toBe('<***>');
  expect(redact(json)).toBe('"***"');
  expect(redact(JSON.stringify(json))).toBe('"\\"***\\""');
  expect(redact(`<${encodeURIComponent(secret)}>`)).toBe('<***>');
  expect(redact(JSON.stringify(`${secret}"`))).toBe('"***\\""');
});

test.each([
  ['two spaces', 'correct  +horse battery'],
  ['an indented line', 'first-Line_4711\n  +second-Line_0815'],
  ['CRLF, as in a key file', 'Zk3J9aQ7Lm2XvT5b\r\n+Nc8RfW1dHs6Gy4Pe'],
])('a secret with a plus after %s is redacted', (_, secret) => {
  const redact = redactor([secret]);
  for (const spell of Object.values(spellings))
    expect(shared(redact(`echo: ${spell(secret)} end`), spell(secret))).toBeLessThan(8);
  expect(redact(secret.replace(/\s+/g, ' '))).toBe('***');
});
