import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gateResults } from '../../src/gate/plan/graph.ts';
import { verdicts } from '../../src/gate/policy.ts';
import { renderJson, renderResponse } from '../../src/output/json.ts';
import { redactor } from '../../src/redact.ts';

describe('renderJson', () => {
  test('writes one line for machines and indents for people', () => {
    expect(renderJson({ a: [1], b: null }, 0)).toBe('{"a":[1],"b":null}\n');
    expect(renderJson({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  test('writes any value in one line that parses to the same value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })), (value) => {
        const text = renderJson(value, 0);
        expect(text.split('\n')).toHaveLength(2);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

test.each([...gateResults, ...verdicts])('a secret that is the word %s does not hide it in JSON', (word) => {
  const gate = { result: word, verdict: word, note: `the word ${word}` };
  expect(JSON.parse(renderJson(gate, 0, redactor([word])))).toEqual({ ...gate, note: 'the word ***' });
});

describe('renderResponse', () => {
  test.each([
    '10.50',
    '1e400',
    '-0',
    '12345678901234567890.123456789',
    '{"id":9007199254740993,"total":10.50}',
  ])('keeps the digits of %s', (text) => expect(renderResponse(text, 0)).toBe(`${text}\n`));

  test('escapes CI commands and control characters without changing the value', () => {
    const text = renderResponse(JSON.stringify({ name: '##vso[x]\u202e' }), 0);
    expect(text).toBe('{"name":"\\u0023\\u0023vso[x]\\u202e"}\n');
  });

  test.each(['{"__proto__":{"a":1},"b":2}', '{"toString":1,"constructor":2}'])(
    'keeps every key of %s',
    (text) => expect(renderResponse(text, 0)).toBe(`${text}\n`),
  );
});
