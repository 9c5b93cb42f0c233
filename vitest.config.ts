import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** In CI the counts are read from the runner's own report. */
export function reporters(outputFile: string) {
  return process.env.CI ? { reporters: ['default', 'json'], outputFile: { json: outputFile } } : {};
}

/** Two more than there are cores: a test end to end mostly waits. */
export const maxWorkers = availableParallelism() + 2;

export default defineConfig({
  test: {
    maxWorkers,
    ...reporters('.test-report.json'),
    projects: [
      {
        test: {
          name: 'runtime',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/e2e/**',
            'test/importers/**',
            'test/long/**',
            'test/prism/**',
            'test/runtimes/**',
            'test/windows/**',
          ],
          testTimeout: 15_000,
          // The files of a worker share what they import, which takes a third less time.
          isolate: false,
          // Fewer garbage collections of young objects: 8 % less processor time.
          execArgv: ['--max-semi-space-size=64'],
          // The page of the mock has a style of its own, which is no file to be left out.
          css: true,
        },
      },
      {
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/**/*.test-d.ts'],
            tsconfig: './test/tsconfig.types.json',
          },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
