import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import {
  type Env,
  pipelineParts,
  pipelineSnippets,
  read,
  run,
  type Script,
  type Store,
  settingsOf,
  snippets,
  workspace,
  type Yaml,
  yaml,
} from '../docs/ci-job.ts';
import { root } from '../e2e/built.ts';

/** A snippet as its CI runs it. */
interface Step extends Script {
  /** The job's timeout in minutes; null if the CI has none. */
  limit: number | null;
  /** Files or folders that the CI collects. */
  artifacts: string[];
  /** The variables that change when the job is re-run; null if a re-run is another build. */
  retried: Env | null;
}

const bash = (file: string) => ['bash', '-e', file];
const lines = (script: string | string[]) => [script].flat().join('\n');

/** Replaces `${{ … }}` as GitHub's runner does. */
function github(text: string, store: Store, cell: string): string {
  return String(text).replaceAll(/\$\{\{ (.+?) \}\}/g, (_, expression) => {
    const values: Env = {
      'vars.RUNGATE_API_URL': store.RUNGATE_API_URL,
      'secrets.RUNGATE_API_KEY': store.RUNGATE_API_KEY,
      'toJSON(matrix)': cell,
      'matrix.environment': JSON.parse(cell)?.environment,
    };
    const value = values[expression];
    if (value === undefined) throw new Error(`unknown expression: ${expression}`);
    return value;
  });
}

const githubRetried = { GITHUB_RUN_ATTEMPT: '2' };
const githubEnv = {
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '4711',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'e2e',
  GITHUB_ACTION: '__run',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
};

function githubRun(doc: Yaml, store: Store, cell = 'null'): Step {
  const { e2e } = doc.jobs;
  expect(doc.permissions).toEqual({ contents: 'read' });
  const step = e2e.steps.at(-1);
  const env = Object.entries<string>({ ...e2e.env, ...step.env }).map(([name, value]) => [
    name,
    github(value, store, cell),
  ]);
  return {
    script: step.run,
    shell: bash,
    env: { ...githubEnv, ...Object.fromEntries(env) },
    limit: e2e['timeout-minutes'],
    artifacts: [],
    retried: githubRetried,
  };
}

function githubAction(doc: Yaml, store: Store): Step {
  const [job] = Object.values<Yaml>(doc.jobs);
  const [action, upload] = job.steps.filter(({ uses }: Yaml) => !uses.startsWith('actions/checkout@'));
  expect(action.uses).toMatch(/^[\w.-]+\/rungate@v/);
  const { inputs } = yaml(read('action.yml'));
  const given: Env = { ...action.with };
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given)));
  if (given.junit !== undefined)
    expect(upload).toMatchObject({ if: 'always()', with: { path: given.junit } });
  const filled = Object.entries<{ default?: string }>(inputs).flatMap(([name, input]) => {
    const value = given[name] ?? input.default;
    return value === undefined ? [] : [[`INPUT_${name.toUpperCase()}`, github(String(value), store, 'null')]];
  });
  return {
    script: null,
    shell: () => ['node', join(root, 'action/main.js')],
    env: { ...githubEnv, ...Object.fromEntries(filled) },
    limit: job['timeout-minutes'],
    artifacts: given.junit === undefined ? [] : [given.junit],
    retried: githubRetried,
  };
}

/** Returns the workflow of the page on GitHub Actions with other steps. */
function workflowOf(steps: Yaml): Yaml {
  const name = 'GitHub Actions / The plain command';
  const doc = yaml(pipelineSnippets().find((snippet) => snippet.name === name)?.text ?? '');
  const { e2e } = doc.jobs;
  return { ...doc, jobs: { e2e: { ...e2e, env: e2e.steps.at(-1).env, steps } } };
}

const githubStep = (steps: Yaml, store: Store, cell?: string) => githubRun(workflowOf(steps), store, cell);

const gitlabEnv = {
  GITLAB_CI: 'true',
  CI_PROJECT_PATH: 'acme/shop',
  CI_PIPELINE_ID: '900',
  CI_JOB_NAME: 'e2e',
  CI_JOB_ID: '1',
};

function gitlabJob(job: Yaml, store: Store): Step {
  expect(job.artifacts.when).toBe('always');
  return {
    script: lines(job.script),
    shell: (file) => ['bash', '-eo', 'pipefail', file],
    env: { ...gitlabEnv, ...store, ...job.variables },
    limit: Number(/^(\d+) minutes$/.exec(job.timeout)?.[1]),
    artifacts: [...Object.values<string>(job.artifacts.reports), ...(job.artifacts.paths ?? [])],
    retried: { CI_JOB_ID: '2' },
  };
}

