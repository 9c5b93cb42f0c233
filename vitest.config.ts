import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** In CI the counts are read from the runner's own report. */
export function reporters(outputFile: string) {
  return process.env.CI ? { reporters: ['default', 'json'], outputFile: { json: outputFile } } : {};
}

/**
 * Limits for hangs, which no machine is too slow for. Single tests have none.
 *
 * In CI a test has a second attempt, which `.ci/run` reports. It cannot hide a property that fails, since the cases are the same.
 */
export function limits(minutes: number) {
  const ms = minutes * 60_000;
  return {
    testTimeout: ms,
    hookTimeout: ms,
    teardownTimeout: ms,
    expect: { poll: { timeout: ms } },
    retry: process.env.CI ? 1 : 0,
  };
}

/** Two more than there are cores: a test end to end mostly waits. */
export const maxWorkers = availableParallelism() + 2;

/** All tests except the long ones and those of other platforms. */
export const projects = [
  {
    test: {
      name: 'runtime',
      include: ['test/**/*.test.ts'],
      exclude: [
        'test/binary/**',
        'test/bundlers/**',
        'test/e2e/**',
        'test/image/**',
        'test/long/**',
        'test/options/row.test.ts',
        'test/platforms/**',
        'test/prism/**',
        'test/runtimes/**',
        'test/windows/**',
        'test/workflows/**',
      ],
      ...limits(10),
      setupFiles: ['test/seed.ts'],
      // The files of a worker share what they import, which takes a third less time.
      isolate: false,
      // Fewer garbage collections of young objects: 8 % less processor time.
      execArgv: ['--max-semi-space-size=64'],
      // The page of the mock has a style of its own, which is no file to be left out.
      css: true,
    },
  },
  // It replaces a module, which the files of a worker would share.
  { test: { name: 'isolated', include: ['test/options/row.test.ts'], ...limits(10) } },
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
      ...limits(10),
    },
  },
];

/** `npm run test:all`, and single files. `npm test` leaves out what vitest.quick.config.ts lists. */
export default defineConfig({ test: { maxWorkers, ...reporters('.test-report.json'), projects } });
