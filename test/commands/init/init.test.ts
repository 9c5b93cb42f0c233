import { parseYaml } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/ci/context.ts';
import { pipelines, resumePipeline } from '../../../src/ci/pipelines.ts';
import { resumeInput } from '../../../src/gate/detached/protocol.ts';
import { version } from '../../../src/version.ts';
import { cli, type Settings } from '../../cli/harness.ts';
import type { Yaml } from '../../docs/ci-job.ts';
import { createSettingsSchema } from '../../generated/settings-schema.ts';

const remote = 'git@github.com:acme/shop.git';
const file = '/repo/.rungate.json';
const workflow = '/repo/.github/workflows/rungate.yml';

/** Returns an in-memory repository at /repo, isolated from the machine that runs the tests. */
function repository(more: Settings = {}): Settings & { files: Record<string, string> } {
  const files = { '/repo/.git': '', ...(more.files as Record<string, string>) };
  const captured = (command: readonly string[]) => (command.includes('remote.origin.url') ? remote : null);
  return { cwd: '/repo', captured, ...more, files };
}

/** The variables of a detached gate. */
const hubEnv = {
  RUNGATE_HUB_URL: '${{ vars.RUNGATE_HUB_URL }}',
  RUNGATE_HUB_TOKEN: '${{ secrets.RUNGATE_HUB_TOKEN }}',
  RUNGATE_GITHUB_TOKEN: '${{ github.token }}',
};
const flags = ['--project', 'shop', '--process', 'checkout'] as const;

/** Returns the input for each prompt in turn, and undefined after the last. */
function person(...answers: (string | undefined)[]) {
  const questions: string[] = [];
  return {
    questions,
    answer(question: string) {
      questions.push(question);
      return questions.length > answers.length ? '' : answers[questions.length - 1];
    },
  };
}

const valid = new Ajv({ formats: { uri: true }, allowUnionTypes: true, strictRequired: false }).compile(
  createSettingsSchema(),
);

