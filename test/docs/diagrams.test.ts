import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { diagrams as untyped } from '../../scripts/diagrams.mjs';
import { pages, textOf } from './pages.ts';

const diagrams: Readonly<Record<string, string>> = untyped;

/** Returns the names of the elements. @throws for XML that is not well-formed. */
function elementsOf(svg: string): string[] {
  const names = new Set<string>();
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => names.add(name));
  parser.write(svg).close();
  return [...names];
}

describe.each(Object.entries(diagrams))('%s', (file, svg) => {
  it('has a title and a description, and loads nothing', () => {
    expect(elementsOf(svg)).toEqual(expect.arrayContaining(['title', 'desc']));
    expect(svg).not.toMatch(/url\(|@import|href=/);
  });

  it('is on a page in its folder, with a text for those who do not see it', () => {
    const [folder, name] = [file.replace(/[^/]+$/, ''), file.replace(/.*\//, '')];
    const shown = new RegExp(`!\\[[^\\]]{20,}\\]\\(${name.replace('.', '\\.')}\\)`);
    const inFolder = pages.filter((page) => page.startsWith(folder));
    expect(inFolder.filter((page) => shown.test(textOf(page)))).toHaveLength(1);
  });
});
