import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/ci/context.ts';
import { pipelines } from '../../../src/ci/pipelines.ts';
import { createSettingsSchema } from '../../../src/settings/table.ts';
import { version } from '../../../src/version.ts';
import { cli, type Settings, type Stage, stage } from '../../cli/harness.ts';

const remote = 'git@github.com:acme/shop.git';
const file = '/repo/.rungate.json';
const workflow = '/repo/.github/workflows/rungate.yml';

/** A repository at /repo, and nothing of the machine that the tests run on. */
function repository(more: Settings = {}): Settings & { files: Record<string, string> } {
  const files = { '/repo/.git': '', ...(more.files as Record<string, string>) };
  const captured = (command: readonly string[]) => (command.includes('remote.origin.url') ? remote : null);
  return { cwd: '/repo', captured, ...more, files };
}

const flags = ['--project', 'shop', '--process', 'checkout'] as const;

/** Answers in the order of the questions; then nothing. */
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

describe('rungate init with flags', () => {
  it('writes the project file and the pipeline, and says what is next', async () => {
    const world = repository();
    const { code, out, err } = await cli(['init', ...flags], world);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'wrote .rungate.json\nwrote .github/workflows/rungate.yml\n',
    });
    expect(err).toMatch(/secret RUNGATE_API_KEY[\s\S]*RUNGATE_API_URL[\s\S]*run trigger --wait/);
    expect(err).toContain('mock exec --retry-after 1 -- ');
    expect(JSON.parse(world.files[file] ?? '')).toEqual({
      project: 'shop',
      process: 'checkout',
    });
    expect(world.files[workflow]).toContain('actions/checkout');
  });

  it('writes every setting that it takes, and what it writes fits the schema', async () => {
    const world = repository();
    const all = [
      '--project',
      'shop',
      '--tag',
      'smoke',
      '--tag',
      'nightly',
      '--environment',
      'staging',
      '--strict',
    ];
    const { code } = await cli(
      ['init', ...all, '--api-url', 'https://service.example.com', '--ci', 'none'],
      world,
    );
    expect(code).toBe(0);
    const written = JSON.parse(world.files[file] ?? '');
    expect(written).toMatchObject({
      apiUrl: 'https://service.example.com',
      project: 'shop',
      tags: ['smoke', 'nightly'],
      environment: 'staging',
      strict: true,
    });
    expect(valid(written), JSON.stringify(valid.errors)).toBe(true);
    expect(Object.keys(world.files)).toEqual(['/repo/.git', file]);
  });

  it('writes to the root of the repository from a folder below it', async () => {
    const world = repository({ cwd: '/repo/packages/web' });
    const { out } = await cli(['init', ...flags], world);
    expect(out).toContain('wrote ../../.rungate.json\n');
    expect(Object.keys(world.files)).toContain(workflow);
  });

  it('writes to the folder itself outside a repository', async () => {
    const files: Record<string, string> = {};
    expect((await cli(['init', ...flags], { cwd: '/work', files })).code).toBe(0);
    expect(Object.keys(files)).toEqual(['/work/.rungate.json']);
  });

  it('never writes a secret, nor what is a person’s own', async () => {
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

  it('--dry-run shows the texts and writes nothing', async () => {
    const world = repository();
    const { code, out } = await cli(['init', ...flags, '--dry-run'], world);
    expect(code).toBe(0);
    expect(out).toMatch(
      /would write \.rungate\.json\n[\s\S]*"project": "shop"[\s\S]*would write \.github[\s\S]*npx --yes rungate@/,
    );
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });

  it('--json says the same as data', async () => {
    const { out } = await cli(['init', ...flags, '--json'], repository());
    expect(JSON.parse(out)).toMatchObject({
      schemaVersion: 1,
      dryRun: false,
      ci: 'github',
      files: [
        { path: file, fate: 'written' },
        { path: workflow, fate: 'written' },
      ],
      command: null,
    });
  });
});

