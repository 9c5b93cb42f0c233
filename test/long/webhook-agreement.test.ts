import { expect, test } from 'vitest';
import { agreement, expectAllEnds } from '../webhook/agreement.ts';

test('of 100,000 hostile inputs none gets another class out, and node:crypto and WebCrypto agree on each', async () => {
  const ends = await agreement(100_000);
  console.log(ends);
  expect(ends.accepted).toBeGreaterThan(2000);
  expectAllEnds(ends);
});
