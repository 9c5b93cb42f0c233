import { defineConfig } from 'vitest/config';

/** The tests that Stryker runs against each changed line: those of the gate's cores, of the retries and of the webhook core. */
export default defineConfig({
  test: {
    include: [
      'test/gate/*.test.ts',
      'test/client/{call,retry}.test.ts',
      'test/webhook/{core,vectors}.test.ts',
    ],
    // Thousands of drawn cases, which kill nothing that the others leave alive.
    exclude: ['test/gate/fleet-load.test.ts'],
    testTimeout: 60_000,
  },
});
