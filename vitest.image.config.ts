import { defineConfig } from 'vitest/config';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** The container image, built and started on this machine: `npm run test:image`. */
export default defineConfig({
  test: {
    name: 'image',
    include: ['test/image/**/*.test.ts'],
    globalSetup: 'test/image/setup.ts',
    maxWorkers,
    ...limits(10),
    ...reporters('.test-report-image.json'),
  },
});
