import { expect, test } from 'vitest';
import { outcomesOf } from '../receipt/random.ts';

test('of 100,000 random envelopes, only the true receipt is accepted, and each other gives a ReceiptError', async () => {
  const outcomes = await outcomesOf(100_000);
  console.log(outcomes);
  expect(outcomes.PASSED).toBeGreaterThan(1000);
});
