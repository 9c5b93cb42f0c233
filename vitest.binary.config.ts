import { defineConfig } from 'vitest/config';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

/** Tests of files that only the package has. */
const ofPackage = ['action', 'exports', 'loads', 'node-version', 'picture', 'webhook-receivers'];

/** The end-to-end tests with the single executable for Linux as the program under test: `npm run test:binary`. */
export default defineConfig({
  test: {
    maxWorkers,
    ...reporters('.test-report-binary.json'),
    include: ['test/e2e/**/*.test.ts', 'test/binary/**/*.test.ts'],
    exclude: ofPackage.map((name) => `test/e2e/${name}.test.ts`),
    env: { E2E_BINARY: new URL('dist/binary/linux-x64/rungate', import.meta.url).pathname },
    isolate: false,
    ...limits(10),
  },
});
