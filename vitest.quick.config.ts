import { configDefaults, defineConfig } from 'vitest/config';
import { maxWorkers, projects, reporters } from './vitest.config.ts';

/** Slow files that `npm test` leaves to `npm run test:all`. Faster tests hold a sample of each of their properties. */
const left = [
  'commands/gate/gates-limits',
  'docs/pipelines',
  'gate/fleet-load',
  'mock/page/*',
  'preview/{kills,losses}',
  'receipt/forgeries',
  'reliability/{fuzz,hub-table,odd-responses,table}',
  'settings/processes',
  'tour/*',
  'webhook/table',
  'e2e/{blocked-output,completion,deployed,hub,hub-behind-nginx,init}',
  'e2e/{open,picture,receipt,reference-loop,unusable-paths,webhook-circle}',
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
