import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import MarkdownIt from 'markdown-it';
import { describe, expect, it, vi } from 'vitest';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { installInto, root, start } from '../e2e/built.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a YAML file holds is looked at key by key, and missing keys fail the test.
type Yaml = any;
type Env = Record<string, string>;

/** What a CI makes of a snippet: which shell text it runs, how, with what in its environment, and what it keeps. */
interface Step {
  /** The job's shell lines; null where it is the action that runs. */
  script: string | null;
  /** The command that the CI runs the text with; `file` holds the text. */
  shell: (file: string, script: string) => string[];
  env: Env;
  /** The job's own limit in minutes; null where the CI has none. */
  limit: number | null;
  /** Files or folders that the CI collects. */
  kept: string[];
  /** What differs when the job is tried again; null where that is another build. */
  retried: Env | null;
}

/** What the CI's store of secrets and variables holds. */
interface Store {
  RUNGATE_API_URL: string;
  RUNGATE_API_KEY: string;
}

const bash = (file: string) => ['bash', '-e', file];
const lines = (script: string | string[]) => [script].flat().join('\n');

/** `${{ … }}` as GitHub's runner fills it in. */
function github(text: string, store: Store, cell: string): string {
  return String(text).replaceAll(/\$\{\{ (.+?) \}\}/g, (_, expression) => {
    const values: Env = {
      'vars.RUNGATE_API_URL': store.RUNGATE_API_URL,
      'secrets.RUNGATE_API_KEY': store.RUNGATE_API_KEY,
      'toJSON(matrix)': cell,
    };
    const value = values[expression];
    if (value === undefined) throw new Error(`no such thing in the store: ${expression}`);
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
  const [step] = e2e.steps;
  const env = Object.entries<string>({ ...e2e.env, ...step.env }).map(([name, value]) => [
    name,
    github(value, store, cell),
  ]);
  return {
    script: step.run,
    shell: bash,
    env: { ...githubEnv, ...Object.fromEntries(env) },
    limit: e2e['timeout-minutes'],
    kept: ['rungate.xml'],
    retried: githubRetried,
  };
}

function githubAction(doc: Yaml, store: Store): Step {
  const { e2e } = doc.jobs;
  const [action, upload] = e2e.steps;
  const { inputs } = yaml(read('action.yml'));
  const given: Env = { ...action.with };
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given)));
  expect(upload.if).toBe('always()');
  const filled = Object.entries<{ default?: string }>(inputs).flatMap(([name, input]) => {
    const value = given[name] ?? input.default;
    return value === undefined ? [] : [[`INPUT_${name.toUpperCase()}`, github(String(value), store, 'null')]];
  });
  return {
    script: null,
    shell: () => ['node', join(root, 'action/main.js')],
    env: { ...githubEnv, ...Object.fromEntries(filled) },
    limit: e2e['timeout-minutes'],
    kept: [upload.with.path],
    retried: githubRetried,
  };
}

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
    kept: [...Object.values<string>(job.artifacts.reports), ...(job.artifacts.paths ?? [])],
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
    kept: [results.store_test_results.path, artifacts.store_artifacts.path],
    retried: { CIRCLE_WORKFLOW_ID: 'w2', CIRCLE_WORKFLOW_JOB_ID: 'j2' },
  };
}

/** A Jenkinsfile has no parser here: its brackets and quotes must balance, and what is asked for must be there once. */
function jenkins(text: string, store: Store): Step {
  const once = (pattern: RegExp): string => {
    const found = [...text.matchAll(new RegExp(pattern, 'g'))];
    expect(found, String(pattern)).toHaveLength(1);
    return String(found[0]?.[1]);
  };
  const code = text.replaceAll(/'[^'\n]*'/g, '');
  expect(code).not.toMatch(/['"]/);
  const open: string[] = [];
  for (const [bracket] of code.matchAll(/[{}()[\]]/g)) {
    if ('{(['.includes(bracket)) open.push(bracket);
    else expect(`${open.pop()}${bracket}`).toMatch(/^(\{\}|\(\)|\[\])$/);
  }
  expect(open).toEqual([]);
  once(/RUNGATE_API_URL = '(https:\/\/[^']+)'/);
  once(/RUNGATE_API_KEY = credentials\('([^']+)'\)/);
  once(/post \{\s+always \{ (junit) /);
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
    kept: [once(/junit '([^']+)'/)],
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
    // Without -e: only the last command counts.
    shell: (file) => ['bash', '--noprofile', '--norc', file],
    env: { TF_BUILD: 'True', BUILD_BUILDID: '7', SYSTEM_JOBATTEMPT: '1', ...Object.fromEntries(env) },
    limit: job.timeoutInMinutes,
    kept: [results.inputs.testResultsFiles],
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
    kept: step.artifacts.map((path: string) => path.replace('/**', '')),
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
    kept: step.artifact_paths,
    retried: { BUILDKITE_RETRY_COUNT: '1' },
  };
}

/** rungate is installed where these steps run; `test/long/npx.test.ts` installs it from a lockfile. */
function withoutInstalling(step: Step): Step {
  const install = 'npm ci --ignore-scripts\n';
  expect(step.script).toContain(install);
  return { ...step, script: step.script?.replace(install, '') ?? null };
}

/** A row for every snippet, by the headings over it. */
const rows: Record<string, (doc: Yaml, store: Store) => Step> = {
  'GitHub Actions / The action': githubAction,
  'GitHub Actions / The plain command': githubRun,
  'GitLab CI / The template': gitlabTemplate,
  'GitLab CI / The plain command': (doc, store) => gitlabJob(doc.e2e, store),
  CircleCI: circleci,
  Jenkins: jenkins,
  'Azure Pipelines': azure,
  'Bitbucket Pipelines': bitbucket,
  Buildkite: buildkite,
  'From the lockfile': (doc, store) => withoutInstalling(gitlabJob(doc.e2e, store)),
  'Matrix jobs': (doc, store) => ({ ...githubRun(doc, store, '{"environment":"staging"}'), kept: [] }),
};

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
function yaml(text: string): Yaml {
  return parseYaml(text);
}

/** Every block of code of the page, by the headings over it. */
function snippets(): { name: string; language: string; text: string }[] {
  const headings: string[] = [];
  return new MarkdownIt().parse(read('docs/ci.md'), {}).flatMap((token, index, all) => {
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1)) - 2;
      if (level >= 0) headings.splice(level, headings.length, all[index + 1]?.content ?? '');
    }
    if (token.type !== 'fence' && token.type !== 'code_block') return [];
    return [{ name: headings.join(' / '), language: token.info, text: token.content }];
  });
}

