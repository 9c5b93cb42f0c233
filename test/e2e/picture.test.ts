import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { expect, it } from 'vitest';
import { svgOf, textOfFrame } from '../docs/picture.ts';
import { recordScene } from '../docs/picture-scene.ts';
import { root } from './built.ts';

const file = join(root, 'docs/reference/gate.svg');
const title = 'rungate gate, with three gates';
const description =
  'A terminal. A table of three gates changes in place until each has ended: two pass, one fails. Then the result follows: exit code 1.';

/** Returns the rows of text in each frame of a picture, and the names of its elements. */
function read(svg: string) {
  const frames: string[][] = [];
  const names = new Set<string>();
  const parser = new SaxesParser();
  let inside = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => {
    inside = name;
    names.add(name);
    if (name === 'g') frames.push([]);
    if (name === 'text') frames.at(-1)?.push('');
  });
  parser.on('text', (text) => {
    const last = frames.at(-1);
    if (inside === 'tspan' && text.trim() !== '' && last !== undefined) last[last.length - 1] += `${text} `;
  });
  parser.write(svg).close();
  return { names: [...names].toSorted(), frames };
}

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '' && !/^\d+:\d\d$/.test(word));

// `npm run docs:picture` is this test with PICTURE=write: it then draws the picture instead of comparing it.
it('docs/reference/gate.svg shows the output of rungate gate on a terminal', async () => {
  const picture = await recordScene();
  expect(picture.exitCode).toBe(1);
  if (process.env.PICTURE === 'write') writeFileSync(file, svgOf(picture, title, description));
  const svg = readFileSync(file, 'utf8');
  const { names, frames } = read(svg);
  expect(names).toEqual(['desc', 'g', 'rect', 'style', 'svg', 'text', 'title', 'tspan']);
  expect(svg).not.toMatch(/url\(|@import|href=/);
  // The progress at each moment varies; the first and the last frame do not.
  const last = textOfFrame(picture.frames.at(-1) ?? []);
  expect(last).toContain('gate failed');
  expect(words(frames.at(-1)?.join('\n') ?? '')).toEqual(words(last));
  const live = picture.frames.map(textOfFrame).find((text) => text.includes('of 3 running')) ?? '';
  const head = live.split('\n').find((line) => line.includes('STATE')) ?? '';
  expect(head).toContain('GATE');
  expect(frames.flat().map((row) => words(row).join(' '))).toContain(words(head).join(' '));
});
