import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nameInCommands, nameInLibrary } from '../../src/options/spelling.ts';
import { rows } from '../../src/options/table.ts';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const saidIn = (text: string) => [...text.matchAll(/\bnameOf\('([\w.]+)'/g)].map(([, id = '']) => id);
const said = [...new Set(sources.flatMap((file) => saidIn(readFileSync(`src/${file}`, 'utf8'))))];

test('each option that an error names has a row, or is a phrase', () => {
  expect(said.length).toBeGreaterThan(10);
  const unknown = said.filter((id) => !(id in rows) && nameInCommands(id) === id && nameInLibrary(id) === id);
  expect(unknown).toEqual([]);
});

test('options have the names of the place where the error is shown', () => {
  const names = ['apiUrl', 'insecureHttp', 'deployed.timeout', 'run.idPointer', 'hubTokens'];
  expect(names.map((id) => nameInCommands(id))).toEqual([
    'RUNGATE_API_URL',
    '--insecure-http',
    '--deployed-timeout',
    'run.idPointer',
    'RUNGATE_HUB_TOKEN',
  ]);
  expect(names.map((id) => nameInLibrary(id))).toEqual([
    'apiUrl',
    'insecureHttp: true',
    'deployed.timeoutMs',
    'idPointer',
    'hub.token',
  ]);
});
