/** `npm run test:mutation`: changes the code in thousands of places, and asks of each change whether a test fails. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  mutate: [
    'src/gate/{policy,decide,end,keys,reads,resume,run-status,steps,todo}.ts',
    'src/client/retry.ts',
    'src/date-time.ts',
    'src/webhook/{verify,headers}.ts',
  ],
  // Texts are for people: tests compare their facts, not every word.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, allowColor: false, allowEmojis: false },
  thresholds: { high: 100, low: 95, break: 95 },
  tempDirName: 'node_modules/.stryker',
  ignorePatterns: ['/dist', '/bench', '/action'],
  allowEmpty: false,
};
