import { defineConfig } from 'vitest/config';

/** In CI the counts are read from the runner's own report. */
export function reporters(outputFile: string) {
  return process.env.CI ? { reporters: ['default', 'json'], outputFile: { json: outputFile } } : {};
}

export default defineConfig({
  test: {
    ...reporters('.test-report.json'),
    projects: [
      {
        test: {
          name: 'runtime',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/long/**', 'test/runtimes/**'],
          testTimeout: 15_000,
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
            tsconfig: './tsconfig.json',
          },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