describe('rungate itself, in the pipeline', () => {
  const manifest = JSON.stringify({ devDependencies: { rungate: '^0.1.0' }, packageManager: 'pnpm@10.1.0' });
  const set = (lockfile: string) =>
    repository({ files: { '/repo/package.json': manifest, [`/repo/${lockfile}`]: '' } });

  it('is installed from the lockfile, and npx gets no other', async () => {
    const world = set('package-lock.json');
    const { code, err } = await cli(['init', ...flags], world);
    expect(code).toBe(0);
    expect(world.files[workflow]).toMatch(
      /- run: npm ci --ignore-scripts\n {6}- run: >-\n +exec npx --no-install rungate run trigger --wait --strict\n/,
    );
    expect(err).not.toContain('lockfile');
  });

  it('is installed from the root of the repository, also from a folder below it', async () => {
    const world = { ...set('pnpm-lock.yaml'), cwd: '/repo/packages/web' };
    await cli(['init', ...flags], world);
    expect(world.files[workflow]).toContain(
      'npx --yes pnpm@10.1.0 install --frozen-lockfile --ignore-scripts',
    );
  });

  it('is this version where no lockfile decides, and init says why', async () => {
    const world = set('bun.lock');
    const { err } = await cli(['init', ...flags], world);
    expect(world.files[workflow]).toContain(
      `exec npx --yes rungate@${version} run trigger --wait --strict\n`,
    );
    expect(err).toMatch(/the pipeline runs rungate@[\d.]+[\s\S]*cannot write a step that uses bun\.lock/);
  });

  it('is installed and started in one line, for a CI of which only the command is known', async () => {
    const { out } = await cli(['init', ...flags, '--ci', 'drone'], set('package-lock.json'));
    expect(out).toContain(
      'npm ci --ignore-scripts && exec npx --no-install rungate run trigger --wait --strict ',
    );
  });
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

  it.each(pipelines)('counts in the pipeline for $title, whose job has a higher limit', async (pipeline) => {
    const world = repository({ files: { [file]: JSON.stringify({ ...shop, timeout: '90m' }) } });
    const { code, err } = await cli(['init', '--ci', pipeline.provider], world);
    expect(code).toBe(0);
    const written = world.files[`/repo/${pipeline.file}`] ?? '';
    expect(written).toMatch(/ run trigger --wait --strict\s+--junit /);
    expect(written).toContain(limits[pipeline.provider] ?? '');
    expect(`${written}${err}`).not.toContain('--timeout');
  });

  it.each([
    ['a short one', { timeout: '30m' }, 60],
    ['a number of seconds', { timeout: 7200 }, 135],
    ['that of a branch', { branches: { main: { timeout: '2h' }, '*': { strict: true } } }, 135],
    ['the longest', { timeout: '10h', branches: { main: { timeout: '2h' } } }, 615],
  ])('is %s, and the limit of the job is above it', async (_what, more, minutes) => {
    const world = repository({ files: { [file]: JSON.stringify({ ...shop, ...more }) } });
    await cli(['init', '--pipeline-only', '--ci', 'github'], world);
    expect(world.files[workflow]).toContain(`timeout-minutes: ${minutes}\n`);
    expect(world.files[workflow]).not.toContain('--timeout');
  });

  it('is in the command where only that is known', async () => {
    const world = repository({ files: { [file]: JSON.stringify({ ...shop, timeout: '90m' }) } });
    const { out } = await cli(['init', '--ci', 'drone'], world);
    expect(out).toMatch(/run trigger --wait --strict --junit rungate\.xml\n/);
  });
});

