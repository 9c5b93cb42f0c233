import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { systemIo } from '../../../src/host/io.ts';
import { inspect } from '../../../src/host/paths.ts';
import { asked, cli, memoryIo, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';

const { readFile, exists } = systemIo;
const systemFiles = { readFile, exists, inspect };
const never = (): never => {
  throw new Error('it was read');
};

const project = '/repo/.rungate.json';
const other = '/ci/gate.json';
const files = (more: Record<string, string> = {}) => ({
  '/repo/.git': '',
  [project]: '{"project": "found"}',
  [other]: '{"project": "named"}',
  ...more,
});

const projectOf = async (argv: string[], settings: Settings) => {
  const { code, out, err } = await cli(['config', 'list', '--json', ...argv], {
    cwd: '/repo/web',
    files: files(),
    ...settings,
  });
  if (code !== 0) return { code, err };
  const { projectFile, settings: listed } = JSON.parse(out);
  return { code, projectFile, project: listed.project.value };
};

describe('the project file that counts', () => {
  it.each<[string, string[], Record<string, string>, string | null, string | null]>([
    ['is the nearest', [], {}, project, 'found'],
    ['is the one that --config names', ['--config', other], {}, other, 'named'],
    ['is named from the working directory', ['--config=../../ci/gate.json'], {}, other, 'named'],
    ['is the one that RUNGATE_CONFIG names', [], { RUNGATE_CONFIG: other }, other, 'named'],
    ['is the nearest with a blank RUNGATE_CONFIG', [], { RUNGATE_CONFIG: ' ' }, project, 'found'],
    ['is none with --config none', ['--config', 'none'], {}, null, null],
    ['is none with RUNGATE_CONFIG=none', [], { RUNGATE_CONFIG: 'none' }, null, null],
    ['is that of the flag before the variable', ['--config', 'none'], { RUNGATE_CONFIG: other }, null, null],
    ['is that of the flag, none or not', ['--config', other], { RUNGATE_CONFIG: 'none' }, other, 'named'],
  ])('%s', async (_what, argv, env, path, name) => {
    expect(await projectOf(argv, { env })).toEqual({ code: 0, projectFile: path, project: name });
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--config', ['--config', 'gone.json'], {}],
    ['RUNGATE_CONFIG', [], { RUNGATE_CONFIG: 'gone.json' }],
    ['a word that is almost none', ['--config', 'None'], {}],
  ])('is not passed over when it is missing: %s', async (_what, argv, env) => {
    const { code, err } = await projectOf(argv, { env });
    expect(code).toBe(78);
    expect(err).toMatch(/the project file cannot be read: \/repo\/web\/\S+ \(ENOENT\)[\s\S]*--config none/);
  });

  it('is a file that is called none where a path says so', async () => {
    const there = { ...files(), '/repo/web/none': '{"project": "none"}' };
    expect(await projectOf(['--config', './none'], { files: there })).toMatchObject({ project: 'none' });
  });

  it('is named by something: an empty --config is a usage error', async () => {
    expect(await projectOf(['--config', ''], {})).toMatchObject({ code: 64 });
  });

  it('is not written by init in the place of one that --config none hides', async () => {
    const there = files();
    const init = ['init', '--config', 'none', '--ci', 'none', '--project', 'p', '--tag', 't', '--yes'];
    const { code, err } = await cli(init, { cwd: '/repo', files: there });
    expect({ code, file: there[project] }).toEqual({ code: 64, file: '{"project": "found"}' });
    expect(err).toMatch(/\.rungate\.json is there already/);
  });
});

describe('with --config none a hostile project file', () => {
  let on: Stage;
  beforeAll(async () => {
    on = await stage({ outcome: 'stuck' });
  });
  afterAll(() => on.close());
  const hostile = {
    on: { failed: 'pass', blocked: 'pass', cancelled: 'pass', timeout: 'warn', unobserved: 'warn' },
    maxAttempts: 1,
  };
  const world = { cwd: '/repo', files: files({ [project]: JSON.stringify(hostile) }) };

  it.each<[string, string[], Record<string, string>]>([
    ['the flag', ['--config', 'none'], {}],
    ['the variable', [], { RUNGATE_CONFIG: 'none' }],
  ])('does not let a timeout pass: by %s', async (_what, argv, env) => {
    const wait = [...trigger, '--wait', '--max-attempts', '2'];
    expect((await on.with(world)(...wait)).code).toBe(0);
    expect((await on.with({ ...world, env })(...wait, ...argv)).code).toBe(3);
  });

  it('does not let any verdict pass that the flags in docs/settings.md name', async () => {
    const flags = ['failed', 'blocked', 'cancelled', 'timeout', 'unobserved'].flatMap((one) => [
      '--on',
      `${one}=fail`,
    ]);
    expect((await on.with(world)(...trigger, '--wait', ...flags)).code).toBe(3);
  });
});

describe('a project file in a folder above', () => {
  const me = 1000;
  const mallory = 1001;
  const cwd = '/repo/web';
  it.each<[string, Record<string, number[]>, Partial<Settings>, number]>([
    ['of the user counts', {}, {}, 0],
    ['of root counts', { [project]: [0, 0], '/repo/.git': [0, 0] }, {}, 0],
    [
      'of the owner of the working directory counts',
      { [cwd]: [7, 7], [project]: [7, 7], '/repo/.git': [7, 7] },
      {},
      0,
    ],
    ['of somebody else does not', { [project]: [mallory, mallory] }, {}, 78],
    ['of somebody else does not for root', { [project]: [mallory, mallory] }, { uid: 0 }, 78],
    ['that is a link of somebody else does not', { [project]: [mallory, me] }, {}, 78],
    ["that leads to somebody else's file does not", { [project]: [me, mallory] }, {}, 78],
    ["in somebody else's repository does not", { '/repo/.git': [mallory, mallory] }, {}, 78],
    ['counts where there are no user ids', { [project]: [mallory, mallory] }, { uid: null }, 0],
    ['of somebody else is not asked for in its own folder', { [project]: [mallory] }, { cwd: '/repo' }, 0],
    [
      'of somebody else counts when it is named',
      { [project]: [mallory, mallory] },
      { env: { RUNGATE_CONFIG: project } },
      0,
    ],
  ])('%s', async (_what, owners, settings, code) => {
    const result = await projectOf([], { cwd, owners, ...settings });
    expect(result.code).toBe(code);
    if (code === 0) return;
    expect(result.err).toMatch(/belongs to another user: \/repo\/\.\S+ \(user id 1001\)/);
    expect(result.err).toContain(`--config ${project}`);
  });

  it('of somebody else gets no credential', async () => {
    const on = await stage();
    try {
      const planted = { cwd, files: files({ [project]: JSON.stringify({ apiUrl: on.mock.url }) }) };
      const world = { ...planted, env: { RUNGATE_API_URL: undefined } };
      expect((await on.with(world)('env', 'list')).code).toBe(0);
      const before = asked(on.mock).length;
      const refused = await on.with({ ...world, owners: { [project]: [mallory, mallory] } })('env', 'list');
      expect(refused.code).toBe(78);
      expect(asked(on.mock)).toHaveLength(before);
    } finally {
      await on.close();
    }
  });
});

describe('on a file system', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rungate-owner-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.runIf(process.getuid?.() === 0)('a link has two owners: its own, and that of its target', () => {
    writeFileSync(join(folder, 'target'), '{}');
    chownSync(join(folder, 'target'), 4242, 4242);
    symlinkSync('target', join(folder, 'link'));
    expect(inspect(join(folder, 'link'))).toEqual({ owners: [0, 4242], isFile: true });
  });

  const run = async (io: object, ...argv: string[]) => {
    const { io: memory, printed } = memoryIo({ cwd: folder });
    const code = await main(['config', 'list', ...argv], { ...memory, ...systemFiles, ...io });
    return { code, ...printed() };
  };

  it.each([
    ['to nothing', 'gone'],
    ['to itself', '.rungate.json'],
  ])('a project file that is a link %s is not passed over', async (_what, target) => {
    symlinkSync(target, join(folder, '.rungate.json'));
    const { code, err } = await run({});
    expect(code).toBe(78);
    expect(err).toMatch(/the project file cannot be read: .*\((ENOENT|ELOOP)\)/);
  });

  it.each(['/dev/zero', '/dev/null'])(
    'a project file that is named and no file is not read: %s',
    async (path) => {
      const { code, err } = await run({ readFile: never }, '--config', path);
      expect(code).toBe(78);
      expect(err).toContain(`the project file cannot be read: ${path} (not a file)`);
    },
  );

  it('a CA file that is a device is not read', async () => {
    writeFileSync(join(folder, '.rungate.json'), '{"apiUrl": "http://127.0.0.1:1", "caFile": "/dev/zero"}');
    const readFile = (path: string) => (path === '/dev/zero' ? never() : readFileSync(path));
    const { io: memory, printed } = memoryIo({ cwd: folder, env: { RUNGATE_TOKEN: 't'.repeat(20) } });
    const code = await main(['env', 'list'], { ...memory, ...systemFiles, readFile });
    expect(code).toBe(78);
    expect(printed().err).toMatch(/CA file cannot be read: \/dev\/zero \(not a file\)/);
  });

  it('a folder is not a file', () => {
    mkdirSync(join(folder, '.rungate.json'));
    expect(inspect(join(folder, '.rungate.json')).isFile).toBe(false);
  });
});
