import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from '../src/version.ts';

test('the program and package.json have the same version', () => {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  expect(version).toBe(manifest.version);
});