describe('what is there already', () => {
  const old = '{ "project": "old", "process": "old" }';

  it('is not overwritten: other settings are refused by name, and nothing is written', async () => {
    const world = repository({ files: { [file]: old } });
    const { code, err } = await cli(['init', ...flags], world);
    expect(code).toBe(64);
    expect(err).toMatch(/\.rungate\.json is there already, and differs in project, process\n[\s\S]*--force/);
    expect(world.files).toEqual({ '/repo/.git': '', [file]: old });
  });

  it.each([
    ['a process', flags],
    ['tags', ['--project', 'shop', '--tag', 'smoke,nightly']],
    [
      'all that it asks about',
      [...flags, '--environment', 'qa', '--strict', '--api-url', 'https://s.example'],
    ],
  ])('is no error where the same settings are given again: %s', async (_name, given) => {
    const world = repository();
    await cli(['init', ...given], world);
    const before = { ...world.files };
    const { code, out } = await cli(['init', ...given], world);
    expect(code).toBe(0);
    expect(out).toBe(
      'kept, it is there already: .rungate.json\nkept, it is there already: .github/workflows/rungate.yml\n',
    );
    expect(world.files).toEqual(before);
  });

  it('is no error where some of its settings are given again, and the file has more', async () => {
    const more = '{ "process": "checkout", "project": "shop", "timeout": "30m" }';
    const world = repository({ files: { [file]: more } });
    expect((await cli(['init', ...flags], world)).code).toBe(0);
    expect(world.files[file]).toBe(more);
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
    const forced = async (given: readonly string[], before: object, more: Settings = {}) => {
      const world = repository({ ...more, files: { [file]: JSON.stringify(before) } });
      const { code, err } = await cli(['init', ...given, '--force'], world);
      expect(code, err).toBe(0);
      return JSON.parse(world.files[file] ?? '');
    };

    it('keeps every setting that is not given, in its order', async () => {
      const after = await forced(flags, rich);
      expect(after).toEqual({ ...rich, project: 'shop', process: 'checkout' });
      expect(Object.keys(after)).toEqual(Object.keys(rich));
    });

    it('writes what the file says, not what a branch of it says or the environment', async () => {
      const env = {
        RUNGATE_PROJECT: 'mine',
        RUNGATE_ENVIRONMENT: 'mine',
        RUNGATE_API_URL: 'https://mine.example',
      };
      const captured = (command: readonly string[]) => (command.includes('rev-parse') ? 'main' : null);
      expect(await forced(['--environment', 'qa'], rich, { env, captured })).toEqual({
        ...rich,
        environment: 'qa',
      });
    });

    it('puts tags in the place of a process, and a process in the place of tags', async () => {
      const { process: _, ...rest } = rich;
      const tagged = await forced(['--tag', 'smoke'], rich);
      expect(tagged).toEqual({ ...rest, tags: ['smoke'] });
      expect(await forced(['--process', 'checkout'], tagged)).toEqual({ ...rest, process: 'checkout' });
    });

    it('leaves the file as it is where nothing differs', async () => {
      const text = '{"project":"shop",   "process":"checkout"}';
      const world = repository({ files: { [file]: text } });
      expect((await cli(['init', ...flags, '--force'], world)).out).toContain(
        'kept, it is there already: .rungate',
      );
      expect(world.files[file]).toBe(text);
    });

    it('starts anew where --config none turns the file off, be it broken', async () => {
      const world = repository({ files: { [file]: '{ "timeout": ' } });
      expect((await cli(['init', ...flags, '--force', '--config', 'none'], world)).code).toBe(0);
      expect(JSON.parse(world.files[file] ?? '')).toEqual({
        project: 'shop',
        process: 'checkout',
      });
    });
  });

  it('is not shown again where the one file of all pipelines has it already', async () => {
    const path = '/repo/.gitlab-ci.yml';
    const world = repository();
    await cli(['init', ...flags, '--ci', 'gitlab'], world);
    world.files[path] = `build: {}\n\n${world.files[path]}`;
    const { out } = await cli(['init', ...flags, '--ci', 'gitlab'], world);
    expect(out).toContain('kept, it is there already: .gitlab-ci.yml');
    expect(out).not.toContain('add this');
  });

  it('without settings is kept, and the pipeline is added', async () => {
    const world = repository({ files: { [file]: old } });
    const { code, out } = await cli(['init'], world);
    expect(code).toBe(0);
    expect(out).toBe('kept, it is there already: .rungate.json\nwrote .github/workflows/rungate.yml\n');
    expect(world.files[file]).toBe(old);
  });

  it('is replaced with --force, the workflow too', async () => {
    const world = repository({ files: { [file]: old, [workflow]: 'run: npx rungate run trigger' } });
    expect((await cli(['init', ...flags, '--force'], world)).code).toBe(0);
    expect(world.files[file]).toContain('"shop"');
    expect(world.files[workflow]).toMatch(/npx --yes rungate@\d/);
  });

  it.each([[[]], [['--force']], [['--pipeline-only', '--force']]])(
    'a workflow of that name that does not run rungate is left alone, and another file is suggested, %j',
    async (more) => {
      const world = repository({ files: { [workflow]: 'name: mine\n' } });
      const { code, out } = await cli(['init', ...flags, ...more], world);
      expect(code).toBe(0);
      expect(out).toContain(
        'put this into another file, such as rungate-gate.yml: a workflow that does not run rungate is in .github/workflows/rungate.yml\n\nname: e2e\n',
      );
      expect(world.files[workflow]).toBe('name: mine\n');
    },
  );

  it('a workflow that differs is kept without --force, and the difference is said', async () => {
    const world = repository({ files: { [workflow]: 'run: npx rungate run trigger' } });
    const { code, out } = await cli(['init', ...flags], world);
    expect(code).toBe(0);
    expect(out).toContain(
      'kept, it differs from what init would write (--force replaces it): .github/workflows',
    );
    expect(world.files[workflow]).toBe('run: npx rungate run trigger');
  });

  describe.each(pipelines)('the pipeline for $title that init wrote', ({ provider, file }) => {
    const path = `/repo/${file}`;
    const only = ['init', '--pipeline-only', '--ci', provider, '--project', 'shop'];
    const again = [...only, '--process', 'search'];
    const written = async () => {
      const world = repository();
      await cli([...only, '--process', 'checkout'], world);
      return { world, before: world.files[path] ?? '' };
    };

    it('is not replaced by one for another process: --pipeline-only says what to do, and exits with 64', async () => {
      const { world, before } = await written();
      for (const more of [[], ['--dry-run']]) {
        const { code, out, err } = await cli([...again, ...more], world);
        expect({ code, out }).toEqual({ code: 64, out: '' });
        expect(err).toContain(`${file} is there already, and differs from what init would write`);
        expect(err).toContain('--force');
      }
      expect(world.files[path]).toBe(before);
    });

    it('is replaced with --force, also with a lockfile, an address and a timeout by then', async () => {
      const { world, before } = await written();
      const { code, out } = await cli([...again, '--force'], world);
      expect({ code, out }).toEqual({ code: 0, out: `wrote ${file}\n` });
      expect(world.files[path]).toBe(before.replace('checkout --timeout', 'search --timeout'));
      world.files['/repo/package.json'] = '{"devDependencies": {"rungate": "0.1.0"}}';
      world.files['/repo/package-lock.json'] = '';
      world.files[`/repo/.rungate.json`] = '{"apiUrl": "https://s.example", "timeout": "90m"}';
      expect((await cli([...again, '--force'], world)).out).toBe(`wrote ${file}\n`);
      expect(world.files[path]).toContain('npm ci --ignore-scripts');
    });

    it.runIf(provider !== 'github')(
      'is left alone once it has more, and init names the job to replace',
      async () => {
        const { world, before } = await written();
        world.files[path] = `${before}# and more\n`;
        const { code, out } = await cli([...again, '--force'], world);
        expect(code).toBe(0);
        expect(out).toContain(`replace the job e2e with this in ${file}\n`);
        expect(world.files[path]).toBe(`${before}# and more\n`);
      },
    );
  });

  it('a job of that name that does not run rungate is not to be replaced', async () => {
    const world = repository({ files: { '/repo/.gitlab-ci.yml': 'e2e:\n  script: make e2e\n' } });
    const { out } = await cli(['init', ...flags, '--ci', 'gitlab'], world);
    expect(out).toContain('rename the job e2e, and add this to .gitlab-ci.yml\n');
  });

  it('a second init changes nothing', async () => {
    const world = repository();
    await cli(['init', ...flags], world);
    const before = { ...world.files };
    expect((await cli(['init'], world)).code).toBe(0);
    expect(world.files).toEqual(before);
  });

  it.each([[[]], [['--force']]])(
    'the one file of all pipelines is shown what to add, and left alone, %j',
    async (force) => {
      const path = '/repo/.gitlab-ci.yml';
      const world = repository({ files: { [path]: 'build: {}\n' } });
      const { code, out } = await cli(['init', ...flags, ...force], world);
      expect(code).toBe(0);
      expect(out).toMatch(/add this to \.gitlab-ci\.yml\n\ne2e:\n {2}image:[\s\S]*exec npx --yes rungate@\d/);
      expect(world.files[path]).toBe('build: {}\n');
    },
  );

  it('two CIs are not chosen between', async () => {
    const world = repository({ files: { '/repo/Jenkinsfile': '', '/repo/.circleci': '' } });
    const { code, err } = await cli(['init', ...flags], world);
    expect(code).toBe(0);
    expect(err).toMatch(/circleci and jenkins: choose with --ci; no pipeline is written/);
    expect(world.files['/repo/Jenkinsfile']).toBe('');
  });

  it('no CI: says how to get a pipeline, but not to who wants none', async () => {
    const alone = { captured: () => null };
    expect((await cli(['init', ...flags], repository(alone))).err).toMatch(
      /^ {2}pipeline .*init --ci github/m,
    );
    const { err } = await cli(['init', ...flags, '--ci', 'none'], repository(alone));
    expect(err).toMatch(/^Next:$/m);
    expect(err).not.toContain('pipeline');
  });

  it('a CI of which only the command is known gets the command', async () => {
    const { out } = await cli(['init', ...flags, '--ci', 'drone'], repository());
    expect(out).toMatch(
      /the step for drone:\n\n {4}exec npx --yes rungate@[\d.]+ run trigger --wait --strict/,
    );
  });
});