function gitlabTemplate(doc: Yaml, store: Store): Step {
  const template = yaml(read('templates/gitlab/rungate.yml'))['.rungate'];
  const { extends: base, ...job } = doc.e2e;
  expect(doc.include).toEqual([{ local: '.gitlab/rungate.yml' }]);
  expect(base).toBe('.rungate');
  return gitlabJob({ ...template, ...job, variables: { ...template.variables, ...job.variables } }, store);
}

function circleci(doc: Yaml, store: Store): Step {
  const [step, results, artifacts] = doc.jobs.e2e.steps;
  expect(doc.workflows.gate.jobs).toEqual([{ e2e: { context: 'rungate' } }]);
  return {
    script: step.run.command,
    shell: (file) => ['bash', '-eo', 'pipefail', file],
    env: {
      CIRCLECI: 'true',
      CIRCLE_WORKFLOW_ID: 'w1',
      CIRCLE_WORKFLOW_WORKSPACE_ID: 'w1',
      CIRCLE_WORKFLOW_JOB_ID: 'j1',
      CIRCLE_JOB: 'e2e',
      ...store,
    },
    limit: null,
    artifacts: [results.store_test_results.path, artifacts.store_artifacts.path],
    retried: { CIRCLE_WORKFLOW_ID: 'w2', CIRCLE_WORKFLOW_JOB_ID: 'j2' },
  };
}

function jenkins(text: string, store: Store): Step {
  const once = settingsOf(text);
  once(/RUNGATE_API_KEY = credentials\('([^']+)'\)/);
  // A missing report would replace the error of the step.
  once(/post \{\s+always \{ junit .*(allowEmptyResults: true)/);
  return {
    script: once(/\bsh '([^']+)'/),
    shell: (file) => ['sh', '-xe', file],
    env: {
      JENKINS_URL: 'https://ci.example.test/',
      JOB_NAME: 'shop',
      BUILD_NUMBER: '7',
      BUILD_TAG: 'jenkins-shop-7',
      STAGE_NAME: 'e2e',
      npm_config_cache: once(/npm_config_cache = '([^']+)'/),
      ...store,
    },
    limit: Number(once(/timeout\(time: (\d+), unit: 'MINUTES'\)/)),
    artifacts: [once(/junit testResults: '([^']+)'/)],
    retried: null,
  };
}

function azure(doc: Yaml, store: Store): Step {
  const [job] = doc.jobs;
  const [, step, results] = job.steps;
  expect(doc.variables).toEqual([{ group: 'rungate' }]);
  expect(results).toMatchObject({ condition: 'always()', inputs: { testResultsFormat: 'JUnit' } });
  const env = Object.entries<string>(step.env).map(([name, value]) => [
    name,
    store[/^\$\((.+)\)$/.exec(value)?.[1] as keyof Store],
  ]);
  return {
    script: step.bash,
    // Without -e, only the exit code of the last command counts.
    shell: (file) => ['bash', '--noprofile', '--norc', file],
    env: { TF_BUILD: 'True', BUILD_BUILDID: '7', SYSTEM_JOBATTEMPT: '1', ...Object.fromEntries(env) },
    limit: job.timeoutInMinutes,
    artifacts: [results.inputs.testResultsFiles],
    retried: { SYSTEM_JOBATTEMPT: '2' },
  };
}

function bitbucket(doc: Yaml, store: Store): Step {
  const [{ step }] = doc.pipelines.default;
  return {
    script: lines(step.script),
    shell: bash,
    env: {
      BITBUCKET_BUILD_NUMBER: '7',
      BITBUCKET_COMMIT: 'a'.repeat(40),
      BITBUCKET_STEP_UUID: '{5}',
      BITBUCKET_STEP_RUN_NUMBER: '1',
      ...store,
    },
    limit: step['max-time'],
    artifacts: step.artifacts.map((path: string) => path.replace('/**', '')),
    retried: { BITBUCKET_STEP_RUN_NUMBER: '2' },
  };
}

function buildkite(doc: Yaml, store: Store): Step {
  const [step] = doc.steps;
  const secrets = step.secrets.map((name: keyof Store) => [name, store[name]]);
  return {
    script: lines(step.command),
    shell: (_file, script) => ['bash', '-e', '-c', script],
    env: {
      BUILDKITE: 'true',
      BUILDKITE_BUILD_ID: 'b1',
      BUILDKITE_RETRY_COUNT: '0',
      BUILDKITE_STEP_KEY: step.key,
      ...Object.fromEntries(secrets),
    },
    limit: step.timeout_in_minutes,
    artifacts: step.artifact_paths,
    retried: { BUILDKITE_RETRY_COUNT: '1' },
  };
}

