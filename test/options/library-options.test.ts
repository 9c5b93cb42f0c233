import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { libraryOptions } from './library-options.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = 'src/options/library-options.ts';

// `npm run options` runs this test with --update, which writes the file instead of comparing it.
it('src/options/library-options.ts matches the rows; `npm run options` updates it', async () => {
  const formatted = execFileSync(
    'node_modules/.bin/biome',
    ['check', '--write', `--stdin-file-path=${file}`],
    {
      cwd: root,
      input: libraryOptions(),
      encoding: 'utf8',
    },
  );
  await expect(formatted).toMatchFileSnapshot(`../../${file}`);
});