describe('rungate init with options', () => {
  it('writes the project file and the pipeline, and lists the next steps', async () => {
    const world = repository();
    const { code, out, err } = await cli(['init', ...flags], world);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'wrote .rungate.json\nwrote .github/workflows/rungate.yml\n',
    });
    expect(err).toMatch(/secret RUNGATE_API_KEY[\s\S]*RUNGATE_API_URL[\s\S]* gate\n/);
    expect(err).toContain('mock exec --retry-after 1 -- ');
    expect(JSON.parse(world.files[file] ?? '')).toEqual({
      project: 'shop',
      process: 'checkout',
    });
    expect(world.files[workflow]).toContain('actions/checkout');
  });

  it('never writes a secret or a personal setting', async () => {
    const env = {
      RUNGATE_API_KEY: 'rg_1234567890abcdef',
      RUNGATE_API_URL: 'https://mine.example',
      RUNGATE_ENVIRONMENT: 'my-laptop',
    };
    const world = repository({ env });
    const { out, err } = await cli(['init', ...flags], world);
    const everything = JSON.stringify(world.files) + out + err;
    expect(everything).not.toMatch(/rg_1234567890abcdef|mine\.example|my-laptop/);
  });

  it('shows the files with --dry-run without writing them', async () => {
    const world = repository();
    const { code, out } = await cli(['init', ...flags, '--dry-run'], world);
    expect(code).toBe(0);
    expect(out).toMatch(
      /would write \.rungate\.json\n[\s\S]*"project": "shop"[\s\S]*would write \.github[\s\S]*npx --yes rungate@/,
    );
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('the workflow for GitHub', () => {
  /** Returns the workflow of a repository in which git gives these answers. */
  const workflowFor = async (answers: Record<string, string>, options: readonly string[] = []) => {
    const captured = (command: readonly string[]) => answers[command.slice(1).join(' ')] ?? null;
    const world = repository({ captured });
    const { code, err } = await cli(['init', ...flags, '--ci', 'github', ...options], world);
    expect(code, err).toBe(0);
    return world.files[workflow] ?? '';
  };
  const originHead = 'symbolic-ref --short --quiet refs/remotes/origin/HEAD';
  const configured = 'config --get init.defaultBranch';
  const local = (name: string) => ({ [`rev-parse --verify --quiet refs/heads/${name}`]: 'a'.repeat(40) });

  it.each<[string, Record<string, string>, string]>([
    ['that of the remote', { [originHead]: 'origin/release/next\n', ...local('main') }, 'release/next'],
    ['the configured one', { [configured]: 'trunk\n', ...local('trunk'), ...local('main') }, 'trunk'],
    ['main, if the configured one does not exist', { [configured]: 'trunk', ...local('main') }, 'main'],
    ['one that YAML would misread', { [originHead]: "origin/#1's" }, "'#1''s'"],
  ])('starts for pushes to the default branch: %s', async (_what, answers, branch) => {
    expect(await workflowFor(answers)).toContain(
      `on:\n  push:\n    branches: [${branch}]\n  pull_request:\n  merge_group:\n  workflow_dispatch:\n`,
    );
  });

  it('is kept with a warning if a condition can skip its gate, and replaced with --force', async () => {
    const old =
      "on: pull_request\njobs:\n  e2e:\n    if: github.actor != 'x'\n    steps:\n      - run: npx rungate gate\n";
    const captured = (command: readonly string[]) =>
      command.includes('ls-files') ? '.github/workflows/rungate.yml\0' : null;
    const world = repository({ files: { [workflow]: old }, captured });
    const kept = await cli(['init', ...flags, '--ci', 'github'], world);
    expect(kept.code).toBe(0);
    expect(kept.err).toContain(
      "warning: .github/workflows/rungate.yml skips the gate in the job e2e unless github.actor != 'x'\n  → GitHub counts a skipped job as success",
    );
    for (const queue of [[], ['--merge-queue']]) {
      const replaced = await cli(['init', ...flags, '--ci', 'github', '--force', ...queue], world);
      expect(replaced.err).not.toContain('warning');
    }
  });
});

describe('init --detach', () => {
  const resume = `/repo/${resumePipeline.file}`;
  const detach = ['init', ...flags, '--ci', 'github', '--detach'];

  it('writes the workflow of the gate and the one that a hub starts, and lists what a person must do', async () => {
    const world = repository();
    const { code, out, err } = await cli(detach, world);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'wrote .rungate.json\nwrote .github/workflows/rungate.yml\nwrote .github/workflows/rungate-resume.yml\n',
    });
    for (const step of [
      /secret RUNGATE_HUB_TOKEN, and a variable RUNGATE_HUB_URL/,
      /RUNGATE_GITHUB_TOKEN, a token of GitHub with actions: write/,
      /merge .*first \.github\/workflows\/rungate-resume\.yml: .* on main\n/,
      /require .*: "rungate: shop \/ checkout"\n/,
    ])
      expect(err).toMatch(step);
    expect((await cli(detach, world)).out).toBe(
      'unchanged: .rungate.json\nunchanged: .github/workflows/rungate.yml\nunchanged: .github/workflows/rungate-resume.yml\n',
    );
  });

  it('shows both workflows with --dry-run', async () => {
    const world = repository();
    const { code, out } = await cli([...detach, '--dry-run'], world);
    expect(code).toBe(0);
    expect(out).toMatch(
      /would write \.github\/workflows\/rungate\.yml\n[\s\S]* gate --detach\n[\s\S]*would write \.github\/workflows\/rungate-resume\.yml\n[\s\S]* gate --resume "\$ID"\n/,
    );
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });

  it('starts the gate only for pull requests and merge queues, with no other permission than it uses', async () => {
    const world = repository();
    await cli(detach, world);
    const written = parseYaml(world.files[workflow] ?? '') as Yaml;
    expect(written.on).toEqual({ pull_request: null, merge_group: null });
    expect(written.permissions).toEqual({ contents: 'read', statuses: 'write' });
    const [job, ...others] = Object.values<Yaml>(written.jobs);
    expect([others, job.permissions, job.if]).toEqual([[], undefined, undefined]);
    expect(job.steps.at(-1)).toEqual({
      run: expect.stringMatching(/^exec npx --yes rungate@[\d.]+ gate --detach$/),
      env: {
        RUNGATE_API_URL: '${{ vars.RUNGATE_API_URL }}',
        RUNGATE_API_KEY: '${{ secrets.RUNGATE_API_KEY }}',
        ...hubEnv,
      },
    });
  });

  it('goes on with the gate that the hub names, without a checkout, and passes the id as data', async () => {
    const world = repository();
    await cli(detach, world);
    const written = parseYaml(world.files[resume] ?? '') as Yaml;
    expect(written.on).toEqual({
      workflow_dispatch: {
        inputs: { [resumeInput]: expect.objectContaining({ required: true, type: 'string' }) },
      },
    });
    expect(written.permissions).toEqual({ statuses: 'write' });
    expect(written['run-name']).toContain(`\${{ inputs.${resumeInput} }}`);
    const [job, ...others] = Object.values<Yaml>(written.jobs);
    expect([others, job.permissions, job['timeout-minutes']]).toEqual([[], undefined, 10]);
    expect(job.steps).toEqual([
      {
        run: `exec npx --yes rungate@${version} gate --resume "$ID"`,
        env: {
          ID: `\${{ inputs.${resumeInput} }}`,
          RUNGATE_API_KEY: '${{ secrets.RUNGATE_API_KEY }}',
          ...hubEnv,
        },
      },
    ]);
  });

  it.each<[string, object, string | RegExp]>([
    ['of tags', { project: 'shop', tags: ['smoke', 'cart'] }, '"rungate: shop / smoke, cart"'],
    [
      'of gates, in the order in which they run',
      { project: 'shop', gates: { web: { process: 'web', needs: ['api'] }, api: { process: 'api' } } },
      '"rungate: api, web"',
    ],
    [
      'that depends on the branch',
      { project: 'shop', process: 'checkout', branches: { main: { process: 'all' } } },
      /require .*: the commit status that the first gate names\n/,
    ],
  ])('names the status %s', async (_what, fields, name) => {
    const world = repository({ files: { [file]: JSON.stringify(fields) } });
    const { code, err } = await cli(['init', '--ci', 'github', '--detach'], world);
    expect(code, err).toBe(0);
    expect(err).toMatch(name);
  });

  it('writes one workflow for the hub in a repository with several packages', async () => {
    const files = { '/repo/packages/web/package.json': '{}', '/repo/packages/api/package.json': '{}' };
    const world = repository({ files });
    for (const name of ['web', 'api']) {
      const { code } = await cli(detach, { ...world, cwd: `/repo/packages/${name}` });
      expect(code).toBe(0);
    }
    expect(Object.keys(world.files).filter((path) => path.includes('workflows'))).toEqual([
      '/repo/.github/workflows/rungate-packages-web.yml',
      resume,
      '/repo/.github/workflows/rungate-packages-api.yml',
    ]);
  });

  it('does not replace a workflow of that name with other content, and shows what to write there', async () => {
    const world = repository({ files: { [resume]: 'name: mine\n' } });
    const { code, out } = await cli([...detach, '--force'], world);
    expect(code).toBe(0);
    expect(out).toContain(
      'add this, or replace an earlier version with it, in .github/workflows/rungate-resume.yml\n\nname: rungate-resume\n',
    );
    expect(world.files[resume]).toBe('name: mine\n');
  });

  it.each<[string, readonly string[], RegExp]>([
    ['another CI', ['--ci', 'gitlab'], /--detach has no effect with --ci gitlab/],
    ['no CI', ['--ci', 'none'], /--detach has no effect with --ci none/],
    ['a merge queue for forks', ['--ci', 'github', '--merge-queue'], /--detach and --merge-queue cannot be/],
    ['the skill', ['--skill'], /--skill and --\w+ cannot be combined/],
  ])('refuses %s, and writes nothing', async (_what, more, message) => {
    const world = repository();
    const given = more[0] === '--skill' ? [] : flags;
    const { code, out, err } = await cli(['init', ...given, '--detach', ...more], world);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('a .gitlab-ci.yml with its own stages', () => {
  const path = '/repo/.gitlab-ci.yml';

  it.each<[string, string, string | null]>([
    ['that include test', 'stages: [build, test]\n', null],
    [
      'in a list without indentation',
      'stages: # in order\n- "build" # 1\n# 2\n\n- deploy\nbuild: {}\n',
      'deploy',
    ],
    ['of another file only', 'include: [stages.yml]\nbuild:\n  stages: [x]\n', null],
  ])('%s', async (_what, text, stage) => {
    const world = repository({ files: { [path]: text } });
    const { out } = await cli(['init', ...flags, '--ci', 'gitlab'], world);
    const shown = stage === null ? '' : `  stage: ${stage}\n`;
    expect(out).toContain(
      `add this, or replace an earlier version with it, in .gitlab-ci.yml\n\ne2e:\n${shown}  image:`,
    );
    // The user adds the job, and init finds it.
    world.files[path] += out.slice(out.indexOf('e2e:\n'), -1);
    expect((await cli(['init', ...flags, '--ci', 'gitlab'], world)).out).toContain(
      'unchanged: .gitlab-ci.yml',
    );
  });
});

it('rungate is installed from the lockfile in the pipeline, and npx installs no other version', async () => {
  const manifest = JSON.stringify({ devDependencies: { rungate: '^0.1.0' }, packageManager: 'pnpm@10.1.0' });
  const world = repository({ files: { '/repo/package.json': manifest, '/repo/package-lock.json': '' } });
  const { code, err } = await cli(['init', ...flags], world);
  expect(code).toBe(0);
  expect(world.files[workflow]).toMatch(
    /- run: npm ci --ignore-scripts\n(?: {6}#.*\n)+ {6}- run: exec npx --no-install rungate gate\n/,
  );
  expect(err).not.toContain('lockfile');
  expect(err).toContain('they contain no secret, and\n           package.json, package-lock.json\n');
});

describe('the timeout of the project file', () => {
  const shop = { project: 'shop', process: 'checkout' };
  const limits: Partial<Record<Provider, string>> = {
    github: 'timeout-minutes: 105',
    gitlab: 'timeout: 105 minutes',
    jenkins: 'time: 105,',
    azure: 'timeoutInMinutes: 105',
    bitbucket: 'max-time: 105',
    buildkite: 'timeout_in_minutes: 105',
  };

  it.each(pipelines)('is shorter than that of the job in the pipeline for $title', async (pipeline) => {
    const world = repository({ files: { [file]: JSON.stringify({ ...shop, timeout: '90m' }) } });
    expect((await cli(['init', '--ci', pipeline.provider], world)).code).toBe(0);
    expect(world.files[`/repo/${pipeline.file}`]).toContain(limits[pipeline.provider] ?? '');
  });
});

describe('several gates', () => {
  const several = ['--project', 'shop', '--gates', 'api,web', '--gates', 'mobile'] as const;
  const gates = { api: { process: 'api' }, web: { process: 'web' }, mobile: { process: 'mobile' } };
  const held = { project: 'shop', gates: { api: { process: 'api', retries: 1 }, web: { tags: ['web'] } } };
  const withFile = (fields: object, more: Settings = {}) =>
    repository({ ...more, files: { [file]: JSON.stringify(fields) } });
  const read = (world: { files: Record<string, string> }, path = file) => JSON.parse(world.files[path] ?? '');

  it.each(pipelines)('are written as gates, and the pipeline for $title runs them', async (pipeline) => {
    const world = repository();
    const { code, err } = await cli(['init', ...several, '--ci', pipeline.provider], world);
    expect(code, err).toBe(0);
    expect(read(world)).toEqual({ project: 'shop', gates });
    expect(valid(read(world)), JSON.stringify(valid.errors)).toBe(true);
    const text = world.files[`/repo/${pipeline.file}`] ?? '';
    expect(text).toMatch(/exec npx --yes rungate@[\d.]+ gate\b/);
    expect(text).not.toMatch(/--process|--strict|--timeout/);
    expect(err).toMatch(/ gate\n {2}offline .* gate\n/);
    expect((await cli(['init', ...several, '--ci', pipeline.provider], world)).out).toBe(
      `unchanged: .rungate.json\nunchanged: ${pipeline.file}\n`,
    );
    expect(world.files[`/repo/${pipeline.file}`]).toBe(text);
  });

  it('of an existing file are run by the pipeline, and need no other settings', async () => {
    const { project: _, ...gated } = held;
    for (const fields of [held, gated]) {
      const world = withFile(fields);
      const { code, out } = await cli(['init'], world);
      expect({ code, out }).toEqual({
        code: 0,
        out: 'unchanged: .rungate.json\nwrote .github/workflows/rungate.yml\n',
      });
      expect(world.files[workflow]).toContain(' gate\n');
      expect((await cli(['init', '--environment', 'qa', '--force'], world)).code).toBe(0);
      expect(read(world)).toEqual({ ...fields, environment: 'qa' });
    }
  });

  it.each<[string, object, number]>([
    ['60 minutes for each one of a chain', { a: {}, b: { needs: ['a'] }, c: { needs: ['b', 'a'] } }, 195],
    ['their own timeouts', { a: { timeout: '2h' }, b: { needs: ['a'], timeout: '10m' } }, 145],
  ])('have a job that allows %s', async (_what, nodes, minutes) => {
    const world = withFile({ ...held, process: 'x', gates: nodes });
    expect((await cli(['init'], world)).code).toBe(0);
    expect(world.files[workflow]).toContain(`timeout-minutes: ${minutes}\n`);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['with a process', [...several, '--process', 'a'], /--gates and --process cannot be combined/],
    ['without a file', [...several, '--pipeline-only'], /--gates.*--pipeline-only/],
    ['that cannot be names', ['--project', 'shop', '--gates', 'a b'], /"a b" is not the name of a gate/],
    ['without a project', ['--gates', 'a'], /settings are missing: the project/],
  ])('%s exit with 64, and nothing is written', async (_name, argv, message) => {
    const world = repository();
    const { code, out, err } = await cli(['init', ...argv], world);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('an existing file', () => {
  const old = '{ "project": "old", "process": "old" }';

  it('is not overwritten: init names the settings that differ and writes nothing', async () => {
    const world = repository({ files: { [file]: old } });
    const { code, err } = await cli(['init', ...flags], world);
    expect(code).toBe(64);
    expect(err).toMatch(
      /\.rungate\.json already exists with different settings: project, process\n[\s\S]*--force/,
    );
    expect(world.files).toEqual({ '/repo/.git': '', [file]: old });
  });

  describe('with --force', () => {
    const rich = {
      $schema: './own.schema.json',
      timeout: '30m',
      project: 'old',
      process: 'old',
      on: { blocked: 'warn' },
      webhook: { timestampHeader: 'X-Acme-Timestamp' },
      'run.idPointer': '/data/id',
      environment: 'staging',
      branches: { main: { tags: ['all'], strict: true }, '*': { timeout: '10m' } },
    };
    const forced = async (given: readonly string[], before: object) => {
      const world = repository({ files: { [file]: JSON.stringify(before) } });
      const { code, err } = await cli(['init', ...given, '--force'], world);
      expect(code, err).toBe(0);
      return JSON.parse(world.files[file] ?? '');
    };

    it('keeps every other setting, in its order, but replaces a process with tags, and tags with a process', async () => {
      const after = await forced(flags, rich);
      expect(after).toEqual({ ...rich, project: 'shop', process: 'checkout' });
      expect(Object.keys(after)).toEqual(Object.keys(rich));
      const { process: _, ...rest } = rich;
      const tagged = await forced(['--tag', 'smoke'], rich);
      expect(tagged).toEqual({ ...rest, tags: ['smoke'] });
      expect(await forced(['--process', 'checkout'], tagged)).toEqual({ ...rest, process: 'checkout' });
    });
  });

  it.each([[[]], [['--force']], [['--pipeline-only', '--force']]])(
    'is left alone if it is a workflow that does not run rungate, and init suggests another file, %j',
    async (more) => {
      const world = repository({ files: { [workflow]: 'name: mine\n' } });
      const { code, out } = await cli(['init', ...flags, ...more], world);
      expect(code).toBe(0);
      expect(out).toContain(
        'put this into another file, such as rungate-gate.yml; this workflow exists, and does not run rungate: .github/workflows/rungate.yml\n\nname: e2e\n',
      );
      expect(world.files[workflow]).toBe('name: mine\n');
    },
  );

  describe.each(pipelines)('the pipeline for $title that init wrote', ({ provider, file }) => {
    const path = `/repo/${file}`;
    const only = ['init', '--pipeline-only', '--ci', provider, '--project', 'shop'];
    const again = [...only, '--process', 'search'];
    const written = async () => {
      const world = repository();
      await cli([...only, '--process', 'checkout'], world);
      return { world, before: world.files[path] ?? '' };
    };

    it('is replaced by one for another process only with --force', async () => {
      const { world, before } = await written();
      for (const more of [[], ['--dry-run']]) {
        const { code, out, err } = await cli([...again, ...more], world);
        expect({ code, out }).toEqual({ code: 64, out: '' });
        expect(err).toContain(`${file} already exists with different content`);
        expect(err).toContain('--force');
      }
      expect(world.files[path]).toBe(before);
      expect((await cli([...again, '--force'], world)).out).toBe(`wrote ${file}\n`);
      expect(world.files[path]).toBe(before.replace('process checkout', 'process search'));
    });

    it.runIf(provider !== 'github')(
      'is left alone if it has other content, and init shows the job',
      async () => {
        const { world, before } = await written();
        world.files[path] = `${before}# and more\n`;
        const { code, out } = await cli([...again, '--force'], world);
        expect(code).toBe(0);
        expect(out).toContain(`replace an earlier version with it, in ${file}\n`);
        expect(world.files[path]).toBe(`${before}# and more\n`);
      },
    );
  });
});

describe('--pipeline-only', () => {
  const only = ['init', '--pipeline-only', '--ci', 'github'];

  it('writes no project file: the settings are options of the command', async () => {
    const world = repository();
    const given = ['--project', 'shop', '--tag', 'smoke,nightly', '--environment', 'qa'];
    const { code, err } = await cli([...only, ...given], world);
    expect(code).toBe(0);
    expect(Object.keys(world.files)).toEqual(['/repo/.git', workflow]);
    for (const text of [err, world.files[workflow]])
      expect(text).toContain(' gate --project shop --tag smoke --tag nightly --environment qa\n');
  });

  it.each<[string, readonly string[], RegExp]>([
    ['no project and no process', [], /settings are missing/],
    ['no CI', ['--ci', 'none', ...flags], /--pipeline-only needs a CI system/],
    [
      'an argument that a CI system might expand',
      ['--project', 'shop', '--process', 'a$(b)'],
      /--process "a\$\(b\)" has characters/,
    ],
  ])('refuses %s and writes nothing', async (_name, argv, message) => {
    const world = repository();
    const { code, err } = await cli([...only, ...argv], world);
    expect(code).toBe(64);
    expect(err).toMatch(message);
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('the project file that --config names', () => {
  const text = '{"project": "shop", "process": "checkout"}';
  it('cannot be outside the repository if init writes a pipeline', async () => {
    const world = repository({ files: { '/elsewhere.json': text } });
    const { code, err } = await cli(['init', '--config', '../elsewhere.json'], world);
    expect(code).toBe(64);
    expect(err).toMatch(/the pipeline cannot read \.\.\/elsewhere\.json: it is outside the repository/);
    expect((await cli(['init', '--config', '../elsewhere.json', '--ci', 'none'], world)).code).toBe(0);
  });

  it('cannot be none, which turns it off', async () => {
    const world = repository({ env: { RUNGATE_CONFIG: 'none' }, files: { [file]: text } });
    const { code, err } = await cli(['init', ...flags, '--force'], world);
    expect([code, err]).toEqual([
      64,
      expect.stringContaining('init needs a project file, and none turns it off\n'),
    ]);
    expect(world.files[file]).toBe(text);
  });
});

describe('in a package of a monorepo', () => {
  const web = '/repo/packages/web/.rungate.json';
  const pipelineOfWeb = '/repo/.github/workflows/rungate-packages-web.yml';

  it('writes the project file there, and a pipeline in the root that names it', async () => {
    const files = {
      '/repo/package.json': '{}',
      '/repo/packages/web/package.json': '{}',
      '/repo/api/go.mod': '',
    };
    const world = repository({ cwd: '/repo/packages/web', files });
    const { code, out } = await cli(['init', ...flags], world);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'wrote .rungate.json\nwrote ../../.github/workflows/rungate-packages-web.yml\n',
    });
    expect(JSON.parse(world.files[web] ?? '')).toMatchObject({ project: 'shop', process: 'checkout' });
    expect(world.files[pipelineOfWeb]).toContain(' gate --config packages/web/.rungate.json\n');
    expect(world.files[pipelineOfWeb]).toContain('\n  e2e-packages-web:\n');
    expect(Object.keys(world.files)).not.toContain(file);
  });
});

describe('init fails for', () => {
  it.each<[string, readonly string[], Settings, number, RegExp]>([
    [
      'missing settings without a terminal',
      [],
      {},
      64,
      /init cannot prompt here[\s\S]*--project <slug>[\s\S]*--process <slug>, or --tag/,
    ],
    [
      'a pipeline without write permission',
      flags,
      { unwritable: [workflow] },
      78,
      /cannot write .*rungate\.yml \(EACCES\); already written: \/repo\/\.rungate\.json/,
    ],
  ])('%s', async (_name, argv, more, expected, message) => {
    const world = repository(more);
    const before = Object.keys(world.files);
    const { code, out, err } = await cli(['init', ...argv], world);
    expect({ code, out }).toEqual({ code: expected, out: '' });
    expect(err).toMatch(message);
    expect(Object.keys(world.files).filter((path) => path !== file)).toEqual(
      before.filter((path) => path !== file),
    );
  });
});

describe('init prompts', () => {
  it('for required and optional settings, and writes the files', async () => {
    const { questions, answer } = person(
      'shop',
      '',
      'smoke, nightly',
      'staging',
      'https://s.example',
      'gitlab',
      'y',
    );
    const world = repository({ answer });
    expect((await cli(['init'], world)).code).toBe(0);
    expect(questions.map((question) => question.split(/[,(]/)[0]?.trim())).toEqual([
      'Project slug:',
      'Process slug',
      'Tags',
      'Environment key',
      'URL of the service',
      'CI: github',
      'Write .rungate.json and .gitlab-ci.yml? [Y/n]',
    ]);
    expect(JSON.parse(world.files[file] ?? '')).toMatchObject({
      apiUrl: 'https://s.example',
      project: 'shop',
      tags: ['smoke', 'nightly'],
      environment: 'staging',
    });
    expect(world.files['/repo/.gitlab-ci.yml']).not.toContain('RUNGATE_API_URL');
  });
});
