import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { alignedTable } from '../../docs/aligned-table.ts';
import { type Ended, machine } from '../../slice/machine.ts';
import { type Course, modelService, type ServiceOptions } from '../../slice/service.ts';

const root = mkdtempSync(join(tmpdir(), 'rungate-re-runs-'));
afterAll(() => rmSync(root, { recursive: true }));

type Env = Record<string, string>;
interface Job {
  env: Env;
  /** The machine dies after so many seconds. */
  diesAfter?: number;
  /** Whether it runs on the machine of the job before it, which has its journal. */
  sameMachine?: boolean;
  /** Whether it begins while the job before it runs. */
  atOnce?: boolean;
  /** The pause before it, in seconds. */
  pause?: number;
}

interface More {
  retries?: number;
  service?: Partial<ServiceOptions>;
  /** Two runs may be in progress at once. */
  overlaps?: true;
}

/** Where, what happens, the jobs and the courses of their runs. */
type Row = [where: string, what: string, jobs: readonly Job[], courses: readonly Course[], more?: More];

const github = (attempt: number): Env => ({
  ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_JOB: 'e2e' },
  ...{ GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ATTEMPT: String(attempt) },
});
const gitlab = (job: number): Env => ({
  ...{ CI: 'true', GITLAB_CI: 'true', CI_PIPELINE_ID: '900', CI_JOB_NAME: 'e2e' },
  ...{ CI_PROJECT_PATH: 'acme/shop', CI_JOB_ID: String(job) },
});
const jenkins = (build: number): Env => ({
  ...{ JENKINS_URL: 'https://ci.test/', BUILD_NUMBER: String(build), JOB_NAME: 'shop' },
  BUILD_URL: `https://ci.test/job/shop/${build}/`,
});
const circleci = (workflow: string): Env => ({
  ...{ CI: 'true', CIRCLECI: 'true', CIRCLE_JOB: 'e2e', CIRCLE_WORKFLOW_ID: workflow },
  ...{ CIRCLE_WORKFLOW_WORKSPACE_ID: 'first', CIRCLE_WORKFLOW_JOB_ID: `job of ${workflow}` },
});

const passes: Course = { end: 'passed', seconds: 60 };
const fails: Course = { end: 'failed', seconds: 60 };
const passesAtOnce: Course = { end: 'passed', seconds: 0 };
const failsAtOnce: Course = { end: 'failed', seconds: 0 };

/** A job that dies during its run, and is started again. */
const died = (...[first, again]: [Env, Env]): Job[] => [{ env: first, diesAfter: 20 }, { env: again }];
const ended = (...[first, again]: [Env, Env]): Job[] => [{ env: first }, { env: again }];

const retried = [{ env: github(1), diesAfter: 90 }, { env: github(2) }];
const twice = [{ env: jenkins(5) }, { env: jenkins(5), sameMachine: true }];
const killed = [
  { env: jenkins(5), diesAfter: 20 },
  { env: jenkins(5), sameMachine: true },
];
const diesTwice = [{ env: github(1), diesAfter: 20 }, { env: github(2), diesAfter: 20 }, { env: github(3) }];
const atOnce: Job[] = [{ env: github(1) }, { env: github(1), atOnce: true }];
const later = [{ env: github(1) }, { env: github(2), pause: 172_800 }];
const retriedAtOnce = '`--retries 1`: the first run ends at once, the machine dies during the retry; re-run';
const ignoresKeys = { service: { honoursKeys: false }, overlaps: true } as const;
const forgetsKeys = { service: { keepsKeysMs: 86_400_000 } };