describe('--pipeline-only', () => {
  const only = ['init', '--pipeline-only', '--ci', 'github'];

  it('replaces the pipeline with --force, and leaves the project file alone', async () => {
    const text = '{"project": "shop", "process": "checkout"}';
    const world = repository({ files: { [file]: text, [workflow]: 'run: rungate run wait' } });
    const { code, out } = await cli([...only, '--force'], world);
    expect({ code, out }).toEqual({ code: 0, out: 'wrote .github/workflows/rungate.yml\n' });
    expect(world.files[file]).toBe(text);
    expect(world.files[workflow]).toMatch(/--wait --strict\n {10}--timeout 45m/);
  });

  it('writes no project file: what flags say stands in the command', async () => {
    const world = repository();
    const given = ['--project', 'shop', '--tag', 'smoke,nightly', '--environment', 'qa'];
    const { code, err } = await cli([...only, ...given], world);
    expect(code).toBe(0);
    expect(Object.keys(world.files)).toEqual(['/repo/.git', workflow]);
    expect(err).toMatch(
      /run trigger --wait --strict --project shop --tag smoke --tag nightly .*--timeout 45m/,
    );
    expect(world.files[workflow]).toMatch(
      /--wait --strict\n +--project shop --tag smoke --tag nightly --environment qa --timeout 45m/,
    );
  });

  it('adds what flags say to what the project file says, without a word against either', async () => {
    const text = '{"project": "shop", "process": "checkout", "apiUrl": "https://s.example"}';
    const world = repository({ files: { [file]: text } });
    expect((await cli([...only, '--environment', 'qa'], world)).code).toBe(0);
    expect(world.files[file]).toBe(text);
    expect(world.files[workflow]).toMatch(/\n +--environment qa --timeout 45m/);
    expect(world.files[workflow]).not.toContain('RUNGATE_API_URL');
  });

  it.each<[string, readonly string[], RegExp]>([
    ['nothing says what to run', [], /these are missing/],
    ['no CI', ['--ci', 'none', ...flags], /--pipeline-only writes nothing without a CI/],
    [
      'a word that a CI might expand',
      ['--project', 'shop', '--process', 'a$(b)'],
      /--process "a\$\(b\)" cannot be/,
    ],
    ['a word with a space', ['--project', 'my shop', '--process', 'a'], /--project "my shop" cannot be/],
  ])('is refused, and writes nothing: %s', async (_name, argv, message) => {
    const world = repository();
    const { code, err } = await cli([...only, ...argv], world);
    expect(code).toBe(64);
    expect(err).toMatch(message);
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('the project file that --config names', () => {
  const other = '/repo/ci/other.json';
  const text = '{"project": "shop", "process": "checkout"}';
  const named = (value: string) =>
    [
      ['--config', ['--config', value], {}],
      ['RUNGATE_CONFIG', [], { RUNGATE_CONFIG: value }],
    ] as const;

  it.each(named('ci/other.json'))('is written where there is none, by %s', async (_by, more, env) => {
    const world = repository({ env });
    const { code, out } = await cli(['init', ...flags, '--ci', 'gitlab', ...more], world);
    expect({ code, out }).toEqual({ code: 0, out: 'wrote ci/other.json\nwrote .gitlab-ci.yml\n' });
    expect(JSON.parse(world.files[other] ?? '')).toEqual({ project: 'shop', process: 'checkout' });
    expect(world.files['/repo/.gitlab-ci.yml']).toContain('--config ci/other.json --timeout 45m');
    expect(Object.keys(world.files)).not.toContain(file);
  });

  it('is named in every command that init shows', async () => {
    const world = repository({ captured: () => null });
    const { err } = await cli(['init', ...flags, '--config', 'ci/other.json'], world);
    const commands = err.split('\n').filter((line) => /run trigger|init/.test(line));
    expect(commands).toHaveLength(3);
    for (const command of commands) expect(command).toContain('--config ci/other.json');
  });

  it('is named by its path from the working directory, in quotes where a shell needs them', async () => {
    const world = repository({ cwd: '/repo/sub', captured: () => null });
    const { err } = await cli(['init', ...flags, '--config', "../my 'file.json"], world);
    expect(err).toContain(`run trigger --wait --strict --config '../my '\\''file.json' --timeout 45m`);
  });

  it('is not named where a command finds it anyway', async () => {
    for (const more of [{ argv: ['--config', '.rungate.json'] }, { env: { RUNGATE_CONFIG: file } }]) {
      const world = repository({ env: 'env' in more ? more.env : {} });
      const { err } = await cli(['init', ...flags, ...('argv' in more ? more.argv : [])], world);
      expect(err).not.toContain('--config');
    }
  });

  it('that differs is refused with a hint that keeps to it', async () => {
    const world = repository({ files: { [other]: text } });
    const { code, err } = await cli(['init', '--project', 'b', '--config', 'ci/other.json'], world);
    expect(code).toBe(64);
    expect(err).toMatch(
      /ci\/other\.json is there already[\s\S]*without settings, rungate init --config ci\/other\.json/,
    );
  });

  it('is named where a word does not fit into a pipeline', async () => {
    const world = repository({ files: { [other]: text } });
    const only = ['--pipeline-only', '--ci', 'github', '--environment', 'a b'];
    const { err } = await cli(['init', ...only, '--config', 'ci/other.json'], world);
    expect(err).toContain('write it into ci/other.json: leave out --pipeline-only');
  });

  it('cannot be outside of the repository where a pipeline is written', async () => {
    const world = repository({ files: { '/elsewhere.json': text } });
    const { code, err } = await cli(['init', '--config', '../elsewhere.json'], world);
    expect(code).toBe(64);
    expect(err).toMatch(/\.\.\/elsewhere\.json is outside of the repository, where no pipeline can read it/);
    expect((await cli(['init', '--config', '../elsewhere.json', '--ci', 'none'], world)).code).toBe(0);
  });

  it.each(named('none'))(
    'is none: with --pipeline-only the pipeline reads none either, by %s',
    async (_by, more, env) => {
      const world = repository({ env, files: { [file]: '{"strict": tru' } });
      const { code, err } = await cli(['init', '--pipeline-only', ...flags, ...more], world);
      expect(code).toBe(0);
      expect(world.files[workflow]).toMatch(
        /\n +--config none --project shop --process checkout --timeout 45m/,
      );
      const shown = more.length > 0 ? '--strict --config none --project' : '--strict --project';
      expect(err).toContain(shown);
    },
  );

  it('is none, by the variable: the commands name the file that was written', async () => {
    const world = repository({ env: { RUNGATE_CONFIG: 'none' } });
    const { err } = await cli(['init', ...flags], world);
    expect(err).toContain('run trigger --wait --strict --config .rungate.json --timeout 45m');
    expect(world.files[workflow]).not.toContain('--config');
  });

  it('is none, and a file is there: it is replaced with --force alone, whole', async () => {
    const world = repository({ files: { [file]: text } });
    const { code, err } = await cli(['init', ...flags, '--config', 'none'], world);
    expect(code).toBe(64);
    expect(err).toMatch(
      /\.rungate\.json is there already, and --config none starts anew\n.*--force replaces the whole file/,
    );
    expect(world.files[file]).toBe(text);
  });
});

describe('in a package of a monorepo', () => {
  const packages = {
    '/repo/package.json': '{}',
    '/repo/packages/web/package.json': '{}',
    '/repo/api/go.mod': '',
  };
  const web = '/repo/packages/web/.rungate.json';
  const pipelineOfWeb = '/repo/.github/workflows/rungate-packages-web.yml';
  const monorepo = (files: Record<string, string> = {}, cwd = '/repo/packages/web') =>
    repository({ cwd, files: { ...packages, ...files } });

  it('writes there, and the pipeline in the root names that file', async () => {
    const world = monorepo();
    const { code, out } = await cli(['init', ...flags], world);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'wrote .rungate.json\nwrote ../../.github/workflows/rungate-packages-web.yml\n',
    });
    expect(JSON.parse(world.files[web] ?? '')).toMatchObject({ project: 'shop', process: 'checkout' });
    expect(world.files[pipelineOfWeb]).toMatch(
      /--wait --strict\n +--config packages\/web\/\.rungate\.json --timeout 45m/,
    );
    expect(world.files[pipelineOfWeb]).toContain('\n  e2e-packages-web:\n');
    expect(Object.keys(world.files)).not.toContain(file);
  });

  it('writes there from a folder within the package', async () => {
    const world = monorepo({}, '/repo/packages/web/src/deep');
    expect((await cli(['init', ...flags], world)).code).toBe(0);
    expect(Object.keys(world.files)).toContain(web);
  });

  it('a second package works, and so does the root', async () => {
    const world = monorepo();
    for (const [cwd, process] of [
      ['/repo/packages/web', 'web'],
      ['/repo/api', 'api'],
      ['/repo', 'all'],
    ] as const) {
      const result = await cli(['init', '--project', 'shop', '--process', process], { ...world, cwd });
      expect(result.code, result.err).toBe(0);
    }
    const read = (path: string) => JSON.parse(world.files[path] ?? '').process;
    expect([web, '/repo/api/.rungate.json', file].map(read)).toEqual(['web', 'api', 'all']);
    expect(Object.keys(world.files).filter((path) => path.endsWith('.yml'))).toEqual([
      pipelineOfWeb,
      '/repo/.github/workflows/rungate-api.yml',
      workflow,
    ]);
  });

  it('the one file of all pipelines is shown a job of another name for a second package', async () => {
    const world = monorepo();
    await cli(['init', ...flags, '--ci', 'gitlab'], world);
    const { out } = await cli(['init', ...flags, '--ci', 'gitlab'], { ...world, cwd: '/repo/api' });
    expect(world.files['/repo/.gitlab-ci.yml']).toMatch(/^e2e-packages-web:\n/);
    expect(out).toMatch(
      /add this to \.\.\/\.gitlab-ci\.yml\n\ne2e-api:\n[\s\S]*--config api\/\.rungate\.json/,
    );
  });

  it('takes over what counted there before, and says what it did not', async () => {
    const outer = {
      apiUrl: 'https://s.example',
      project: 'shop',
      process: 'all',
      strict: true,
      timeout: '30m',
      caFile: 'certs/ca.pem',
      branches: { main: { process: 'main' } },
    };
    const world = monorepo({ [file]: JSON.stringify(outer) });
    const { code, err } = await cli(['init', '--tag', 'web'], world);
    expect(code).toBe(0);
    expect(err).toMatch(/here \.rungate\.json replaces \.\.\/\.\.\/\.rungate\.json.*"branches" were not/);
    expect(JSON.parse(world.files[web] ?? '')).toEqual({
      apiUrl: 'https://s.example',
      project: 'shop',
      strict: true,
      timeout: '30m',
      caFile: '../../certs/ca.pem',
      tags: ['web'],
    });
    expect(world.files[file]).toBe(JSON.stringify(outer));
  });

  it('without settings keeps the file of the root that counts there, and adds its pipeline', async () => {
    const world = monorepo({ [file]: '{"project": "shop", "process": "all"}' });
    const { out } = await cli(['init'], world);
    expect(out).toBe(
      'kept, it is there already: ../../.rungate.json\nwrote ../../.github/workflows/rungate.yml\n',
    );
  });

  it('names the schema where npm has installed it', async () => {
    const world = monorepo({ '/repo/node_modules/rungate/docs/rungate.schema.json': '{}' });
    await cli(['init', ...flags], world);
    expect(JSON.parse(world.files[web] ?? '').$schema).toBe(
      '../../node_modules/rungate/docs/rungate.schema.json',
    );
  });

  it('a folder whose name a shell would expand has no pipeline written', async () => {
    const cwd = '/repo/my $app';
    const world = monorepo({ [`${cwd}/package.json`]: '{}' }, cwd);
    expect(await cli(['init', ...flags], world)).toMatchObject({ code: 64 });
    expect((await cli(['init', ...flags, '--ci', 'none'], world)).code).toBe(0);
    expect(Object.keys(world.files)).toContain(`${cwd}/.rungate.json`);
  });
});

describe('what cannot be done', () => {
  it.each<[string, readonly string[], Settings, number, RegExp]>([
    [
      'nobody to ask',
      [],
      {},
      64,
      /nobody can be asked here[\s\S]*--project <slug>[\s\S]*--process <slug>, or --tag/,
    ],
    ['only the selector missing', ['--project', 'a'], {}, 64, /these are missing: what to run/],
    ['--yes asks nobody', ['--yes'], { answer: 'x' }, 64, /these are missing/],
    ['a process and tags', [...flags, '--tag', 'a'], {}, 64, /cannot be combined/],
    ['a misspelt CI', [...flags, '--ci', 'gitub'], {}, 64, /did you mean github\?/],
    ['an empty project', ['--project', '', '--process', 'a'], {}, 64, /--project is empty/],
    ['an address that is none', [...flags, '--api-url', 'service'], {}, 64, /apiUrl: .*not a URL/],
    ['a control character', ['--project', 'a\u0007', '--process', 'a'], {}, 64, /project: expected/],
    [
      'a folder that is not ours',
      flags,
      { unwritable: [file] },
      78,
      /\.rungate\.json cannot be written \(EACCES\); nothing was written/,
    ],
    [
      'a pipeline that is not ours',
      flags,
      { unwritable: [workflow] },
      78,
      /rungate\.yml cannot be written \(EACCES\); written before: \/repo\/\.rungate\.json/,
    ],
    ['a broken project file', [], { files: { [file]: '{' } }, 78, /\.rungate\.json:1:1: not valid JSON/],
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

describe('a person is asked', () => {
  it('for what must be there and for the rest, and the files are written', async () => {
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
      'Project',
      'Process to run',
      'Tags',
      'Environment',
      "The service's address",
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

  it('is not asked for what a flag or the environment says', async () => {
    const { questions, answer } = person('checkout', '', '', '');
    const world = repository({
      answer,
      env: { RUNGATE_API_URL: 'https://s.example', RUNGATE_PROJECT: 'shop' },
    });
    expect((await cli(['init'], world)).code).toBe(0);
    expect(questions).toHaveLength(4);
    expect(JSON.parse(world.files[file] ?? '')).toMatchObject({ project: 'shop', process: 'checkout' });
    expect(Object.keys(world.files)).toContain(workflow);
  });

  it('is asked again after an answer that will not do', async () => {
    const { answer } = person('shop', 'checkout', '', 'service', 'https://s.example', 'gitub', 'github', 'y');
    const { code, err } = await cli(['init'], repository({ answer }));
    expect(code).toBe(0);
    expect(err).toMatch(/not a URL[\s\S]*did you mean github\?/);
  });

  it.each([
    ['says no in the end', ['shop', 'checkout', '', '', '', 'n'], 1, /nothing is written/],
    ['ends the input in the end', ['shop', 'checkout', '', '', '', undefined], 1, /nothing is written/],
    ['ends the input at the first question', [undefined], 1, /nothing is written/],
    ['ends the input at the CI', ['shop', 'checkout', '', '', undefined, 'y'], 1, /nothing is written/],
    ['does not say which project', [''], 64, /the project was not answered: nothing is written/],
    ['does not say what to run', ['shop', '', ''], 64, /what to run was not answered/],
  ] as const)('who %s gets no file', async (_name, answers, expected, message) => {
    const world = repository({ answer: person(...answers).answer });
    const { code, err } = await cli(['init'], world);
    expect(code).toBe(expected);
    expect(err).toMatch(message);
    expect(Object.keys(world.files)).toEqual(['/repo/.git']);
  });
});

describe('with what was written', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage({ outcome: ['passed', 'failed'] });
  });
  afterEach(() => on.close());

  it('a gate run needs nothing else: green, then red', async () => {
    const world = repository();
    const address = ['--api-url', on.mock.url];
    expect((await cli(['init', ...flags, '--environment', 'staging', ...address], world)).code).toBe(0);
    const run = on.with({ ...world, env: { RUNGATE_API_URL: undefined } });
    expect((await run('run', 'trigger', '--wait', '--strict')).code).toBe(0);
    expect((await run('run', 'trigger', '--wait', '--strict')).code).toBe(1);
    const [first] = on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      projectSlug: 'shop',
      processSlug: 'checkout',
      environmentKey: 'staging',
    });
  });
});
