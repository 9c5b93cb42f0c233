import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { resultTypes, serviceTypes } from './service-types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { types, client } = serviceTypes();

/** Returns the text as the formatter of the repository writes it, so that the files pass the linter. */
const formatted = (text: string, file: string) =>
  execFileSync('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });

// `npm run client` runs this test with --update, which writes the files instead of comparing them.
it.each([
  ['src/contract/service-types.ts', types],
  ['src/client/service-client.ts', client],
  ['src/gate/result-types.ts', resultTypes()],
])('%s matches its schemas', async (file, text) => {
  await expect(formatted(text, file)).toMatchFileSnapshot(`../../${file}`);
});
