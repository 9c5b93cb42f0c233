import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoed, instead, nearest } from '../src/suggest.ts';

const words = ['table', 'json', 'ndjson'];

describe('the nearest word', () => {
  it.each([
    ['jsno', 'json'],
    ['JSON', 'json'],
    ['tabel', 'table'],
    ['nd-json', 'ndjson'],
    ['yaml', null],
    ['', null],
    ['--', null],
    ['x', null],
  ])('of %j is %j', (given, near) => expect(nearest(given, words)).toBe(near));

  it('is the word itself, in whatever case and with whatever dashes', () =>
    fc.assert(
      fc.property(fc.constantFrom('api-url', 'html-502', 'run.status', 'maxAttempts'), (word) => {
        const all = ['apiUrl', 'html502', 'runStatus', 'max-attempts'];
        const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
        expect(plain(nearest(word.toUpperCase(), all) ?? '')).toBe(plain(word));
      }),
    ));

  it('is one of the words or none, whatever is given', () =>
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (given) => {
        expect([...words, null]).toContain(nearest(given, words));
      }),
    ));

  it('tells statuses apart that differ in a digit', () =>
    expect(nearest('html-503', ['html-502', 'html-200'])).toBe('html-502'));
});

describe('what to write instead', () => {
  it('is the nearest word', () => expect(instead('tabel', words)).toBe('did you mean table?'));
  it('is every word where none is near', () =>
    expect(instead('yaml', words)).toBe('write one of table, json, ndjson'));
});

describe('a wrong word in a message', () => {
  it('is repeated', () => expect(echoed('yaml')).toBe('"yaml"'));
  it('is not, where it is as long as a secret', () =>
    fc.assert(
      fc.property(fc.string({ minLength: 33 }), (secret) => {
        expect(echoed(secret)).not.toContain(secret);
      }),
    ));
});
