import type { MockOptions } from '../../../src/mock/server.ts';
import { type Settings, stage } from '../../cli/harness.ts';

/** The case of a gate in a report. `retries` counts its further runs. */
export interface Shown {
  result: 'passed' | 'failed' | 'broken' | 'skipped';
  retries?: number;
}

/** A build of a project with three gates, each of which needs the one before; the last one is advisory. */
export interface Build {
  options?: MockOptions;
  argv?: readonly string[];
  settings?: Settings;
  /** When SIGTERM comes, in milliseconds after the start. */
  stopAfterMs?: number;
  /** In the order of the gates. */
  shown: readonly [smoke: Shown, web: Shown, perf: Shown];
}

const passed = { result: 'passed' } as const;
const skipped = { result: 'skipped' } as const;
const failed = { result: 'failed' } as const;
const broken = { result: 'broken' } as const;
const endless = Number.POSITIVE_INFINITY;

/** A build for each outcome of a gate. */
export const builds: Readonly<Record<string, Build>> = {
  'that passes': { options: { outcome: 'passed' }, shown: [passed, passed, passed] },
  'with a flaky gate': {
    options: { outcome: ['failed', 'passed'] },
    shown: [{ ...passed, retries: 1 }, passed, passed],
  },
  'with a flaky gate that fails': {
    options: { outcome: ['failed', 'passed'] },
    argv: ['--on', 'flaky=fail'],
    shown: [{ ...failed, retries: 1 }, skipped, skipped],
  },
  'with a gate that fails twice': {
    options: { outcome: 'failed' },
    shown: [{ ...failed, retries: 1 }, skipped, skipped],
  },
  'with a gate that fails, and whose retry never ends': {
    options: { outcome: ['failed', 'stuck'] },
    shown: [{ ...failed, retries: 1 }, skipped, skipped],
  },
  'with a blocked gate': { options: { outcome: 'blocked' }, shown: [failed, skipped, skipped] },
  'with a cancelled run and --no-strict': {
    options: { outcome: ['cancelled', 'passed'] },
    argv: ['--no-strict'],
    shown: [skipped, passed, passed],
  },
  'with a cancelled run': {
    options: { outcome: 'cancelled' },
    shown: [failed, skipped, skipped],
  },
  'with a run that never ends': { options: { outcome: 'stuck' }, shown: [broken, skipped, skipped] },
  'with a run that cannot be read': {
    options: { faults: [{ kind: 'status', status: 404, endpoint: 'run.status', times: endless }] },
    shown: [broken, skipped, skipped],
  },
  'with a gate that cannot start its run': {
    options: { faults: [{ kind: 'status', status: 422, endpoint: 'run.trigger' }] },
    shown: [broken, skipped, skipped],
  },
  'of the wrong deployment': {
    options: { deployed: 'old' },
    argv: ['--deployed-is', 'new', '--deployed-timeout', '20s'],
    shown: [broken, skipped, skipped],
  },
  'without an API key': {
    settings: { env: { RUNGATE_API_KEY: '' } },
    shown: [broken, skipped, skipped],
  },
  'without the URL of the service': {
    settings: { env: { RUNGATE_API_URL: '' } },
    shown: [broken, broken, broken],
  },
  'that is stopped before it begins': {
    stopAfterMs: 0,
    shown: [skipped, skipped, skipped],
  },
  'that is stopped while a run is in progress': { stopAfterMs: 15_000, shown: [broken, skipped, skipped] },
  'with an advisory gate that fails': {
    options: { outcome: ['passed', 'passed', 'failed'] },
    shown: [passed, passed, { ...failed, retries: 1 }],
  },
};

const gates = {
  smoke: { process: 'smoke' },
  web: { tags: ['web', 'slow'], needs: ['smoke'] },
  perf: { process: 'perf', environment: 'staging', needs: ['web'], advisory: true },
};

/** Runs a build against a mock. The seed determines the ids of its runs. Returns its files. */
export async function runBuild({ options, argv = [], settings, stopAfterMs }: Build, seed: number) {
  const on = await stage({ duration: 25_000, outcome: 'passed', ...options, seed });
  const project = JSON.stringify({ project: 'shop', retries: 1, timeout: '10m', gates });
  const files: Record<string, string> = { '/repo/.git': '', '/repo/.rungate.json': project };
  const deployed = options?.deployed === undefined ? [] : ['--deployed-url', `${on.mock.url}/_mock/version`];
  const reports = ['--junit', 'junit.xml', '--report', 'gates.json'];
  try {
    const onStop: Settings['onStop'] = (stop) => {
      if (stopAfterMs === 0) stop('SIGTERM');
      else if (stopAfterMs !== undefined) void on.clock.sleep(stopAfterMs).then(() => stop('SIGTERM'));
    };
    const run = on.with({ cwd: '/repo', files, onStop, ...settings });
    const { code, err } = await run('gate', ...reports, ...deployed, ...argv);
    return { code, err, junit: String(files['junit.xml']), json: String(files['gates.json']) };
  } finally {
    await on.close();
  }
}
