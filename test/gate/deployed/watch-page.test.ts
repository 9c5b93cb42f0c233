import { expect, it } from 'vitest';
import type { Phase } from '../../../src/gate/deployed/reads.ts';
import { watchPage } from '../../../src/gate/deployed/watch-page.ts';
import { nameInCommands } from '../../../src/options/spelling.ts';
import { virtualTime } from '../../virtual-time.ts';

/** Reads pages that show these versions in these phases. */
async function readAll(reads: readonly (readonly [Phase, string])[]) {
  const shown = reads.map(([, version]) => version);
  const page = watchPage({
    expected: { page: 'https://shop.test/version', versions: ['v1', 'v2'] },
    timeoutMs: 10_000,
    clock: virtualTime().clock,
    nameOf: nameInCommands,
    read: async () => {
      const text = shown.shift() ?? '';
      return { text, matches: true, version: text };
    },
  });
  const builds: unknown[] = [];
  for (const [phase] of reads)
    builds.push((await page.read(phase, 1_000, new AbortController().signal)).build);
  return { builds, report: page.report(true) };
}

it('accepts another expected build for a retry, and reports both', async () => {
  const { builds, report } = await readAll([
    ['before', 'v1'],
    ['during', 'v1'],
    ['after', 'v1'],
    ['before', 'v2'],
    ['during', 'v2'],
    ['after', 'v2'],
  ]);
  expect(builds).toEqual(['first', 'expected', 'expected', 'first', 'expected', 'expected']);
  expect(report).toMatchObject({ expected: 'v1 or v2', matches: true });
});

it('takes another expected build for another one while the run of a gate goes on, also if a second gate retries', async () => {
  const { builds, report } = await readAll([
    ['before', 'v1'],
    ['during', 'v1'],
    ['after', 'v1'],
    ['during', 'v2'],
    ['after', 'v2'],
  ]);
  expect(builds).toEqual(['first', 'expected', 'expected', 'other', 'other']);
  expect(report.matches).toBe(false);
});
