import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileIds, secretIds } from '../../../src/options/table.ts';
import { cli, type Settings } from '../../cli/harness.ts';

let folder: string;
let path: string;
beforeEach(() => {
  // On macOS, the folder for temporary files is below a link.
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rungate-config-')));
  path = join(folder, 'profiles.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (argv: string[], settings: Settings = {}) =>
  cli(argv, { ...settings, env: { RUNGATE_CONFIG_DIR: folder, ...settings.env } });
const config = (...argv: string[]) => run(['config', ...argv]);
const kept = () => JSON.parse(readFileSync(path, 'utf8')).profiles;
const write = (profiles: unknown) =>
  writeFileSync(path, JSON.stringify({ version: 1, profiles }), { mode: 0o600 });

interface Listed {
  value?: unknown;
  set?: boolean;
  origin: string | null;
  detail: string | null;
}

async function list(settings: Settings = {}, argv: string[] = []): Promise<Record<string, Listed>> {
  const { code, out } = await run(['config', 'list', '--json', ...argv], settings);
  expect(code).toBe(0);
  return JSON.parse(out).settings;
}

describe('config list', () => {
  const secrets = {
    RUNGATE_API_KEY: 'k3y-one',
    RUNGATE_WEBHOOK_SECRET: 'wh-one\nwh-two',
    RUNGATE_HUB_TOKEN: 'hub-token',
  };

  it('shows every setting, and for secrets only whether they are set', async () => {
    const listed = await list({ env: secrets });
    expect(Object.keys(listed).toSorted()).toEqual([...fileIds, ...secretIds].toSorted());
    expect(listed.apiKey).toEqual({ set: true, origin: 'environment', detail: 'RUNGATE_API_KEY' });
    expect(listed.token).toEqual({ set: false, origin: null, detail: null });
    for (const argv of [['--json'], [], ['--format', 'table'], ['--format', 'ndjson']]) {
      const { out, err } = await run(['config', 'list', ...argv], { env: secrets });
      expect(out + err).not.toMatch(/k3y-one|wh-one|wh-two|hub-token/);
    }
  });
});

it('config list --all shows the defaults of gate and of run wait where they differ, until something sets them', async () => {
  const differing = (out: string) => out.match(/^.*\((?:gate|run wait)\).*$/gm);
  expect(differing((await config('list', '--all')).out)).toEqual([
    'maxAttempts (gate)\tno limit\tdefault\t',
    'maxAttempts (run wait)\t60\tdefault\t',
    'strict (gate)\ttrue\tdefault\t',
    'strict (run wait)\t\t\t',
    'on cancelled (gate)\tfail\tdefault\t',
    'on cancelled (run wait)\twarn\tdefault\t',
  ]);
  write({ default: { settings: { strict: false, maxAttempts: 9 } } });
  expect(differing((await config('list', '--all')).out)).toBeNull();
});

describe('config get', () => {
  it('prints only the value', async () => {
    write({ default: { settings: { tags: ['a', 'b'], interval: '5s', strict: false } } });
    expect((await config('get', 'tags')).out).toBe('a,b\n');
    expect((await config('get', 'interval')).out).toBe('5s\n');
    expect((await config('get', 'strict')).out).toBe('false\n');
    expect(await config('get', 'project')).toEqual({ code: 0, out: '', err: 'project is not set\n' });
  });

  it.each(['get', 'set', 'unset'])('%s suggests the nearest setting for an unknown name', async (command) => {
    const value = command === 'set' ? ['1'] : [];
    const { code, err } = await config(command, 'intervall', ...value);
    expect(code).toBe(64);
    expect(err).toMatch(/unknown setting "intervall"[\s\S]*did you mean interval\?/);
  });
});

describe('config set', () => {
  it.each<[string, string, unknown]>([
    ['tags', 'smoke, nightly', ['smoke', 'nightly']],
    ['on', 'cancelled=fail,timeout=warn', { cancelled: 'fail', timeout: 'warn' }],
    ['interval', '90', '90s'],
    ['caFile', 'own.pem', '/nowhere/own.pem'],
    ['receipt.subjects', `shop@sha256:${'a'.repeat(64)}`, [`shop@sha256:${'a'.repeat(64)}`]],
  ])('%s %s saves %j, which rungate then uses', async (name, text, json) => {
    expect(await config('set', name, text)).toMatchObject({ code: 0, out: '' });
    expect(kept().default.settings).toEqual({ [name]: json });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const plain = Array.isArray(json) ? json.join(',') : typeof json === 'object' ? text : String(json);
    const { out } = await config('get', name);
    expect(out).toBe(`${plain}\n`);
  });

  it('hides the query of the version page, which may contain a secret, in every format', async () => {
    const url = 'https://shop.example/version?key=hidden';
    await config('set', 'deployed.url', url);
    expect(kept().default.settings).toEqual({ 'deployed.url': url });
    for (const argv of [['get', 'deployed.url'], ['list']]) {
      for (const format of [[], ['--json'], ['--format', 'table']]) {
        const { out, err } = await config(...argv, ...format);
        expect(out).toContain('https://shop.example/version?…');
        expect(out + err).not.toContain('hidden');
      }
    }
  });

  it.each([
    ['strict', 'maybe'],
    ['on', 'timeout=pass'],
  ])('%s %j is a usage error and saves nothing', async (name, text) => {
    expect(await config('set', name, text)).toMatchObject({ code: 64, out: '' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('config unset', () => {
  it('removes a setting or a secret', async () => {
    await run(['login', '--api-url', 'http://127.0.0.1:1'], { stdin: 'k3y-one' });
    await config('set', 'project', 'shop');
    expect((await config('unset', 'project')).code).toBe(0);
    expect((await config('unset', 'apiKey')).code).toBe(0);
    expect(kept()).toEqual({ default: { settings: { apiUrl: 'http://127.0.0.1:1' }, secrets: {} } });
  });
});

describe('profiles', () => {
  it('are chosen by --profile, or else by RUNGATE_PROFILE', async () => {
    write({ a: { settings: { project: 'one' } }, b: { settings: { project: 'two' } } });
    const env = { RUNGATE_PROFILE: 'a' };
    expect((await run(['config', 'get', 'project'], { env })).out).toBe('one\n');
    expect((await run(['config', 'get', 'project', '--profile', 'b'], { env })).out).toBe('two\n');
    expect((await run(['--profile', 'b', 'config', 'get', 'project'])).out).toBe('two\n');
    expect((await list({ env })).project?.detail).toBe(`${path}, profile a`);
  });
});

describe('a profiles file that is damaged or of another program', () => {
  const torn = '{"version":1,"profiles":{"default":{"secrets":{"tenantSecret":"t0p-secret"}';

  it.each(
    [torn, '{"name":"mine"}', ''].flatMap((text) =>
      [
        ['run', 'wait', 'run_1'],
        ['config', 'list'],
        ['config', 'set', 'project', 'shop'],
        ['login', '--api-url', 'http://127.0.0.1:1'],
      ].map((argv): [string, string[]] => [text, argv]),
    ),
  )('%j is left as it is by %j, which fails each time', async (text, argv) => {
    writeFileSync(path, text, { mode: 0o600 });
    for (const _ of ['first', 'second']) {
      const { code, out, err } = await run(argv, { stdin: 'k' });
      expect({ code, out }).toEqual({ code: 78, out: '' });
      expect(err).toMatch(
        /error: .*profiles\.json.*\n {2}→ fix it, or move it away; or set RUNGATE_CONFIG_DIR/,
      );
      expect(err).not.toContain('t0p-secret');
    }
    expect(readdirSync(folder)).toEqual(['profiles.json']);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});
