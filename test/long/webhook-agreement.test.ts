import { expect, test } from 'vitest';
import { agreement, expectAllOutcomes } from '../webhook/agreement.ts';

test('node:crypto and WebCrypto agree on 20,000 hostile inputs, and throw only WebhookVerificationError', async () => {
  const outcomes = await agreement(20_000);
  console.log(outcomes);
  expect(outcomes.accepted).toBeGreaterThan(400);
  expectAllOutcomes(outcomes);
});
