import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../e2e/built.ts';

/** The paths of all pages in the repository. */
export const pages: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
].toSorted();

export const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