/** Removes the installation, which `test/long/npx.test.ts` tests; rungate is already installed here. */
function withoutInstalling(step: Step): Step {
  const install = 'npm ci --ignore-scripts\n';
  expect(step.script).toContain(install);
  return { ...step, script: step.script?.replace(install, '') ?? null };
}

type Reader = (doc: Yaml, store: Store) => Step;

const onGates = snippets('docs/how-to/gates.md');

/** Adds the project file of the page on several gates: `web` needs `api`, and `perf` is advisory. */
function withGates(reader: Reader): Reader {
  const projectFile = onGates.find(({ language }) => language === 'json')?.text ?? '';
  return (doc, store) => ({ ...reader(doc, store), projectFile });
}

/** How to read each snippet, by the headings above it. */
const readers: Record<string, Reader> = {
  'GitHub Actions / The action': ({ steps }, store) => githubAction(workflowOf(steps), store),
  'GitHub Actions / The plain command': githubRun,
  'GitLab CI / The template': gitlabTemplate,
  'GitLab CI / The plain command': (doc, store) => gitlabJob(doc.e2e, store),
  'Common rules / One line': githubStep,
  CircleCI: circleci,
  Jenkins: jenkins,
  'Azure Pipelines': azure,
  'Bitbucket Pipelines': bitbucket,
  Buildkite: buildkite,
  Lockfiles: (doc, store) => withoutInstalling(gitlabJob(doc.e2e, store)),
  'GitHub Actions / Matrix jobs': ({ steps }, store) => githubStep(steps, store, '{"environment":"staging"}'),
  'Several gates / GitHub Actions': withGates(githubAction),
  'Several gates / GitLab CI': withGates((doc, store) => gitlabJob(doc.e2e, store)),
  'Several gates / Jenkins': withGates(jenkins),
};

const found = [
  ...pipelineSnippets(),
  ...onGates
    .filter(({ language }) => ['yaml', 'groovy'].includes(language))
    .map((snippet) => ({ ...snippet, name: snippet.name.replace('Pipelines', 'Several gates') })),
];
function stepOf(name: string, store: Store): Step {
  const snippet = found.find((one) => one.name === name);
  if (snippet === undefined) throw new Error(`no snippet: ${name}`);
  const reader = readers[name];
  if (reader === undefined) throw new Error(`no reader for the snippet: ${name}`);
  return reader(snippet.language === 'yaml' ? yaml(snippet.text) : snippet.text, store);
}