const found = snippets();
function stepOf(name: string, store: Store): Step {
  const snippet = found.find((one) => one.name === name);
  if (snippet === undefined) throw new Error(`no snippet: ${name}`);
  const row = rows[name];
  if (row === undefined) throw new Error(`no row for the snippet: ${name}`);
  return row(snippet.language === 'yaml' ? yaml(snippet.text) : snippet.text, store);
}

/** A folder as a job finds it, where the real npx finds the built rungate as a package's own command. */
function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-docs-'));
  const command = installInto(folder);
  // The real npx takes half a second to do what these two lines do; only stopping asks how it behaves.
  const npx = join(folder, 'quick/npx');
  mkdirSync(dirname(npx));
  writeFileSync(npx, `#!/bin/sh\nshift 2\nexec '${command}' "$@"\n`);
  chmodSync(npx, 0o755);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  return folder;
}

/** Runs a step as its CI does, with nothing in its environment but what the CI puts there. */
function run(step: Step, folder: string, npx: 'real' | 'quick' = 'quick') {
  const file = join(folder, 'step.sh');
  writeFileSync(file, `${step.script}\n`);
  const env: Env = {
    PATH: [
      ...(npx === 'quick' ? [join(folder, 'quick')] : []),
      dirname(process.execPath),
      process.env.PATH,
    ].join(':'),
    HOME: folder,
    TMPDIR: folder,
    RUNNER_TEMP: folder,
    CI: 'true',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...step.env,
  };
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return start('env', ['-i', ...words, ...step.shell(file, String(step.script))], {}, folder);
}

