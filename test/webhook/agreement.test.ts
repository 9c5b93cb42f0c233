import { expect, test } from 'vitest';
import { agreement, expectAllOutcomes } from './agreement.ts';

// `npm run test:long` does this with 20,000 inputs.
test('node:crypto and WebCrypto agree on 4,000 hostile inputs, and throw only WebhookVerificationError', async () => {
  const outcomes = await agreement(4000);
  expect(outcomes.accepted).toBeGreaterThan(20);
  expectAllOutcomes(outcomes);
});
