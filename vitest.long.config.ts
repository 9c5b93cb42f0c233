import { defineConfig } from 'vitest/config';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** What takes too long for `npm test`: run by hand and by `.ci/run`. */
export default defineConfig({
  test: {
    name: 'long',
    include: ['test/long/**/*.test.ts'],
    css: true,
    setupFiles: ['test/seed.ts'],
    maxWorkers,
    ...limits(60),
    ...reporters('.test-report-long.json'),
  },
});