async function staged(
  outcome: 'passed' | 'failed' | 'stuck',
  use: (mock: Mock, store: Store, folder: string) => Promise<void>,
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

/** The same step, which gives up on a run that never ends. */
function impatient(step: Step): Step {
  const more = '--max-attempts 2';
  const env = { ...step.env, 'INPUT_MAX-ATTEMPTS': '2', RUNGATE_ARGS: `${step.env.RUNGATE_ARGS} ${more}` };
  return { ...step, script: step.script?.replace(' --timeout 45m', ` $& ${more}`) ?? null, env };
}

/** Runs a step to its end, on a machine that remembers nothing of the step before. */
async function codeOf(step: Step, folder: string): Promise<number | null> {
  const { code } = await run(step, folder).ended;
  for (const file of readdirSync(folder)) if (file.endsWith('.journal')) rmSync(join(folder, file));
  return code;
}

const again = (step: Step): Step => ({ ...step, env: { ...step.env, ...step.retried } });

vi.setConfig({ testTimeout: 60_000 });

const nowhere: Store = {
  RUNGATE_API_URL: 'https://service.example.com',
  RUNGATE_API_KEY: 'a key of the store',
};
const names = Object.keys(rows);

it('every snippet has a row here, and every row a snippet', () => {
  expect(found.map((snippet) => snippet.name).sort()).toEqual([...names].sort());
  expect(new Set(found.map((snippet) => snippet.language))).toEqual(new Set(['yaml', 'groovy']));
});

it('no snippet holds a key, or is longer than a screen', () => {
  for (const { name, text } of found) {
    expect(text, name).not.toMatch(/RUNGATE_API_KEY\s*[:=]\s*['"]?(rg_|[A-Za-z0-9]{16})/);
    expect(text.split('\n').length, name).toBeLessThan(40);
  }
});

it.each(names)('%s: strict, a clean stop, and a limit above its timeout', (name) => {
  const { script, env, limit } = stepOf(name, nowhere);
  expect(env).toMatchObject(script === null ? {} : nowhere);
  const timeout =
    script === null
      ? env.INPUT_TIMEOUT
      : /--timeout "?([^ "]+)/.exec(script)?.[1]?.replace('$RUNGATE_TIMEOUT', env.RUNGATE_TIMEOUT ?? '');
  const minutes = Number(/^(\d+)m$/.exec(timeout ?? '')?.[1]);
  expect(minutes).toBeGreaterThan(0);
  if (limit !== null) expect(limit).toBeGreaterThan(minutes);
  if (script === null) {
    expect(env.INPUT_STRICT).toBe('true');
    return;
  }
  expect(script).toMatch(/ --strict\b/);
  // The last command of the shell, and in the place of the shell: nothing is in front of it, behind it or after it.
  const last = script.trim().split('\n').at(-1);
  expect(last).toMatch(
    /^exec npx (--yes ("\$RUNGATE_PACKAGE"|rungate@[\d.]+)|--no-install rungate) run trigger --wait --strict [^|&;]*$/,
  );
});

it('pull requests from forks are left out where they would come without secrets', () => {
  for (const name of names.filter((one) => one.startsWith('GitHub'))) {
    const doc = yaml(found.find((snippet) => snippet.name === name)?.text ?? '');
    expect(doc.on).toContain('pull_request');
    expect(doc.jobs.e2e.if).toContain('head.repo.full_name == github.repository');
  }
  expect(found.map((snippet) => snippet.text).join('\n')).not.toContain('pull_request_target');
});

describe.concurrent.each(names)('%s', (name) => {
  it.each([
    ['passed', 0],
    ['failed', 1],
  ] as const)('%s: exits %i, and keeps its reports', (outcome, code) =>
    staged(outcome, async (mock, store, folder) => {
      const step = stepOf(name, store);
      const ended = await run(step, folder).ended;
      expect(ended.code, ended.out + ended.err).toBe(code);
      expect(mock.state.runs.size).toBe(1);
      for (const path of step.kept) {
        expect(existsSync(join(folder, path)), path).toBe(true);
        if (!/\.\w+$/.test(path)) expect(readdirSync(join(folder, path))).not.toEqual([]);
      }
      expect((ended.out + ended.err).replace(/^::add-mask::.*$/m, '')).not.toContain(mock.apiKey);
      if (outcome === 'passed' || step.retried === null) return;
      expect(await codeOf(again(step), folder)).toBe(1);
      expect(mock.state.runs.size, 'a run that has ended is never taken again').toBe(2);
    }),
  );

  it('stopped by SIGTERM: leaves no run going', () =>
    staged('stuck', async (mock, store, folder) => {
      const running = run(stepOf(name, store), folder, 'real');
      await running.shows(/in_progress/);
      running.child.kill('SIGTERM');
      // The pipes stay open until rungate has ended too, also when it has lost its parent.
      await running.ended;
      expect([...mock.state.runs.values()].map((one) => one.cancelled?.reason)).toEqual([
        expect.stringContaining('SIGTERM'),
      ]);
    }));

  it('without a key: red, not green', () =>
    staged('passed', async (mock, store, folder) => {
      const ended = await run(stepOf(name, { ...store, RUNGATE_API_KEY: '' }), folder).ended;
      expect(ended.code, ended.out + ended.err).toBe(name.endsWith('The action') ? 78 : 6);
      expect(mock.state.runs.size).toBe(0);
    }));
});

it('a Jenkins agent whose HOME is / keeps the cache of npm in the workspace', () =>
  staged('passed', async (_mock, store, folder) => {
    const step = stepOf('Jenkins', store);
    const ended = await run({ ...step, env: { ...step.env, HOME: '/' } }, folder, 'real').ended;
    expect(ended.code, ended.out + ended.err).toBe(0);
    expect(readdirSync(join(folder, '.npm'))).not.toEqual([]);
  }));

describe.concurrent.each(names.filter((name) => stepOf(name, nowhere).retried !== null))(
  '%s, retried',
  (name) => {
    it('attaches to its run while that goes on', () =>
      staged('stuck', async (mock, store, folder) => {
        const step = impatient(stepOf(name, store));
        expect(await codeOf(step, folder)).toBe(3);
        expect(await codeOf(again(step), folder)).toBe(3);
        expect(mock.state.runs.size).toBe(1);
      }));
  },
);

it('two cells of a matrix start a run each', () =>
  staged('stuck', async (mock, store, folder) => {
    const doc = yaml(found.find((snippet) => snippet.name === 'Matrix jobs')?.text ?? '');
    for (const cell of ['{"environment":"staging"}', '{"environment":"canary"}'])
      expect(await codeOf(impatient(githubRun(doc, store, cell)), folder)).toBe(3);
    expect(mock.state.runs.size).toBe(2);
  }));
