import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../../src/mock/exchange.ts';
import { parseQuery } from '../../../src/mock/exchange.ts';
import {
  redactedLine,
  redactedRequest,
  redactedTarget,
  redactedUrl,
} from '../../../src/mock/page/redaction.ts';

const requestOf = (parts: Partial<RecordedRequest>): RecordedRequest => ({
  ...{ endpoint: null, method: 'POST', path: '/', query: {}, headers: {}, body: '', at: 0, status: 200 },
  ...parts,
});

describe("redaction for the mock's page", () => {
  it.each([
    ['https://u:p@h.example/a', 'https://********@h.example/a'],
    ['https://u:p@q@h.example/a@b', 'https://********@h.example/a@b'],
    ['git@h.example:a/b', 'git@h.example:a/b'],
    ['https://h.example/?a=1&access_token=x&b=2', 'https://h.example/?a=1&access_token=********&b=2'],
    ['https://h.example/?apikey=x#top', 'https://h.example/?apikey=********#top'],
    ['a rg_known b', 'a *** b'],
    ['two\nlines', 'two\\nlines'],
  ])('shows %j as %j', (text, shown) => expect(redactedLine(text, ['rg_known'])).toBe(shown));

  it("shows a webhook's URL without the query", () => {
    expect(redactedUrl('https://u:p@h.example/in?queue=shop&k=1', [])).toBe(
      'https://********@h.example/in?…',
    );
  });

  it.each([
    ['x=1&x=2&y=', '/?x=1&x=2&y='],
    ['api_key=a%26b', '/?api_key=********'],
    ['Secret=1&secret=2', '/?Secret=********&secret=********'],
  ])('shows the query %s as %s', (query, target) => {
    expect(redactedTarget(requestOf({ query: parseQuery(query) }), [])).toBe(target);
  });

  it.each([
    [
      { a: { clientSecret: 'x' }, tokens: ['x'] },
      { a: { clientSecret: '********' }, tokens: '********' },
    ],
    [
      { name: 'N', value: 'x', secret: true },
      { name: 'N', value: '********', secret: true },
    ],
    [
      { name: 'N', value: 'x', secret: false },
      { name: 'N', value: 'x', secret: false },
    ],
    [
      [{ password: 7 }, null, 'x'],
      [{ password: '********' }, null, 'x'],
    ],
  ])('shows the body %j as %j', (body, shown) => {
    const text = redactedRequest(requestOf({ body: JSON.stringify(body) }), []);
    expect(JSON.parse(text.slice(text.indexOf('\n\n')))).toEqual(shown);
  });

  it('keeps the digits of numbers, and finds credentials in any spelling', () => {
    const body = '{"id":9007199254740993,"total":10.50,"url":"https:\\/\\/u:p@x.test"}';
    expect(redactedRequest(requestOf({ body }), [])).toBe(
      'POST /\n\n{\n  "id": 9007199254740993,\n  "total": 10.50,\n  "url": "https://********@x.test"\n}',
    );
  });

  it('shows only the size of a body that is not JSON', () => {
    expect(redactedRequest(requestOf({ body: '{"apiKey": "é' }), [])).toBe(
      'POST /\n\n(14 bytes that are not JSON)',
    );
  });

  it('never shows a known secret or a part of one, wherever it occurs', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'];
    const secrets = fc.string({ unit: fc.constantFrom(...letters), minLength: 20, maxLength: 40 });
    // Lengths around the limits at which texts are cut.
    const long = fc
      .oneof(fc.integer({ min: 150, max: 300 }), fc.integer({ min: 3900, max: 4000 }))
      .map((length) => '.'.repeat(length));
    fc.assert(
      fc.property(secrets, fc.oneof(fc.string(), long), fc.string(), (secret, before, after) => {
        const text = `${before}${secret}${after}`;
        const request = requestOf({
          path: `/${encodeURIComponent(before.slice(0, 290))}${secret}`,
          query: { q: text },
          headers: { 'user-agent': text, authorization: text },
          body: JSON.stringify({ note: text, [secret]: [text] }),
        });
        const shown = [redactedRequest(request, [secret]), redactedLine(text, [secret])].join('\n');
        // A part too long to occur at random.
        expect(shown).not.toContain(secret.slice(0, 10));
      }),
    );
  });
});