const rows: readonly Row[] = [
  ['GitHub', 'the machine dies; re-run', died(github(1), github(2)), [passes]],
  ['GitHub', 'the run fails; re-run', ended(github(1), github(2)), [fails, passes]],
  [
    'GitHub',
    'the machine dies during the retry of `--retries 1`; re-run',
    retried,
    [fails, passes],
    { retries: 1 },
  ],
  [
    'GitHub',
    'both runs of `--retries 1` fail; re-run',
    ended(github(1), github(2)),
    [fails, fails, passes],
    { retries: 1 },
  ],
  [
    'GitHub',
    'the first run ends at once, the machine dies 20 s later; re-run',
    died(github(1), github(2)),
    [passesAtOnce, passes],
  ],
  ['GitHub', retriedAtOnce, retried, [passesAtOnce, fails, passes], { retries: 1 }],
  ['GitHub', 'the machine dies, and so does that of the re-run; second re-run', diesTwice, [passes]],
  ['GitHub', 'matrix without salt, one cell after the other', ended(github(1), github(1)), [passes]],
  ['GitHub', 'matrix without salt, two cells at once', atOnce, [passes]],
  ['GitLab', 'the runner dies; Retry', died(gitlab(1), gitlab(2)), [passes]],
  ['GitLab', 'the run fails; Retry', ended(gitlab(1), gitlab(2)), [fails, passes]],
  ['Jenkins', '`retry(2)` in one build: the run fails', twice, [fails, passes]],
  ['Jenkins', '`retry(2)` in one build: the process is killed', killed, [passes]],
  [
    'Jenkins',
    'the agent dies; Rebuild, which is a new build',
    died(jenkins(5), jenkins(6)),
    [passes],
    { overlaps: true },
  ],
  ['CircleCI', 'the machine dies; Rerun from failed', died(circleci('first'), circleci('again')), [passes]],
  ['GitHub', 'every run passes before the first read', ended(github(1), github(2)), [passesAtOnce]],
  ['GitHub', 'every run fails before the first read', ended(github(1), github(2)), [failsAtOnce]],
  ['GitLab', 'every run passes before the first read', ended(gitlab(1), gitlab(2)), [passesAtOnce]],
  ['GitLab', 'every run fails before the first read', ended(gitlab(1), gitlab(2)), [failsAtOnce]],
  [
    'GitHub',
    'the service ignores keys; the machine dies; re-run',
    died(github(1), github(2)),
    [passes],
    ignoresKeys,
  ],
  [
    'GitHub',
    'the service forgets keys after a day; the run fails; re-run after two',
    later,
    [fails, passes],
    forgetsKeys,
  ],
];

/** Returns the number of runs and the exit codes, and checks that two runs are never in progress at once. */
async function play([where, what, jobs, courses, more = {}]: Row, saysReplayed: boolean): Promise<string> {
  const { retries = 0, overlaps = false } = more;
  const service = modelService({ ...more.service, saysReplayed, courses: { web: courses } });
  const on = machine(service);
  const argv = ['gate', '--project', 'shop', '--process', 'web', '--retries', String(retries), '--json'];
  const playAll = async (): Promise<Ended[]> => {
    const started: Promise<Ended>[] = [];
    let folder = '';
    for (const { env, diesAfter, sameMachine, atOnce, pause = 0 } of jobs) {
      if (atOnce !== true) await Promise.all(started);
      if (pause > 0) await on.pause(pause * 1000);
      if (sameMachine !== true) folder = mkdtempSync(join(root, 'job-'));
      const kill = diesAfter === undefined ? null : { afterMs: diesAfter * 1000 };
      started.push(on.launch({ argv, settings: { env, journal: join(folder, 'journal') }, kill }));
    }
    return Promise.all(started);
  };
  const results = await on.during(playAll());
  const times = service.runs.map(({ createdAt, endsAt }) => [createdAt, endsAt] as const);
  const isAtOnce = times.some(([from], at) => times.slice(0, at).some(([, to]) => from < to));
  expect([where, what, isAtOnce]).toEqual([where, what, overlaps]);
  const codes = results.map(({ code, out }) => {
    if (code === null) return 'killed';
    return /"verdict": ?"flaky"/.test(out) ? `${code} (flaky)` : `${code}`;
  });
  const count = service.runs.length;
  return `${count} ${count === 1 ? 'run' : 'runs'}: ${codes.join(', ')}`;
}

const page = readFileSync(new URL('../../../docs/project/re-runs.md', import.meta.url), 'utf8');
const part = /(?<=<!-- table -->\n\n).*(?=\n<!-- end of table -->)/s;

// `npm run docs:reliability` is this test with --update: it writes the file that it otherwise compares.
test('writes the table of runs and exit codes into docs/project/re-runs.md, unchanged', async () => {
  const cells = [['CI', 'situation', 'the service reports replays', 'it does not']];
  for (const row of rows) cells.push([row[0], row[1], await play(row, true), await play(row, false)]);
  expect(page).toMatch(part);
  await expect(page.replace(part, () => `${alignedTable(cells)}\n`)).toMatchFileSnapshot(
    '../../../docs/project/re-runs.md',
  );
}, 100_000);
