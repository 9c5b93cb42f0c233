import { defineConfig } from 'vitest/config';
import { nodeVersions } from './test/windows/setup.ts';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** The built program under Node for Windows: `npm run test:windows`. */
export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: 'test/windows/setup.ts',
    ...reporters('.test-report-windows.json'),
    projects: nodeVersions.map((version) => ({
      test: {
        name: `node ${version}`,
        include: ['test/windows/**/*.test.ts'],
        // npx takes seconds to start; once is enough.
        exclude: version === nodeVersions[0] ? [] : ['test/windows/first-steps.test.ts'],
        env: { WINDOWS_NODE: version },
        ...limits(20),
      },
    })),
  },
});
