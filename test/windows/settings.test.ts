import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { folderWithSpace, node, rungate, serviceEnv, windowsPath } from './windows.ts';

const folder = folderWithSpace();
const profile = `windows-${process.env.WINDOWS_NODE}`;

async function service() {
  const mock = await startMock({ duration: 100, retryAfterSeconds: 0.05 });
  onTestFinished(() => mock.close());
  return mock;
}

describe('a profile', () => {
  it('is saved in %APPDATA%, read again, and removed', async () => {
    const mock = await service();
    const login = ['login', '--profile', profile, '--api-url', mock.url, '--api-key'];
    writeFileSync(join(folder, 'key.txt'), `${mock.apiKey}\r\n`);
    const saved = await rungate(login, { cwd: folder, stdin: join(folder, 'key.txt') });
    expect(saved).toMatchObject({
      code: 0,
      err: expect.stringMatching(/C:\\users\\.*\\AppData\\Roaming\\rungate\\Config\\profiles\.json/i),
    });
    const shown = await rungate(['config', 'list', '--profile', profile], { cwd: folder });
    expect(shown).toMatchObject({
      code: 0,
      out: expect.stringContaining(mock.url),
      err: expect.stringMatching(/^the other settings have their defaults/),
    });
    expect(shown.out).not.toContain(mock.apiKey);
    const gate = ['run', 'trigger', '--profile', profile, '--project', 'a', '--process', 'b', '--wait'];
    expect(await rungate(gate, { cwd: folder })).toMatchObject({ code: 0 });
    expect(await rungate(['logout', '--profile', profile], { cwd: folder })).toMatchObject({ code: 0 });
  });

  it('in a folder that RUNGATE_CONFIG_DIR names has the permissions of that folder, and login says so', async () => {
    const mock = await service();
    const env = { RUNGATE_CONFIG_DIR: windowsPath(join(folder, 'own settings')) };
    writeFileSync(join(folder, 'key.txt'), mock.apiKey);
    const around = { cwd: folder, env, stdin: join(folder, 'key.txt') };
    const saved = await rungate(['login', '--api-url', mock.url, '--api-key'], around);
    expect(saved).toMatchObject({ code: 0, err: expect.stringContaining('Windows has no file modes') });
    expect(saved.err).not.toContain('chmod');
    expect(readdirSync(join(folder, 'own settings'))).toEqual(['profiles.json']);
  });

  it('survives ten changes at once', async () => {
    const around = { cwd: folder, env: { RUNGATE_CONFIG_DIR: windowsPath(join(folder, 'shared')) } };
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const changes = names.map((name) =>
      rungate(['config', 'set', 'project', name, '--profile', name], around),
    );
    expect((await Promise.all(changes)).map(({ code, err }) => (code === 0 ? 0 : err))).toEqual(
      names.map(() => 0),
    );
    const saved = JSON.parse(readFileSync(join(folder, 'shared/profiles.json'), 'utf8'));
    expect(Object.keys(saved.profiles).toSorted()).toEqual(names);
    expect(readdirSync(join(folder, 'shared'))).toEqual(['profiles.json']);
  });
});

it('a file with an API key may have a byte order mark and CRLF', async () => {
  const mock = await service();
  writeFileSync(join(folder, 'api key.txt'), `\ufeff${mock.apiKey}\r\n`);
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY_FILE: windowsPath(join(folder, 'api key.txt')) };
  const gate = ['run', 'trigger', '--project', 'a', '--process', 'b', '--wait'];
  expect(await rungate(gate, { cwd: folder, env })).toMatchObject({ code: 0 });
});

it('a command of mock exec gets only the credentials of the mock, whatever the case of the names', async () => {
  writeFileSync(
    join(folder, 'env.js'),
    `
    const { RUNGATE_API_KEY, RUNGATE_TOKEN, RUNGATE_TOKEN_FILE = null } = process.env;
    console.log(JSON.stringify({ RUNGATE_API_KEY, RUNGATE_TOKEN, RUNGATE_TOKEN_FILE }));
  `,
  );
  writeFileSync(join(folder, 'token.txt'), 'real-token');
  const env = { rungate_api_key: 'real-key', Rungate_Token_File: 'token.txt' };
  const { out, err } = await rungate(['mock', 'exec', '--', 'node', 'env.js'], { cwd: folder, env });
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({
    RUNGATE_API_KEY: expect.stringMatching(/^rg_/),
    RUNGATE_TOKEN: expect.stringMatching(/^eyJ/),
    RUNGATE_TOKEN_FILE: null,
  });
});

it('init writes a project file and a pipeline, with slashes in both', async () => {
  const cwd = join(folder, 'new');
  mkdirSync(join(cwd, '.git'), { recursive: true });
  mkdirSync(join(cwd, 'node_modules/rungate/docs'), { recursive: true });
  writeFileSync(join(cwd, 'node_modules/rungate/docs/rungate.schema.json'), '{}');
  const ended = await rungate(['init', '--project', 'shop', '--process', 'checkout', '--ci', 'github'], {
    cwd,
  });
  expect(ended.code).toBe(0);
  expect(JSON.parse(readFileSync(join(cwd, '.rungate.json'), 'utf8'))).toEqual({
    $schema: './node_modules/rungate/docs/rungate.schema.json',
    project: 'shop',
    process: 'checkout',
  });
  const pipeline = readFileSync(join(cwd, '.github/workflows/rungate.yml'), 'utf8');
  expect(pipeline).toMatch(/exec npx --yes rungate@\S+ gate\n/);
  expect(pipeline).not.toMatch(/\\|\r/);
});

it('a git.exe in the working directory, such as that of a stranger’s repository, is not started', async () => {
  const cwd = join(folder, 'strange');
  mkdirSync(cwd);
  copyFileSync(node, join(cwd, 'git.exe'));
  // Node would run a script with the name of the first argument.
  for (const name of ['rev-parse', 'symbolic-ref', 'config'])
    writeFileSync(join(cwd, name), "require('fs').writeFileSync('started.txt', '')");
  const gate = ['run', 'trigger', '--project', 'a', '--process', 'b'];
  expect(await rungate(gate, { cwd, env: serviceEnv(await service()) })).toMatchObject({ code: 0 });
  expect(readdirSync(cwd)).not.toContain('started.txt');
});
