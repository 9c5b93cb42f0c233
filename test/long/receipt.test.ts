import { expect, test } from 'vitest';
import { outcomesOf } from '../receipt/random.ts';

test('of 20,000 random envelopes, only the true receipt is accepted, and each other gives a ReceiptError', async () => {
  const outcomes = await outcomesOf(20_000);
  console.log(outcomes);
  expect(outcomes.PASSED).toBeGreaterThan(200);
});
