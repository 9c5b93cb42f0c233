import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';
import { pages } from './pages.ts';

const named = [...pages, 'templates/gitlab/rungate.yml'];
const read = (path: string) => readFileSync(join(root, path), 'utf8');

// `npm run docs:version` is this test with --update: it writes the version where a page names another.
it.each(named)('%s names this version of rungate and no other', async (path) => {
  const right = read(path).replaceAll(/\brungate@(v?)\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, `rungate@$1${version}`);
  await expect(right).toMatchFileSnapshot(join(root, path));
});

/** A shell line of a pipeline: one that the job's shell gives way to, or that answers npx in advance. */
const pipelineLine = /(?:exec npx|npx --yes) .*/g;

it.each(named)('%s lets no pipeline run the newest rungate, whatever that is', (path) => {
  const lines = [...read(path).matchAll(pipelineLine)].map(([line]) => line);
  // The page that explains the trap names it.
  const loose = lines.filter(
    (line) => !/^(?:exec )?npx (?:--yes ("\$RUNGATE_PACKAGE"|[@\w/]+@[\d<])|--no-install )/.test(line),
  );
  expect(loose).toEqual(
    path === 'docs/ci.md' ? [expect.stringContaining('npx --yes rungate` runs the newest')] : [],
  );
});
