import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoed, instead, nearest } from '../src/suggest.ts';

const words = ['table', 'json', 'ndjson'];

describe('nearest', () => {
  it.each([
    ['jsno', 'json'],
    ['tabel', 'table'],
    ['yaml', null],
    ['', null],
  ])('returns for %j: %j', (given, near) => expect(nearest(given, words)).toBe(near));

  it('finds a word in any letter case and with any dashes', () =>
    fc.assert(
      fc.property(fc.constantFrom('api-url', 'html-502', 'run.status', 'maxAttempts'), (word) => {
        const all = ['apiUrl', 'html502', 'runStatus', 'max-attempts'];
        const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
        expect(plain(nearest(word.toUpperCase(), all) ?? '')).toBe(plain(word));
      }),
    ));

  it('returns one of the words or null for any text', () =>
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (given) => {
        expect([...words, null]).toContain(nearest(given, words));
      }),
    ));
});

describe('instead', () => {
  it('suggests the most similar word', () => expect(instead('tabel', words)).toBe('did you mean table?'));
  it('lists all words if none is similar', () =>
    expect(instead('yaml', words)).toBe('write one of table, json, ndjson'));
});

describe('echoed', () => {
  it('quotes a short word', () => expect(echoed('yaml')).toBe('"yaml"'));
  it('does not repeat a word that is as long as a secret', () =>
    fc.assert(
      fc.property(fc.string({ minLength: 33 }), (secret) => {
        expect(echoed(secret)).not.toContain(secret);
      }),
    ));
});