async function withMock(
  outcome: 'passed' | 'failed' | 'stuck',
  use: (mock: MockServer, store: Store, folder: string) => Promise<void>,
): Promise<void> {
  const mock = await startMock({ outcome, duration: 100, retryAfterSeconds: 0.1 });
  const folder = workspace();
  try {
    await use(mock, { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey }, folder);
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Limits the step to two status reads, for a run that never ends. */
function withTwoReads(step: Step): Step {
  const more = '--max-attempts 2';
  const env = { ...step.env, 'INPUT_MAX-ATTEMPTS': '2', RUNGATE_ARGS: `${step.env.RUNGATE_ARGS} ${more}` };
  return { ...step, script: step.script?.replace(/ gate\b/, `$& ${more}`) ?? null, env };
}

/** Runs a step to its end and returns its exit code. Deletes the journal, as if each step ran on another machine. */
async function codeOf(step: Step, folder: string): Promise<number | null> {
  const { code } = await run(step, folder).ended;
  for (const file of readdirSync(folder)) if (file.endsWith('.journal')) rmSync(join(folder, file));
  return code;
}

const retry = (step: Step): Step => ({ ...step, env: { ...step.env, ...step.retried } });

const placeholderStore: Store = {
  RUNGATE_API_URL: 'https://service.example.com',
  RUNGATE_API_KEY: 'a key of the store',
};
const names = Object.keys(readers);

/** How many runs a step creates if they all pass, and how the log calls those that it creates at once. */
const runsOf = ({ projectFile }: Step) =>
  projectFile === undefined ? { all: 1, first: [''] } : { all: 3, first: ['api: ', 'perf: '] };

it('every snippet has a reader here, and every reader a snippet', () => {
  expect(found.map((snippet) => snippet.name).sort()).toEqual([...names].sort());
  expect(new Set(found.map((snippet) => snippet.language))).toEqual(new Set(['yaml', 'groovy']));
});

it('every block without a gate is valid YAML', () => {
  expect(pipelineParts().length).toBeGreaterThan(2);
  for (const { name, text } of pipelineParts()) expect(yaml(text), name).toBeTypeOf('object');
});

it('no snippet contains a key', () => {
  for (const { name, text } of found) {
    expect(text, name).not.toMatch(/RUNGATE_API_KEY\s*[:=]\s*['"]?(rg_|[A-Za-z0-9]{16})/);
  }
});

it.each(names)('%s: replaces the shell, and has a job timeout above that of its gate', (name) => {
  const { script, env, limit, projectFile } = stepOf(name, placeholderStore);
  expect(env).toMatchObject(script === null ? {} : placeholderStore);
  const { timeout = '60m' } = JSON.parse(projectFile ?? '{}');
  const minutes = Number(/^(\d+)m$/.exec(timeout)?.[1]);
  // Each gate has its own timeout, so one that needs another may end after two.
  const inTurn = projectFile === undefined ? 1 : 2;
  if (limit !== null) expect(limit).toBeGreaterThan(inTurn * minutes);
  if (script === null) return;
  // It is the last command, and replaces the shell; nothing may come before, behind or after it on the line.
  const last = script.trim().split('\n').at(-1);
  expect(last).toMatch(
    /^exec npx (--yes ("\$RUNGATE_PACKAGE"|rungate@[\d.]+)|--no-install rungate) gate [^|&;]*$/,
  );
});

describe.concurrent.each(names)('%s', (name) => {
  it.each([
    ['passed', 0],
    ['failed', 1],
  ] as const)('%s: exits with %i and writes its reports', (outcome, code) =>
    withMock(outcome, async (mock, store, folder) => {
      const step = stepOf(name, store);
      const ended = await run(step, folder).ended;
      expect(ended.code, ended.out + ended.err).toBe(code);
      const { all, first } = runsOf(step);
      expect(mock.state.runs.size).toBe(outcome === 'passed' ? all : first.length);
      for (const path of step.artifacts) {
        expect(existsSync(join(folder, path)), path).toBe(true);
        if (!/\.\w+$/.test(path)) expect(readdirSync(join(folder, path))).not.toEqual([]);
      }
      expect((ended.out + ended.err).replace(/^::add-mask::.*$/m, '')).not.toContain(mock.apiKey);
      if (outcome === 'passed' || step.retried === null) return;
      expect(await codeOf(retry(step), folder)).toBe(1);
      expect(mock.state.runs.size, 'a retry does not reuse a run that has ended').toBe(2 * first.length);
    }),
  );

  it('cancels its runs on SIGTERM', () =>
    withMock('stuck', async (mock, store, folder) => {
      const step = stepOf(name, store);
      const { first } = runsOf(step);
      const running = run(step, folder, 'real');
      for (const gate of first) await running.shows(new RegExp(`${gate}.*in_progress`));
      running.child.kill('SIGTERM');
      // The pipes stay open until rungate has ended, even if its parent ended before.
      await running.ended;
      expect([...mock.state.runs.values()].map((one) => one.cancelled?.reason)).toEqual(
        // Of a shell that does not pass the signal on, rungate only sees the end.
        first.map(() => expect.stringMatching(/SIGTERM|has ended/)),
      );
    }));

  it('fails without a key', () =>
    withMock('passed', async (mock, store, folder) => {
      const step = stepOf(name, { ...store, RUNGATE_API_KEY: '' });
      const ended = await run(step, folder).ended;
      expect(ended.code, ended.out + ended.err).toBe(step.script === null ? 78 : 6);
      expect(mock.state.runs.size).toBe(0);
    }));
});

it('on a Jenkins agent whose HOME is /, the npm cache is in the workspace', () =>
  withMock('passed', async (_mock, store, folder) => {
    const step = stepOf('Jenkins', store);
    const ended = await run({ ...step, env: { ...step.env, HOME: '/' } }, folder, 'real').ended;
    expect(ended.code, ended.out + ended.err).toBe(0);
    expect(readdirSync(join(folder, '.npm'))).not.toEqual([]);
  }));

describe.concurrent.each(names.filter((name) => stepOf(name, placeholderStore).retried !== null))(
  '%s, retried',
  (name) => {
    it('attaches to its runs while they continue', () =>
      withMock('stuck', async (mock, store, folder) => {
        const step = withTwoReads(stepOf(name, store));
        expect(await codeOf(step, folder)).toBe(3);
        expect(await codeOf(retry(step), folder)).toBe(3);
        expect(mock.state.runs.size).toBe(runsOf(step).first.length);
      }));
  },
);

it('each cell of a matrix starts its own run', () =>
  withMock('stuck', async (mock, store, folder) => {
    const { text = '' } = found.find(({ name }) => name === 'GitHub Actions / Matrix jobs') ?? {};
    for (const cell of ['{"environment":"staging"}', '{"environment":"canary"}'])
      expect(await codeOf(withTwoReads(githubStep(yaml(text).steps, store, cell)), folder)).toBe(3);
    expect(mock.state.runs.size).toBe(2);
  }));
