import { expect, test } from 'vitest';
import { agreement, expectAllEnds } from './agreement.ts';

// `npm run test:long` does it 100,000 times.
test('of 5,000 hostile inputs none gets another class out, and node:crypto and WebCrypto agree on each', async () => {
  const ends = await agreement(5000);
  expect(ends.accepted).toBeGreaterThan(100);
  expectAllEnds(ends);
}, 60_000);
