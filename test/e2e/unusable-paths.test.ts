import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { program, type Running, rungate as run, start } from './built.ts';

let mock: MockServer;
let folder: string;
let running: Running | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-paths-'));
  mock = await startMock({ duration: 0 });
});
// A process that is blocked in a system call reacts to no other signal.
afterEach(() => running?.child.kill('SIGKILL'));
afterAll(async () => {
  await mock.close();
  rmSync(folder, { recursive: true, force: true });
});

const rungate = (args: readonly string[], env: Record<string, string> = {}) => {
  const all = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_CONFIG_DIR: folder, ...env };
  running = run(args, all, {}, folder);
  return running.ended;
};
const gate = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait'];

describe.skipIf(!existsSync('/proc/self'))('a path below /proc, where nothing can be created,', () => {
  it.each<[string, readonly string[], Record<string, string>, number]>([
    ['for the profiles', ['config', 'set', 'project', 'x'], { RUNGATE_CONFIG_DIR: '/proc/a/b' }, 78],
    ['for a report', [...gate, '--junit', '/proc/a/b.xml'], {}, 78],
    ['for temporary files', ['selftest', '--', 'true'], { TMPDIR: '/proc/a/b' }, 78],
    ['for deliveries', ['webhooks', 'listen', '--port', '0', '--save', '/proc/a/b'], {}, 64],
  ])('ends the command with an error: %s', async (_what, args, env, code) => {
    const ended = await rungate(args, env);
    expect(ended.err).toMatch(/ENOENT/);
    expect(ended.code).toBe(code);
  });
});

it('a folder in place of a report is an error with a remedy', async () => {
  const ended = await rungate([...gate, '--junit', folder]);
  expect(ended.err).toMatch(
    /error: the report .* could not be written: EISDIR.*\n {2}→ it is a folder: name a file/,
  );
  expect(ended.code).toBe(78);
});

describe.skipIf(process.platform === 'win32')('a named pipe without a reader', () => {
  it('is an error as a report', async () => {
    const pipe = join(folder, 'pipe.xml');
    execFileSync('mkfifo', [pipe]);
    const ended = await rungate([...gate, '--junit', pipe]);
    expect(ended.err).toContain('could not be written: ENXIO');
    expect(ended.code).toBe(78);
  });

  it('is reported as a file of the CI, but does not change the verdict', async () => {
    const pipe = join(folder, 'output');
    execFileSync('mkfifo', [pipe]);
    const ended = await rungate(gate, {
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: pipe,
      GITHUB_STEP_SUMMARY: pipe,
    });
    expect(ended.err).toContain('the file that GITHUB_OUTPUT names could not be written: ENXIO');
    expect(ended.code).toBe(0);
  });

  it('is an error as the file of profiles', async () => {
    const configFolder = mkdtempSync(join(folder, 'profiles-'));
    execFileSync('mkfifo', [join(configFolder, 'profiles.json')]);
    for (const args of [
      ['config', 'list'],
      ['config', 'set', 'project', 'x'],
    ]) {
      const ended = await rungate(args, { RUNGATE_CONFIG_DIR: configFolder });
      expect(ended.err).toContain('profiles');
      expect(ended.code).toBe(78);
    }
  });

  it.each(['/dev/stdout', '/dev/fd/1'])('is not %s, to which a report can be written', async (path) => {
    // Node connects a child's streams to sockets, which cannot be opened by path; a shell uses pipes.
    const inPipe = ['-c', '"$0" "$@" | cat', ...program, ...gate, '--junit', path];
    running = start('sh', inPipe, { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey }, folder);
    const ended = await running.ended;
    expect(ended.out).toContain('<testsuites');
    expect(ended.err).not.toContain('could not be written');
  });
});

describe.skipIf(process.platform === 'win32')('a device that never ends', () => {
  const endless = '/dev/zero';
  it.each<[string, readonly string[], Record<string, string | undefined>, number]>([
    ['as the key', gate, { RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: endless }, 78],
    ['as the project file', [...gate, '--config', endless], {}, 78],
    ['as the certificate authorities', [...gate, '--ca-file', endless], {}, 78],
  ])('%s is an error', async (_what, args, env, code) => {
    expect((await rungate(args, env as Record<string, string>)).code).toBe(code);
  });

  it('as the profiles file is an error', async () => {
    const home = join(folder, 'profiles');
    mkdirSync(home);
    symlinkSync(endless, join(home, 'profiles.json'));
    expect((await rungate(gate, { RUNGATE_CONFIG_DIR: home })).code).toBe(78);
  });
});
