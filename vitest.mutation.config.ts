import { defineConfig } from 'vitest/config';

/** The tests that Stryker runs for each change: those of the files that stryker.config.mjs names. */
export default defineConfig({
  test: {
    include: [
      'test/gate/{keys,policy,reads,run-status,trust}.test.ts',
      'test/date-time.test.ts',
      'test/client/retry.test.ts',
      'test/webhook/{core,table}.test.ts',
    ],
    testTimeout: 60_000,
  },
});
