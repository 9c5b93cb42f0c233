import { defineConfig } from 'vitest/config';
import { maxWorkers, reporters } from './vitest.config.ts';

/** What takes too long for `npm test`: run by hand and by `.ci/run`. */
export default defineConfig({
  test: {
    name: 'long',
    include: ['test/long/**/*.test.ts'],
    css: true,
    maxWorkers,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    ...reporters('.test-report-long.json'),
  },
});
