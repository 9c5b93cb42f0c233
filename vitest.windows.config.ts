import { defineConfig } from 'vitest/config';
import { maxWorkers, reporters } from './vitest.config.ts';

/** The built program under Node for Windows: `npm run test:windows`. Node 24 and later do not start in Wine 8. */
export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: 'test/windows/setup.ts',
    ...reporters('.test-report-windows.json'),
    projects: ['20', '22'].map((version) => ({
      test: {
        name: `node ${version}`,
        include: ['test/windows/**/*.test.ts'],
        env: { WINDOWS_NODE: version },
        testTimeout: 120_000,
        hookTimeout: 120_000,
      },
    })),
  },
});
