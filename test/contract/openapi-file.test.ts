import { expect, it } from 'vitest';
import { createOpenApi } from '../../src/contract/openapi.ts';

// `npm run openapi` runs this test with --update, which writes the file instead of comparing it.
it('docs/openapi.json matches the API; `npm run openapi` updates it', async () => {
  const text = `${JSON.stringify(createOpenApi(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/openapi.json');
});
