import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
function person(...answers: string[]): { questions: string[]; answer: (question: string) => string } {
  const questions: string[] = [];
  return {
    questions,
    answer(question) {
      questions.push(question);
      return answers[questions.length - 1] ?? '';
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
    expect(JSON.parse(world.files[file] ?? '')).toEqual({
      $schema: './node_modules/rungate/docs/rungate.schema.json',
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
    expect(err).toMatch(/the pipeline runs rungate@[\d.]+[\s\S]*no step that uses bun\.lock/);
  });

  it('is installed and started in one line, for a CI of which only the command is known', async () => {
    const { out } = await cli(['init', ...flags, '--ci', 'drone'], set('package-lock.json'));
    expect(out).toContain(
      'npm ci --ignore-scripts && exec npx --no-install rungate run trigger --wait --strict ',
    );
  });
});

describe('what is there already', () => {
  const old = '{ "project": "old", "process": "old" }';

  it('is not overwritten: settings are refused, and nothing is written', async () => {
    const world = repository({ files: { [file]: old } });
    const { code, err } = await cli(['init', ...flags], world);
    expect(code).toBe(64);
    expect(err).toMatch(/\.rungate\.json is there already[\s\S]*--force/);
    expect(world.files).toEqual({ '/repo/.git': '', [file]: old });
  });

  it('without settings is kept, and the pipeline is added', async () => {
    const world = repository({ files: { [file]: old } });
    const { code, out } = await cli(['init'], world);
    expect(code).toBe(0);
    expect(out).toBe('kept, it is there already: .rungate.json\nwrote .github/workflows/rungate.yml\n');
    expect(world.files[file]).toBe(old);
  });

  it('is replaced with --force, the workflow too', async () => {
    const world = repository({ files: { [file]: old, [workflow]: 'mine' } });
    expect((await cli(['init', ...flags, '--force'], world)).code).toBe(0);
    expect(world.files[file]).toContain('"shop"');
    expect(world.files[workflow]).toMatch(/npx --yes rungate@\d/);
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
    ['a process and tags', [...flags, '--tag', 'a'], {}, 64, /exclude each other/],
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
    ['a broken project file', [], { files: { [file]: '{' } }, 78, /\.rungate\.json:1:1: it is not JSON/],
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
