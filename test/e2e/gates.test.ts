import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { until } from '../until.ts';
import { rungate } from './built.ts';

let folder: string;
let mock: MockServer;
let env: Record<string, string>;
beforeEach(async () => {
  folder = folderForTest();
  const gates = {
    api: { process: 'api' },
    web: { process: 'web', needs: ['api'] },
    perf: { process: 'perf' },
    smoke: { process: 'smoke', needs: ['api'], retries: 1 },
  };
  writeFileSync(join(folder, '.rungate.json'), JSON.stringify({ project: 'shop', timeout: '60s', gates }));
});
afterEach(() => mock.close());

/** Starts a mock. The runs of api and perf pass, that of web never ends, and that of smoke fails once before one that never ends. */
async function serve(): Promise<void> {
  mock = await startMock({ duration: 500, retryAfterSeconds: 0.1 });
  mock.state.plan.outcomeOf = ({ processSlug }) => {
    if (processSlug === 'smoke' && runsOf('smoke').length === 0) return 'failed';
    return processSlug === 'smoke' || processSlug === 'web' ? 'stuck' : 'passed';
  };
  env = {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    RUNGATE_CONFIG: join(folder, '.rungate.json'),
    // Two starts of one job on one machine.
    GITHUB_ACTIONS: 'true',
    GITHUB_RUN_ID: '77',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_REPOSITORY: 'acme/shop',
    RUNNER_TEMP: folder,
  };
}

const argv = ['gate', '--no-ci-report'];
const runsOf = (process: string) =>
  [...mock.state.runs.values()].filter((run) => JSON.stringify(run).includes(`"${process}"`));

describe('rungate gate, built', () => {
  it('after kill -9, starts finished gates again and attaches to the runs in progress, also to a retry', async () => {
    await serve();
    const killed = rungate(argv, env);
    await killed.shows(/web: .*in_progress/);
    await killed.shows(/perf: passed/);
    await until(() => runsOf('smoke').length === 2);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const again = rungate([...argv, '--json', '--max-attempts', '8'], env);
    const { out, code } = await again.ended;
    // smoke had failed once, and has not passed since.
    expect(code).toBe(1);
    const [api, web, perf, smoke] = JSON.parse(out).gates;
    expect(api).toMatchObject({ result: 'pass', runs: [{ reattached: false }] });
    expect(perf).toMatchObject({ result: 'pass', runs: [{ reattached: false }] });
    expect(web).toMatchObject({ result: 'fail', runs: [{ verdict: 'timeout', reattached: true }] });
    expect(smoke.runs.map(({ runId }: { runId: string }) => runId)).toEqual(
      runsOf('smoke').map(({ id }) => id),
    );
    expect(['api', 'web', 'perf', 'smoke'].map((name) => runsOf(name).length)).toEqual([2, 1, 2, 2]);
  });

  it('cancels the runs of all gates on SIGTERM', async () => {
    mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 0.1 });
    const own = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    const running = rungate([...argv, '--json'], { ...own, RUNGATE_CONFIG: join(folder, '.rungate.json') });
    await running.shows(/api: .*in_progress/);
    await running.shows(/perf: .*in_progress/);
    running.child.kill('SIGTERM');
    const { out, code } = await running.ended;
    expect(code).toBe(143);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ interruptedBy: 'SIGTERM', cancellation: 'requested' });
    expect(report.gates.map(({ result }: { result: string }) => result)).toEqual([
      'fail',
      'skipped',
      'fail',
      'skipped',
    ]);
    const runs = [...mock.state.runs.values()];
    expect(runs).toHaveLength(2);
    for (const run of runs) expect(run.cancelled?.reason).toContain('SIGTERM');
  });
});
