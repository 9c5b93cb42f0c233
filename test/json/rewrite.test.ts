import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactJson, renameKey } from '../../src/json/rewrite.ts';
import { redactor } from '../../src/redact.ts';

const redact = redactor(['12345678', 'true', 'sk_"live\\1']);

describe('redactJson', () => {
  test.each([
    ['a number', '{"id":12345678}', '{"id":"***"}'],
    ['part of a number', '[9123456780.5]', '["9***0.5"]'],
    ['a string of digits', '{ "id": "12345678" }', '{ "id": "***" }'],
    ['a name', '{"12345678":1}', '{"***":1}'],
    ['a string with escapes', '["a sk_\\"live\\\\1 b"]', '["a *** b"]'],
    ['an escaped character', '["1234567\\u0038"]', '["***"]'],
    ['the whole text', '12345678', '"***"'],
    ['several lines', '{"id":12345678}\n{"id":2}\n', '{"id":"***"}\n{"id":2}\n'],
  ])('redacts %s and returns valid JSON', (_what, json, redacted) =>
    expect(redactJson(json, redact)).toBe(redacted),
  );

  test.each(['{"a":true,"n":10.50,"b":"\\u0023"}', ' [ 1e400 , null ] ', '""'])(
    'does not change JSON without secrets: %s',
    (json) => expect(redactJson(json, redact)).toBe(json),
  );

  test('returns valid JSON for any secrets', () => {
    const secret = fc.oneof(
      fc.string({ minLength: 4, maxLength: 10 }),
      fc.constantFrom('null', 'false', '":{"', '","a', '1234', '[1,2', '}}]]', '\\\\\\\\', '0000'),
    );
    fc.assert(
      fc.property(fc.json(), fc.array(secret, { minLength: 1, maxLength: 3 }), (json, secrets) => {
        const text = json.replaceAll('0', '12340000');
        fc.pre(isJson(text));
        expect(isJson(redactJson(text, redactor([...secrets, text.slice(3, 9)])))).toBe(true);
      }),
    );
  });
});

describe('renameKey', () => {
  test('renames only keys, never text that looks like a key', () => {
    const text = JSON.stringify({
      note: '"acmeModel":1',
      acmeModel: '"acmeModel"',
      inner: { acmeModel: [] },
    });
    expect(JSON.parse(renameKey(text, 'acmeModel', 'providerModel'))).toEqual({
      note: '"acmeModel":1',
      providerModel: '"acmeModel"',
      inner: { providerModel: [] },
    });
  });

  test('does not rename a field if the object has a field with the new name', () => {
    const text = '{"acmeModel":"a","providerModel":"b","in":[{"acmeModel" : 1},{"providerModel":2}]}';
    expect(renameKey(text, 'acmeModel', 'providerModel')).toBe(
      '{"acmeModel":"a","providerModel":"b","in":[{"providerModel" : 1},{"providerModel":2}]}',
    );
  });

  test('restores the text if the field is renamed back', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('providerModel', 'x', 'y:'), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(renameKey(renameKey(text, 'providerModel', '$& v"m'), '$& v"m', 'providerModel')).toBe(text);
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
