import { expect, test } from 'vitest';
import { agreement, expectAllOutcomes } from './agreement.ts';

// `npm run test:long` does this with 20,000 inputs.
test('node:crypto and WebCrypto agree on 1,000 hostile inputs, and throw only WebhookVerificationError', async () => {
  const outcomes = await agreement(1000);
  expect(outcomes.accepted).toBeGreaterThan(20);
  expectAllOutcomes(outcomes);
});
