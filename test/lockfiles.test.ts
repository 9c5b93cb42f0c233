import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folders = ['.', 'site', 'test/bundlers', 'test/prism', 'test/runtimes', 'test/workflows'];

test.each(folders)('npm verifies every package that it can install in %s', (folder) => {
  const text = readFileSync(`${folder}/package-lock.json`, 'utf8');
  const { '': _root, ...packages } = JSON.parse(text).packages as Record<string, Record<string, unknown>>;
  expect(Object.keys(packages).filter((place) => packages[place]?.integrity === undefined)).toEqual([]);
  // Without these, npm uses the registry that is configured.
  expect(Object.keys(packages).filter((place) => packages[place]?.resolved !== undefined)).toEqual([]);
});
