import { expect, test } from 'vitest';
import { outcomesOf } from './random.ts';

test('random envelopes are refused with a ReceiptError, and only the true receipt is accepted', async () => {
  const outcomes = await outcomesOf(1000);
  expect(outcomes.PASSED).toBeGreaterThan(0);
  for (const code of [
    'envelope',
    'signature',
    'payload_type',
    'statement',
    'duplicate_keys',
    'result',
    'commit',
  ])
    expect(outcomes[code], code).toBeGreaterThan(0);
});
