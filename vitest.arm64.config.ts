import { defineConfig } from 'vitest/config';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** The executable for linux-arm64 in an emulator: `npm run test:arm64`. */
export default defineConfig({
  test: {
    name: 'arm64',
    include: ['test/platforms/arm64.test.ts'],
    maxWorkers,
    ...limits(10),
    ...reporters('.test-report-arm64.json'),
  },
});
