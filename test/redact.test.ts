import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCaller } from '../src/client/caller.ts';
import { errorBody } from '../src/client/error-body.ts';
import { api } from '../src/contract/index.ts';
import { redactResponse } from '../src/errors.ts';
import { nameInCommands } from '../src/options/spelling.ts';
import { redactor } from '../src/redact.ts';
import { escapeJson, excerpt, sanitize } from '../src/sanitize.ts';

// Each run builds a redactor, which is the larger part of the time.
fc.configureGlobal({ numRuns: 40 });

const base64 = (text: string) => Buffer.from(text).toString('base64');
const hex = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const lowerHex = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());

/** The ways in which a service or a proxy may repeat a secret. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  unchanged: (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'in lower case': (secret) => secret.toLowerCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'percent-encoded with lower-case digits': (secret) => lowerHex(encodeURIComponent(secret)),
  'percent-encoded in a path': encodeURI,
  'percent-encoded strictly': (secret) =>
    encodeURIComponent(secret).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`),
  'form-encoded': (secret) => new URLSearchParams({ q: secret }).toString().slice(2),
  'in JSON': json,
  'in JSON twice': (secret) => json(json(secret)),
  'in JSON of PHP': (secret) =>
    json(secret)
      .replace(/[\u0080-\uffff]/g, hex)
      .replaceAll('/', '\\/'),
  'in JSON of Python, twice': (secret) => json(json(secret).replace(/[\u0080-\uffff]/g, hex)),
  'in JSON of Go': (secret) => json(secret).replace(/[<>&]/g, hex),
  'in JSON of .NET': (secret) =>
    json(secret)
      .replace(/[<>&'+`\u0080-\uffff]/g, (char) => hex(char).toUpperCase().replace('U', 'u'))
      .replaceAll('\\"', '\\u0022'),
  'in HTML': (secret) =>
    secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  sanitised: sanitize,
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
        const text = escapeJson(JSON.stringify({ text: `\n${before}${spell(secret)}` }));
        const shown = redactResponse(text, redactor([secret]));
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

test('text before a cut is redacted only if a secret begins with it', () => {
  const redact = redactor(['rg_live_0123456789']);
  expect(redact('"rg_live_other…", rg_live_')).toBe('"rg_live_other…", ***');
  expect(redact('"rg_live_012…"')).toBe('"***…"');
  for (const mark of ['...', '%E2%80%A6', '%25e2%2580%25a6', '\\u2026', '&hellip;', '&#8230;'])
    expect(redact(`"rg_live_012${mark}"`)).toBe(`"***${mark}"`);
});

test('percent-encoded non-ASCII letters are found in upper case, too', () => {
  expect(redactor(['pässwörd-1'])(encodeURIComponent('PÄSSWÖRD-1'))).toBe('***');
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
  for (const spell of Object.values(spellings).slice(0, 14))
    expect(shared(redact(`echo: ${spell(secret)} end`), spell(secret))).toBeLessThan(8);
  expect(redact(secret.replace(/\s+/g, ' '))).toBe('***');
});

test.each([`it's-a-secret!`, '{"a":"b","k":"secret"}', `tok<en>&"'x`, 'a|b^c{d}e9999', 'a b[c]d"efg'])(
  'the secret %s is redacted in a path and a query that a URL parser wrote',
  (secret) => {
    const redact = redactor([secret]);
    const url = new URL('https://h.test/');
    for (const write of [
      () => {
        url.pathname = `/p/${secret}`;
      },
      () => {
        url.search = `q=${secret}`;
      },
    ]) {
      url.href = 'https://h.test/';
      write();
      expect(redact(url.href)).toContain('***');
      expect(shared(redact(url.href), secret)).toBeLessThan(4);
    }
  },
);

test('a secret of several lines is redacted with the line breaks of Windows, too', () => {
  expect(redactor(['line1\nline2\nline3xyz'])('is line1\r\nline2\r\nline3xyz.')).toBe('is ***.');
});

test.each([1, 2, 3, 8])('a body that is cut %i characters into a secret shows none of them', (inside) => {
  const secret = 'zq7k3J9aZ7qLm';
  const body = `${'.'.repeat(64 * 1024 - 3 - inside)}${secret} and more`;
  expect(errorBody(body, redactor([secret]))).not.toMatch(/z/);
});

test.each([1, 2, 3, 8])(
  'a message that is cut %i characters into a secret shows none of them',
  async (inside) => {
    const secret = 'zq7k3J9aZ7qLm';
    const text = `${'.'.repeat(200 - inside)}${secret} and more`;
    const send = async () => ({ status: 502, headers: {}, text });
    const transport = { send, close: async () => {} };
    const caller = createCaller(
      { apiUrl: 'https://tests.example', token: secret, transport },
      nameInCommands,
    );
    const call = caller.exchange('env.list', api['env.list'], { params: {} }, { maxRequests: 1 });
    const error = await call.catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain('...');
    expect((error as Error).message).not.toMatch(/\.z/);
  },
);
