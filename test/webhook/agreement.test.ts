import { expect, test } from 'vitest';
import { agreement, expectAllOutcomes } from './agreement.ts';

// `npm run test:long` does this with 100,000 inputs.
test('node:crypto and WebCrypto agree on 5,000 hostile inputs, and throw only WebhookVerificationError', async () => {
  const outcomes = await agreement(5000);
  expect(outcomes.accepted).toBeGreaterThan(100);
  expectAllOutcomes(outcomes);
}, 60_000);
