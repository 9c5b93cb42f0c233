import { readFileSync } from 'node:fs';
import { join } from 'node:path';
// @ts-expect-error a script, which has no types
import { pagePaths } from '../../scripts/docs-figures.mjs';
import { root } from '../e2e/built.ts';

/** The paths of all pages in the repository. */
export const pages: readonly string[] = pagePaths();

export const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
