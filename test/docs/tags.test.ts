import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cli } from '../cli/harness.ts';
import { pages } from './pages.ts';

const rule = 'the service does not say whether one or all must match';
const oneLine = (text: string) => text.replace(/\s+/g, ' ');
const read = (path: string) => oneLine(readFileSync(path, 'utf8'));

describe('the rule for several tags', () => {
  it.each([
    'action.yml',
    'docs/reference/commands.md',
    'docs/openapi.json',
    'docs/rungate.schema.json',
    'src/contract/run.ts',
  ])('is in %s', (path) => expect(read(path)).toContain(rule));

  it.each([['run', 'trigger'], ['init']])('is in the help of %s %s', async (...argv) => {
    const { out } = await cli([...argv, '--help']);
    expect(oneLine(out)).toContain(rule);
  });

  it('is never given in other words', () => {
    for (const path of ['README.md', 'action.yml', ...pages]) {
      expect(read(path), path).not.toMatch(/every process with|(?:one|any|all) of (?:the|these) tags/i);
    }
  });
});
