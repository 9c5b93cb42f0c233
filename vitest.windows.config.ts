import { defineConfig } from 'vitest/config';
import { executableOf } from './test/executable.ts';
import { nodeVersions } from './test/windows/setup.ts';
import { limits, maxWorkers, reporters } from './vitest.config.ts';

const [oldest, newest] = nodeVersions;

/** Returns the test files for a program. */
const project = (name: string, files: string, env: Readonly<Record<string, string>>) => ({
  test: { name, include: [`test/windows/${files}.test.ts`], env, ...limits(20) },
});

/** The built program under Node for Windows, and as an executable: `npm run test:windows`. */
export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: 'test/windows/setup.ts',
    ...reporters('.test-report-windows.json'),
    projects: [
      project(`node ${oldest}`, '*', { WINDOWS_NODE: oldest }),
      // On the second Node, which is also that of the executable, only what depends on how Node starts, stops and loads programs.
      project(`node ${newest}`, '{gate,library}', { WINDOWS_NODE: newest }),
      project('executable', '{children,first-steps,stopping}', {
        WINDOWS_NODE: newest,
        WINDOWS_PROGRAM: executableOf('windows-x64'),
      }),
    ],
  },
});
