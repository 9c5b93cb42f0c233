import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactor } from '../src/redact.ts';
import { escapeJson, excerpt, sanitize } from '../src/sanitize.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const percentAll = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** The ways in which a service or a proxy may repeat a secret. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  unchanged: (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'in lower case': (secret) => secret.toLowerCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'percent-encoded, every byte': percentAll,
  'percent-encoded twice, every character': (secret) => percentAll(percentAll(secret)),
  'percent-encoded twice, the second time every character': (secret) =>
    percentAll(encodeURIComponent(secret)),
  'form-encoded': (secret) => new URLSearchParams({ q: secret }).toString().slice(2),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'in JSON, fully escaped': (secret) =>
    Array.from(
      { length: secret.length },
      (_, at) => `\\u${secret.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  'in HTML': (secret) => secret.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`),
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
      {
        examples: [
          ['abcdefgh\\', '', ''],
          ['a%bcd1234', '', ''],
          ['a%25bcd1234', '', ''],
          ['x\\u00411234', '', ''],
          ['aaaaaa\\u', '', ''],
        ],
      },
    );
  });

  test('is redacted in JSON, which stays valid', () => {
    fc.assert(
      fc.property(secrets, padding, (secret, before) => {
        const json = escapeJson(JSON.stringify({ text: `\n${before}${spell(secret)}` }));
        const shown = redactor([secret])(json);
        expect(shared(JSON.parse(shown).text, spell(secret))).toBeLessThan(8);
      }),
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
  for (const mark of ['...', '%E2%80%A6', '%25e2%2580%25a6', '\\u2026', '&hellip;', '&#8230;'])
    expect(redact(`"rg_live_012${mark}"`)).toBe(`"***${mark}"`);
});

test('a secret that is cut off within an escape is redacted up to there', () => {
  const redact = redactor(['rg_live_0123456789']);
  const escaped = [...'rg_live_0123456789'].map((char) => `&#${char.charCodeAt(0)};`).join('');
  for (const end of [50, 51, 52, 53, 54]) expect(redact(escaped.slice(0, end))).toMatch(/^\*\*\*&?#?\d*$/);
});

test('HTML entities with leading zeros are decoded', () => {
  const redact = redactor(['rg_live_0123456789']);
  const escaped = [...'rg_live_0123456789']
    .map((char) => `&#x0000${char.charCodeAt(0).toString(16)};`)
    .join('');
  expect(redact(`<${escaped}>`)).toBe('<***>');
});

test('percent-encoded non-ASCII letters are found in upper case, too', () => {
  expect(redactor(['pässwörd-1'])(encodeURIComponent('PÄSSWÖRD-1'))).toBe('***');
});

/** Counts how often a character is read, since measured time depends on the machine. */
function reads(secrets: readonly string[], text: string): number {
  const redact = redactor(secrets);
  const { charCodeAt } = String.prototype;
  let count = 0;
  String.prototype.charCodeAt = function (at) {
    count += 1;
    return charCodeAt.call(this, at);
  };
  try {
    redact(text);
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
  return count;
}

test.each(['%', '%25', '\\', '\\\\u0061', '&#', '+', '…', 'r', 'rg_k3J9a', 'RG_K3J9AZ7…'])(
  'the work for hostile text of %j grows only with its length',
  (unit) => {
    const secrets = ['rg_k3J9aZ7qLm', 'another%25secret\\\\', `${'\\'.repeat(9)}x`];
    const work = (length: number) => reads(secrets, unit.repeat(length));
    expect(work(20_000)).toBeLessThan(2.2 * work(10_000) + 100);
  },
);

test.each([
  ['- name: shop\n- name: cart', '+'],
  ['---- BEGIN SSH2 KEY ----', '+'],
  ['\\ secret', '\\\\n'],
  ['        ', ' '],
])('the work for %j in a text of many %j grows only with its length', (secret, unit) => {
  const work = (length: number) => reads([secret], unit.repeat(length));
  expect(work(2000)).toBeLessThan(2.2 * work(1000) + 100);
});

test.each([
  ['\\', '\\'],
  ['\\', '\\u005c'],
  ['%25', '%25'],
  ['%', '%2525'],
  ['&amp;', '&amp;'],
  ['\\u005c', '\\u005c\\'],
])('the work for a secret of many %j in a text of many %j is limited', (part, unit) => {
  const work = (times: number) => reads([`${part.repeat(times)}end`], unit.repeat(60));
  expect(work(12)).toBeLessThan(6 * work(4) + 1000);
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
  for (const spell of Object.values(spellings).slice(0, 10))
    expect(shared(redact(`echo: ${spell(secret)} end`), spell(secret))).toBeLessThan(8);
  expect(redact(secret.replace(/\s+/g, ' '))).toBe('***');
});
