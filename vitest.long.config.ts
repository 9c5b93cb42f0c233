import { defineConfig } from 'vitest/config';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** The long tests that `.ci/nightly` runs: other programs, failovers, and many random inputs. `.ci/run` runs the others. */
const nightly = [
  'bundlers',
  'completion',
  'first-steps',
  'fleet-load',
  'gitlab',
  'mock-page',
  'npx',
  'prism',
  'promotion',
  'redis-*',
  'release-files',
  'sbom',
  'site',
  'workflows',
].map((name) => `test/long/${name}.test.ts`);

const shared = {
  css: true,
  setupFiles: ['test/seed.ts'],
  ...limits(60),
};

/** What takes too long for `npm test`. */
export default defineConfig({
  test: {
    maxWorkers,
    ...reporters('.test-report-long.json'),
    projects: [
      { test: { name: 'landing', include: ['test/long/*.test.ts'], exclude: nightly, ...shared } },
      { test: { name: 'nightly', include: nightly, ...shared } },
    ],
  },
});
