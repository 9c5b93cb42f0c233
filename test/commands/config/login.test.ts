import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, cli, type Settings, stage } from '../../cli/harness.ts';

const secret = 'sk_live_4eC39HqLyjWDarjtT1';
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-login-'));
  path = join(folder, 'profiles.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A URL at which nothing is listening. */
const at = 'http://127.0.0.1:1';
const login = (args: string[], settings: Settings = {}) =>
  cli(['login', ...args], { ...settings, env: { RUNGATE_CONFIG_DIR: folder, ...settings.env } });
const kept = () => JSON.parse(readFileSync(path, 'utf8'));

describe('login', () => {
  it.each<[string[], string]>([
    [[], 'apiKey'],
    [['--api-key'], 'apiKey'],
    [['--token'], 'token'],
  ])('%j saves a piped secret for this service and this user only', async (flags, name) => {
    const result = await login([...flags, '--api-url', `${at}/base`], { stdin: `${secret}\n` });
    expect(result).toMatchObject({ code: 0, out: '' });
    expect(kept()).toEqual({
      version: 1,
      profiles: {
        default: {
          settings: { apiUrl: `${at}/base` },
          secrets: { [name]: { value: secret, origin: at } },
        },
      },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('saves webhook secrets, one per line, and a tenant secret, without tying them to a service', async () => {
    await login(['--webhook-secret'], { stdin: 'new-one\nold-one\n' });
    await login(['--tenant-secret'], { stdin: 'tenant-one\n' });
    expect(kept().profiles.default).toEqual({
      settings: {},
      secrets: { webhookSecrets: ['new-one', 'old-one'], tenantSecret: 'tenant-one' },
    });
  });

  it.each<[string, string[], Settings]>([
    ['an empty standard input', ['--api-url', at], { stdin: '' }],
    ['two lines', ['--api-url', at], { stdin: `${secret}\n${secret}\n` }],
    ['Bearer in front', ['--token', '--api-url', at], { stdin: `Bearer ${secret}` }],
    ['no service', [], { stdin: secret }],
    ['an invalid profile name', ['--profile', '../x', '--api-url', at], { stdin: secret }],
  ])('refuses %s with a usage error and saves nothing', async (_what, args, settings) => {
    const { code, out, err } = await login(args, settings);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).not.toContain(secret);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not use the URL in the project file', async () => {
    const files = { '/repo/.git': '', '/repo/.rungate.json': '{"apiUrl": "https://evil.example"}' };
    const { code, err } = await login([], { stdin: secret, cwd: '/repo', files });
    expect(code).toBe(64);
    expect(err).toMatch(/the project file names https:\/\/evil\.example[\s\S]*--api-url/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a secret on the command line is refused and not repeated:', () => {
  it.each([
    [['login', '--api-key', secret]],
    [['login', `--api-key=${secret}`]],
    [['--api-key', secret, 'login']],
    [['login', '--api-key', `--${secret}`]],
    [['login', '--token', '--api-key', secret]],
    [['login', secret]],
    [['logout', `--token=${secret}`]],
    [['login', '--key', secret]],
    [['login', `--apikey=${secret}`]],
    [['run', 'wait', 'login', '--api-key', secret]],
    [['config', 'set', 'apiKey', secret]],
    [['config', 'set', 'strict', secret]],
    [['config', 'set', 'on', `failed=${secret}`]],
    [['config', 'set', 'apiUrl', `https://me:${secret}@ci.example`]],
  ])('%j', async (argv) => {
    for (const json of [[], ['--json']]) {
      const env = { RUNGATE_CONFIG_DIR: folder };
      const { code, out, err } = await cli([...json, ...argv], { env, stdin: 'k' });
      expect({ code, out }).toEqual({ code: 64, out: '' });
      expect(err).not.toContain(secret);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});

describe('a saved credential', () => {
  it('is sent to its service and never shown', async () => {
    const on = await stage();
    try {
      const env = { RUNGATE_CONFIG_DIR: folder };
      await cli(['login', '--api-url', on.mock.url], { env, stdin: on.mock.apiKey });
      await cli(['login', '--token', '--api-url', on.mock.url], { env, stdin: on.mock.token });
      for (const argv of [
        ['env', 'list'],
        ['keys', 'delete', 'none', '--yes'],
        ['config', 'list', '--json'],
      ]) {
        const { out, err } = await cli([...argv, '--verbose'], { env });
        expect(out + err).not.toContain(on.mock.apiKey);
        expect(out + err).not.toContain(on.mock.token);
      }
      expect((await cli(['env', 'list'], { env })).code).toBe(0);
      expect(asked(on.mock)).toContain('keys.delete');
    } finally {
      await on.close();
    }
  });

  it.each([
    ['the flag', (url: string) => ({ args: ['--api-url', url] })],
    ['the environment', (url: string) => ({ env: { RUNGATE_API_URL: url } })],
    [
      'the project file',
      (url: string) => ({
        cwd: '/repo',
        files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify({ apiUrl: url }) },
      }),
    ],
  ])('is not sent to another service that comes from %s', async (_what, naming) => {
    const on = await stage();
    try {
      const env = { RUNGATE_CONFIG_DIR: folder };
      await cli(['login', '--api-url', at], { env, stdin: secret });
      await cli(['login', '--token', '--api-url', at], { env, stdin: `${secret}t` });
      const { args = [], ...settings } = naming(on.mock.url) as Settings & { args?: string[] };
      const { code, err } = await cli(['env', 'list', ...args], {
        ...settings,
        env: { ...env, ...settings.env },
      });
      expect(code).toBe(6);
      expect(err).toMatch(/bearer token of profile default was saved for http:\/\/127\.0\.0\.1:1/);
      expect(on.mock.requests).toEqual([]);
    } finally {
      await on.close();
    }
  });

  it('is not sent if the project file sets caFile', async () => {
    const env = { RUNGATE_CONFIG_DIR: folder };
    await cli(['login', '--api-url', at], { env, stdin: secret });
    const files = { '/repo/.git': '', '/repo/.rungate.json': '{"caFile": "ca.pem"}', '/repo/ca.pem': 'x' };
    const { code, err } = await cli(['run', 'status', 'x'], { env, files, cwd: '/repo' });
    expect(code).toBe(78);
    expect(err).toMatch(/caFile in the project file must not decide[\s\S]*config set caFile \/repo\/ca\.pem/);
  });

  it('causes a warning if other users can read it', async () => {
    const env = { RUNGATE_CONFIG_DIR: folder };
    await cli(['login', '--api-url', at], { env, stdin: secret });
    writeFileSync(`${path}.copy`, readFileSync(path));
    rmSync(path);
    writeFileSync(path, readFileSync(`${path}.copy`), { mode: 0o644 });
    const { err } = await cli(['run', 'status', 'x'], { env });
    expect(err).toMatch(/other users may be able to read your secrets: run chmod 600/);
  });
});
