import { chownSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemIo } from '../../../src/host/io.ts';
import { inspect } from '../../../src/host/paths.ts';
import { asked, cli, memoryIo, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { main } from '../../cli/main.ts';

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

describe('the chosen project file', () => {
  it.each<[string, string[], Record<string, string>, string | null, string | null]>([
    ['is the nearest', [], {}, project, 'found'],
    ['is the one that --config names', ['--config', other], {}, other, 'named'],
    ['is the one that RUNGATE_CONFIG names', [], { RUNGATE_CONFIG: other }, other, 'named'],
    ['is none with --config none', ['--config', 'none'], {}, null, null],
    [
      'is the one that --config names, even with RUNGATE_CONFIG=none',
      ['--config', other],
      { RUNGATE_CONFIG: 'none' },
      other,
      'named',
    ],
  ])('%s', async (_what, argv, env, path, name) => {
    expect(await projectOf(argv, { env })).toEqual({ code: 0, projectFile: path, project: name });
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--config', ['--config', 'gone.json'], {}],
    ['RUNGATE_CONFIG', [], { RUNGATE_CONFIG: 'gone.json' }],
  ])('is an error if it is missing: %s', async (_what, argv, env) => {
    const { code, err } = await projectOf(argv, { env });
    expect(code).toBe(78);
    expect(err).toMatch(/cannot read the project file: \/repo\/web\/\S+ \(ENOENT\)[\s\S]*--config none/);
  });
});

describe('a hostile project file', () => {
  let on: Stage;
  beforeAll(async () => {
    on = await stage({ outcome: 'stuck' });
  });
  afterAll(() => on.close());
  const hostile = {
    on: {
      failed: 'pass',
      blocked: 'pass',
      cancelled: 'pass',
      timeout: 'warn',
      unobserved: 'warn',
      mismatch: 'warn',
    },
    maxAttempts: 1,
  };
  const world = { cwd: '/repo', files: files({ [project]: JSON.stringify(hostile) }) };

  it.each<[string, string[], Record<string, string>]>([
    ['the flag', ['--config', 'none'], {}],
    ['the variable', [], { RUNGATE_CONFIG: 'none' }],
  ])('cannot let a timeout pass if it is turned off by %s', async (_what, argv, env) => {
    const wait = [...trigger, '--wait', '--max-attempts', '2'];
    expect((await on.with(world)(...wait)).code).toBe(0);
    expect((await on.with({ ...world, env })(...wait, ...argv)).code).toBe(3);
  });

  it('cannot let a verdict pass that the flags in docs/reference/settings.md set', async () => {
    const flags = ['failed', 'blocked', 'cancelled', 'timeout', 'unobserved', 'mismatch'].flatMap((one) => [
      '--on',
      `${one}=fail`,
    ]);
    expect((await on.with(world)(...trigger, '--wait', ...flags)).code).toBe(3);
  });
});

describe('a project file in a parent folder', () => {
  const me = 1000;
  const mallory = 1001;
  const cwd = '/repo/web';
  it.each<[string, Record<string, number[]>, Partial<Settings>, number]>([
    ['is used if the user owns it', {}, {}, 0],
    [
      'is used if the owner of the working directory owns it',
      { [cwd]: [7, 7], [project]: [7, 7], '/repo/.git': [7, 7] },
      {},
      0,
    ],
    ['is refused if another user owns it', { [project]: [mallory, mallory] }, {}, 78],
    ['is refused for root if another user owns it', { [project]: [mallory, mallory] }, { uid: 0 }, 78],
    ["is refused if it links to another user's file", { [project]: [me, mallory] }, {}, 78],
    ["is refused in another user's repository", { '/repo/.git': [mallory, mallory] }, {}, 78],
    ['is used on systems without user ids', { [project]: [mallory, mallory] }, { uid: null }, 0],
    [
      'is used in its own folder, even if another user owns it',
      { [project]: [mallory] },
      { cwd: '/repo' },
      0,
    ],
    [
      'is used if --config names it, even if another user owns it',
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

  it('receives no credential if another user owns it', async () => {
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

  it.runIf(process.getuid?.() === 0)('a link has two owners: its own and that of its target', () => {
    writeFileSync(join(folder, 'target'), '{}');
    chownSync(join(folder, 'target'), 4242, 4242);
    symlinkSync('target', join(folder, 'link'));
    expect(inspect(join(folder, 'link'))).toEqual({ owners: [0, 4242], isFile: true, exposed: true });
  });

  const run = async (io: object, ...argv: string[]) => {
    const { io: memory, printed } = memoryIo({ cwd: folder });
    const code = await main(['config', 'list', ...argv], { ...memory, ...systemFiles, ...io });
    return { code, ...printed() };
  };

  it.each([['to nothing', 'gone']])('a project file that is a link %s is an error', async (_what, target) => {
    symlinkSync(target, join(folder, '.rungate.json'));
    const { code, err } = await run({});
    expect(code).toBe(78);
    expect(err).toMatch(/cannot read the project file: .*\((ENOENT|ELOOP)\)/);
  });

  it.each(['/dev/zero'])('a project file that is a device is not read: %s', async (path) => {
    const { code, err } = await run({ readFile: never }, '--config', path);
    expect(code).toBe(78);
    expect(err).toContain(`cannot read the project file: ${path} (not a file)`);
  });

  it('a CA file that is a device is not read', async () => {
    writeFileSync(join(folder, '.rungate.json'), '{"apiUrl": "http://127.0.0.1:1", "caFile": "/dev/zero"}');
    const readFile = (path: string) => (path === '/dev/zero' ? never() : readFileSync(path));
    const { io: memory, printed } = memoryIo({ cwd: folder, env: { RUNGATE_TOKEN: 't'.repeat(20) } });
    const code = await main(['env', 'list'], { ...memory, ...systemFiles, readFile });
    expect(code).toBe(78);
    expect(printed().err).toMatch(/CA file cannot be read: \/dev\/zero \(not a file\)/);
  });
});
