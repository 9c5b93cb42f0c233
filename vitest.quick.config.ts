import { configDefaults, defineConfig } from 'vitest/config';
import { maxWorkers, projects, reporters } from './vitest.config.ts';

/** Slow files that `npm test` leaves to `npm run test:all`. Faster tests hold a sample of each of their properties. */
const left = [
  'cli/{help,json}',
  'commands/gate/{gates-limits,preview}',
  'commands/hub/hub',
  'commands/run/{deployed,gateway,hub,re-run-table,receipt,reruns,secrets}',
  'docs/pipelines',
  'gate/{checker,detached}/mutants',
  'gate/{fleet-load,trust}',
  'host/children',
  'library/hints',
  'mock/{faults,page/*}',
  'preview/{kills,losses}',
  'receipt/forgeries',
  'reliability/{bounds,fuzz,hub-table,odd-responses,table}',
  'settings/processes',
  'slice/table',
  'tour/*',
  'webhook/{diagnose,table}',
  'e2e/{action,blocked-output,built,completion,deployed,hub,hub-behind-nginx,init,live}',
  'e2e/{open,picture,receipt,reference-loop,stopping,unusable-paths,webhook-circle}',
].map((name) => `test/${name}.test.ts`);

/** What a developer runs: `npm test`. */
export default defineConfig({
  test: {
    maxWorkers,
    ...reporters('.test-report.json'),
    projects: projects.map(({ test }) => ({
      test: {
        ...test,
        exclude: [...('exclude' in test ? test.exclude : configDefaults.exclude), ...left],
      },
    })),
  },
});
