import { defineConfig } from 'vitest/config';
import { nodeVersions } from './test/windows/setup.ts';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

const startsPrograms = ['children', 'gate', 'library', 'stopping'].map(
  (name) => `test/windows/${name}.test.ts`,
);

/** The built program under Node for Windows: `npm run test:windows`. */
export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: 'test/windows/setup.ts',
    ...reporters('.test-report-windows.json'),
    projects: nodeVersions.map((version) => ({
      test: {
        name: `node ${version}`,
        // On the second Node, only what depends on how Node starts, stops and loads programs.
        include: version === nodeVersions[0] ? ['test/windows/**/*.test.ts'] : startsPrograms,
        env: { WINDOWS_NODE: version },
        ...limits(20),
      },
    })),
  },
});
