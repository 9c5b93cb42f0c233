import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { possibleRunIds } from '../../src/hub/deliveries.ts';

const idsOf = (text: string) => [...possibleRunIds(text)];

describe('the possible run ids of a delivery', () => {
  it.each<[string, string, string[]]>([
    ['a string', '"run_1"', ['run_1']],
    ['a field at any depth', '{"a":{"b":[{"c":"run_1"}]}}', ['run_1']],
    ['a number', '{"id":17}', ['17']],
    ['zero and negative numbers, but no fractions', '[0,1.5,-2]', ['0', '-2']],
    ['a number in another notation', '[1.0,1e3]', ['1', '1000']],
    [
      'path segments of a URL, decoded, with the URL itself',
      '["https://app.example/p/run%201/run_2?tab=run_3#run_4"]',
      ['https://app.example/p/run%201/run_2?tab=run_3#run_4', 'p', 'run_2'],
    ],
    [
      'a segment that cannot be decoded',
      '["http://app.example/%E0%A4%A/x"]',
      ['http://app.example/%E0%A4%A/x', '%E0%A4%A', 'x'],
    ],
    ['no path segments of anything else', '["ftp://a/b","/runs/run_1"]', ['ftp://a/b', '/runs/run_1']],
    ['no part of a text', '["the run run_1 has ended","a\\tb"]', []],
    ['no names of fields', '{"run_1":true}', []],
    ['no booleans, null or empty texts', '[true,false,null,""]', []],
    ['nothing twice', '["a","a",1,1,"1"]', ['a', '1']],
    [
      'nothing longer than 200 characters',
      JSON.stringify(['x'.repeat(200), 'y'.repeat(201)]),
      ['x'.repeat(200)],
    ],
  ])('have %s', (_name, text, ids) => {
    expect(idsOf(text)).toEqual(ids);
  });

  it('are 2,000 at most, also in one URL and in long numbers', () => {
    const url = (at: number) =>
      `https://app.example/${Array.from({ length: 5000 }, (_, n) => `${at}-${n}`).join('/')}`;
    expect(idsOf(JSON.stringify([url(1), url(2)])).length).toBe(2000);
    expect(
      idsOf(`[${Array.from({ length: 3000 }, (_, at) => 10n ** 20n + BigInt(at)).join()}]`).length,
    ).toBeLessThanOrEqual(2000);
  });

  it('are bounded and without white space for any JSON, and have each of its first short texts', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.stringMatching(/^[\w-]{1,40}$/), (text, id) => {
        const ids = possibleRunIds(`[${JSON.stringify(id)},${text}]`);
        expect(ids.has(id)).toBe(true);
        expect(ids.size).toBeLessThanOrEqual(2000);
        for (const each of ids) expect(each).toMatch(/^\S{1,200}$/);
      }),
    );
  });
});
