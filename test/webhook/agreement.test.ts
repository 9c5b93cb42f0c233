import { expect, test } from 'vitest';
import { agreement, expectAllOutcomes } from './agreement.ts';

// `npm run test:long` does this with 100,000 inputs.
test('node:crypto and WebCrypto agree on 2,000 hostile inputs, and throw only WebhookVerificationError', async () => {
  const outcomes = await agreement(2000);
  expect(outcomes.accepted).toBeGreaterThan(40);
  expectAllOutcomes(outcomes);
});
