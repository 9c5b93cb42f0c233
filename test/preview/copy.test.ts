import { expect, it } from 'vitest';
import { membersOf } from '../../src/json/text.ts';
import { copied, variableOf } from '../../src/preview/copy.ts';

it('copies the fields that the API does not describe, with their digits, but none of one environment only', () => {
  const record = '{"id":"e1","key":"staging","region":"eu","ratio":1.50,"isDefault":true,"createdBy":"x"}';
  expect(copied(membersOf(record), ['key'])).toEqual([
    ['region', '"eu"'],
    ['ratio', '1.50'],
  ]);
});

it.each([
  ['"u"', true],
  ['""', false],
  ['"••••••"', false],
  ['"(hidden)"', false],
])('a variable with the value %s is shown: %s', (value, isShown) => {
  expect(variableOf(membersOf(`{"name":"USER","value":${value}}`))).toMatchObject({ name: 'USER', isShown });
});
