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

/** Nobody listens there. */
const at = 'http://127.0.0.1:1';
const login = (args: string[], settings: Settings = {}) =>
  cli(['login', ...args], { ...settings, env: { RUNGATE_CONFIG_DIR: folder, ...settings.env } });
const kept = () => JSON.parse(readFileSync(path, 'utf8'));

describe('login', () => {
  it.each<[string[], string]>([
    [[], 'apiKey'],
    [['--api-key'], 'apiKey'],
    [['--token'], 'token'],
  ])('%j keeps what is piped, for the service alone and for you alone', async (flags, name) => {
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

  it('keeps what is typed', async () => {
    await login(['--api-url', at], { secretAnswer: secret, isTTY: true });
    expect(kept().profiles.default.secrets.apiKey.value).toBe(secret);
  });

  it('keeps webhook secrets, one in a line, and the secret of a tenant, for no service', async () => {
    await login(['--webhook-secret'], { stdin: 'new-one\nold-one\n' });
    await login(['--tenant-secret'], { stdin: 'tenant-one\n' });
    expect(kept().profiles.default).toEqual({
      settings: {},
      secrets: { webhookSecrets: ['new-one', 'old-one'], tenantSecret: 'tenant-one' },
    });
  });

  it('keeps several profiles apart', async () => {
    await login(['--profile', 'work', '--api-url', at], { stdin: 'one-key' });
    await login(['--api-url', at], { stdin: 'other-key', env: { RUNGATE_PROFILE: 'home' } });
    expect(Object.keys(kept().profiles)).toEqual(['work', 'home']);
  });

  it('says when the environment comes first', async () => {
    const { err } = await login(['--api-url', at], { stdin: 'k', env: { RUNGATE_API_KEY: 'other-key' } });
    expect(err).toMatch(/RUNGATE_API_KEY is set as well, and comes first/);
  });

  it.each<[string, string[], Settings]>([
    ['nothing on standard input', ['--api-url', at], { stdin: '' }],
    ['nothing but a newline', ['--api-url', at], { stdin: '\n' }],
    ['nothing typed', ['--api-url', at], { secretAnswer: '' }],
    ['two lines', ['--api-url', at], { stdin: `${secret}\n${secret}\n` }],
    ['Bearer in front', ['--token', '--api-url', at], { stdin: `Bearer ${secret}` }],
    ['two kinds', ['--token', '--api-key', '--api-url', at], { stdin: secret }],
    ['no service', [], { stdin: secret }],
    ['a service that is none', ['--api-url', 'ci.example'], { stdin: secret }],
    ['a service that is not encrypted', ['--api-url', 'http://ci.example'], { stdin: secret }],
    ['a profile that cannot be', ['--profile', '../x', '--api-url', at], { stdin: secret }],
  ])('%s is a usage error, and nothing is kept', async (_what, args, settings) => {
    const { code, out, err } = await login(args, settings);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).not.toContain(secret);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not take the address of a project file for the one that a person means', async () => {
    const files = { '/repo/.git': '', '/repo/.rungate.json': '{"apiUrl": "https://evil.example"}' };
    const { code, err } = await login([], { stdin: secret, cwd: '/repo', files });
    expect(code).toBe(64);
    expect(err).toMatch(/the project file says https:\/\/evil\.example[\s\S]*--api-url/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('without a place for profiles is a configuration error', async () => {
    expect((await cli(['login', '--api-url', at], { stdin: secret })).code).toBe(78);
  });
});

describe('a secret on the command line is refused and never repeated:', () => {
  it.each([
    [['login', '--api-key', secret]],
    [['login', `--api-key=${secret}`]],
    [['login', '--token', secret]],
    [['login', `--token=${secret}`]],
    [['login', '--webhook-secret', secret]],
    [['login', '--api-url', at, '--api-key', secret]],
    [['--api-key', secret, 'login']],
    [['login', '--api-key', `-${secret}`]],
    [['login', '--api-key', `--${secret}`]],
    [['login', '--token', '--api-key', secret]],
    [['login', secret]],
    [['login', '--', secret]],
    [['login', '--api-key', '--', secret]],
    [['logout', secret]],
    [['logout', '--api-key', secret]],
    [['logout', `--token=${secret}`]],
    [['login', '--key', secret]],
    [['login', `--apikey=${secret}`]],
    [['run', 'wait', 'login', '--api-key', secret]],
    [['config', 'set', 'apiKey', secret]],
    [['config', 'set', 'token', secret]],
    [['config', 'set', 'webhookSecrets', secret]],
    [['config', 'set', 'api-key', secret]],
    [['config', 'set', 'strict', secret]],
    [['config', 'set', 'timeout', secret]],
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

describe('login names the character that cannot be sent in a header, and the remedy', () => {
  it.each([
    [`${secret}\n\n`, 'a line break as its last character', 'echo ends its output with a line break'],
    [`${secret} `, 'a space as its last character', 'without white space'],
    [`${secret.slice(0, 4)}\t${secret.slice(4)}`, 'a tab as character 5', 'without white space'],
    [`Bearer ${secret}`, 'a space as character 7', 'leave out "Bearer"'],
    [`${secret}\u00e9`, 'the character U+00E9 as its last character', 'copy it again'],
  ])('%j', async (stdin, problem, remedy) => {
    for (const [flag, what] of [
      ['--api-key', 'API key'],
      ['--token', 'bearer token'],
    ] as const) {
      const { code, err } = await login([flag, '--api-url', at], { stdin });
      expect(code).toBe(64);
      expect(err).toContain(`error: the ${what} has ${problem}, which cannot be sent in a header\n  → `);
      expect(err).toContain(remedy);
      expect(err).not.toContain(secret.slice(4));
    }
  });
});

describe('what login has kept', () => {
  it('is sent to its service, and is shown nowhere', async () => {
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
  ])('is not sent to another service that %s names', async (_what, naming) => {
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
      expect(err).toMatch(/bearer token of profile default was given for http:\/\/127\.0\.0\.1:1/);
      expect(on.mock.requests).toEqual([]);
    } finally {
      await on.close();
    }
  });

  it('is not sent elsewhere after the address in the profile has been changed', async () => {
    const on = await stage();
    try {
      const env = { RUNGATE_CONFIG_DIR: folder };
      await cli(['login', '--api-url', at], { env, stdin: secret });
      await cli(['config', 'set', 'apiUrl', on.mock.url], { env });
      expect((await cli(['run', 'status', 'x'], { env })).code).toBe(6);
      expect(on.mock.requests).toEqual([]);
    } finally {
      await on.close();
    }
  });

  it('is not sent where a project file vouches for the certificate', async () => {
    const env = { RUNGATE_CONFIG_DIR: folder };
    await cli(['login', '--api-url', at], { env, stdin: secret });
    const files = { '/repo/.git': '', '/repo/.rungate.json': '{"caFile": "ca.pem"}', '/repo/ca.pem': 'x' };
    const { code, err } = await cli(['run', 'status', 'x'], { env, files, cwd: '/repo' });
    expect(code).toBe(78);
    expect(err).toMatch(/caFile cannot vouch[\s\S]*config set caFile \/repo\/ca\.pem/);
  });

  it('comes with a warning when others may read it', async () => {
    const env = { RUNGATE_CONFIG_DIR: folder };
    await cli(['login', '--api-url', at], { env, stdin: secret });
    writeFileSync(`${path}.copy`, readFileSync(path));
    rmSync(path);
    writeFileSync(path, readFileSync(`${path}.copy`), { mode: 0o644 });
    const { err } = await cli(['run', 'status', 'x'], { env });
    expect(err).toMatch(/others may read your secrets: chmod 600/);
  });
});
