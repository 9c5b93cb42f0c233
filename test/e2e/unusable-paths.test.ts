import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForFile } from '../folders.ts';
import { program, type Running, rungate as run, start } from './built.ts';

let mock: MockServer;
const folder = folderForFile();
let running: Running | undefined;
beforeAll(async () => {
  mock = await startMock({ duration: 0 });
});
// A process that is blocked in a system call reacts to no other signal.
afterEach(() => running?.child.kill('SIGKILL'));
afterAll(() => mock.close());

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
  ])('ends the command with an error: %s', async (_what, args, env, code) => {
    const ended = await rungate(args, env);
    expect(ended.err).toMatch(/ENOENT/);
    expect(ended.code).toBe(code);
  });
});

const canMount = spawnSync('unshare', ['-rm', 'mount', '--bind', '/bin/true', '/bin/false']).status === 0;

describe.skipIf(!canMount)('a file that is mounted by itself', () => {
  /** Runs a command with a file of that text mounted as `name`. */
  async function mounted(name: string, text: string, args: readonly string[], options = 'bind') {
    const home = mkdtempSync(join(folder, 'mounted-'));
    const [outside, inside] = [join(home, `outside-${name}`), join(home, name)];
    for (const path of [outside, inside]) writeFileSync(path, text);
    const remount = options === 'bind' ? 'true' : `mount -o remount,${options} "$1"`;
    const script = `mount --bind "$0" "$1" && ${remount} && shift && exec "$@"`;
    const all = ['-rm', 'sh', '-c', script, outside, inside, ...program, ...args];
    const env = {
      RUNGATE_API_URL: mock.url,
      RUNGATE_API_KEY: mock.apiKey,
      RUNGATE_CONFIG_DIR: home,
    };
    running = start('unshare', all, env, home);
    const ended = await running.ended;
    return { ...ended, text: readFileSync(outside, 'utf8') };
  }

  it('receives the report in place', async () => {
    const old = 'x'.repeat(100_000);
    const ended = await mounted('mounted.xml', old, [...gate, '--junit', 'mounted.xml']);
    expect([ended.code, ended.err]).toEqual([0, expect.not.stringContaining('could not')]);
    expect(ended.text).toMatch(/^<\?xml.*<\/testsuites>\n$/s);
  });

  it('is refused as a report before the run is created if it is read-only', async () => {
    const before = mock.requests.length;
    const ended = await mounted('old.json', 'old', [...gate, '--report', 'old.json'], 'bind,ro');
    expect(ended.err).toMatch(/error: the report old\.json cannot be written: EROFS/);
    expect([ended.code, ended.text, mock.requests.length]).toEqual([78, 'old', before]);
  });
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
});
