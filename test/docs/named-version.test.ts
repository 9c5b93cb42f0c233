import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error a build script, which has no types
import { addressOf, ownerOf } from '../../scripts/repository.mjs';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';
import { pages } from './pages.ts';

const named = [...pages, 'templates/gitlab/rungate.yml'];
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const owner = ownerOf(addressOf(JSON.parse(read('package.json'))));
/** An image's name is in lower case. */
const imageOwner = owner === 'OWNER' ? owner : owner.toLowerCase();

// `npm run docs:version` is this test with --update: it then writes them instead of comparing them.
it.each(named)(
  '%s names only this version of rungate, and the owner of its repository and image',
  async (path) => {
    const right = read(path)
      .replaceAll(/\brungate@(v?)\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, `rungate@$1${version}`)
      .replaceAll(/(?<=\/releases\/download\/v)\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, version)
      .replaceAll(/\b\d+\.\d+\.\d+(?:-[\w.]*\w)?(?= \(binary, Node)/g, version)
      .replaceAll(/[\w.-]+(?=\/rungate@(?:v\d|<commit>))/g, owner)
      .replaceAll(/[\w.-]+(?=\/rungate\/releases\/download\/)/g, owner)
      .replaceAll(/(?<= --repo )[\w.-]+(?=\/rungate\b)/g, owner)
      .replaceAll(/\bghcr\.io\/[\w.-]+\/rungate(?=[:@])/g, `ghcr.io/${imageOwner}/rungate`)
      .replaceAll(/\b(ghcr\.io\/[\w.-]+\/rungate):\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, `$1:${version}`);
    await expect(right).toMatchFileSnapshot(join(root, path));
  },
);

/** A shell line of a pipeline: it replaces the job's shell, or confirms npx's question in advance. */
const pipelineLine = /(?:exec npx|npx --yes) .*/g;

it.each(named)('%s has no pipeline that runs the newest rungate', (path) => {
  const lines = [...read(path).matchAll(pipelineLine)].map(([line]) => line);
  // docs/how-to/ci.md warns against this form.
  const loose = lines.filter(
    (line) => !/^(?:exec )?npx (?:--yes ("\$RUNGATE_PACKAGE"|[@\w/]+@[\d<])|--no-install )/.test(line),
  );
  expect(loose).toEqual(
    path === 'docs/how-to/ci.md' ? [expect.stringContaining('npx --yes rungate` runs the newest')] : [],
  );
});
