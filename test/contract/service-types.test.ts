import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { serviceTypes } from './service-types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { types, client } = serviceTypes();

/** As the repository's own formatter would write it: then the files are linted like any other. */
const formatted = (text: string, file: string) =>
  execFileSync('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });

// `npm run client` is this test with --update: it writes the files that it otherwise compares.
it.each([
  ['src/contract/service-types.ts', types],
  ['src/client/service-client.ts', client],
])('%s is what the contract says now; `npm run client` writes it', async (file, text) => {
  await expect(formatted(text, file)).toMatchFileSnapshot(`../../${file}`);
});
