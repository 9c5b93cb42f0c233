import { expect, it } from 'vitest';
import { createOpenApi } from '../../src/contract/openapi.ts';

// `npm run openapi` is this test with --update: it writes the file that it otherwise compares.
it('docs/openapi.json is what the contract says now; `npm run openapi` writes it', async () => {
  const text = `${JSON.stringify(createOpenApi(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/openapi.json');
});
