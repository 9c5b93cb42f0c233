import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { api } from '../../src/contract/index.ts';
import { knownScopes } from '../../src/contract/keys.ts';
import { textOf } from '../docs/pages.ts';
import { root } from '../e2e/built.ts';

/** The cells of the table rows on the page, without the table headings. */
const rows = textOf('docs/project/service-api.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** The code and the test of each statement, which are the last two cells of its row. */
const statements = rows.filter((cells) => cells.length > 3).map((cells) => cells.slice(-2));
const endpoints = rows.filter((cells) => cells.length === 3);

describe('docs/project/service-api.md', () => {
  it('names a file in src for each statement', () => {
    const files = statements.map(([code = '']) => code.slice(1, -1));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => !existsSync(join(root, 'src', file)))).toEqual([]);
  });

  it('names a test for each statement by its file and name', () => {
    const missing = statements.filter(([, test = '']) => {
      const [, file = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
      const path = join(root, 'test', file);
      return !file.endsWith('.ts') || !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
    });
    expect(missing).toEqual([]);
  });

  it('names each endpoint once', () => {
    const all = Object.entries<Endpoint>(api).map(([name, { method, path }]) => [
      `\`${method} ${path}\``,
      `\`${name}\``,
    ]);
    expect(endpoints.map((cells) => cells.slice(1))).toEqual(all);
  });

  it('names each known scope', () => {
    const text = textOf('docs/project/service-api.md');
    expect(knownScopes.filter((scope) => !text.includes(`\`${scope}\``))).toEqual([]);
  });
});
