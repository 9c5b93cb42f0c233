import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, cli, inRepository, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { json, type Scene, serve } from '../../transport/serve.ts';

const secret = 'sk_live_4eC39HqLyjWDarjtT1';
/** A URL at which nothing is listening. */
const at = 'http://127.0.0.1:1';
let folder: string;
let path: string;
let on: Stage;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-login-'));
  path = join(folder, 'profiles.json');
  on = await stage();
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (argv: readonly string[], settings: Settings = {}) =>
  cli(argv, { ...settings, env: { RUNGATE_CONFIG_DIR: folder, ...settings.env } });
const login = (url: string, stdin = secret, ...flags: string[]) =>
  run(['login', '--api-url', url, ...flags], { stdin });
const kept = () => JSON.parse(readFileSync(path, 'utf8')).profiles.default;
/** A project file that sets caFile: it must not decide which server gets a credential. */
const ownCa = {
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': '{"caFile": "ca.pem"}', '/repo/ca.pem': 'x' },
};

describe('login', () => {
  it.each<[string[], string]>([
    [[], 'apiKey'],
    [['--token'], 'token'],
  ])('%j saves a piped secret for this service and this user only', async (flags, name) => {
    expect(await login(`${at}/base`, `${secret}\n`, ...flags)).toMatchObject({ code: 0, out: '' });
    const secrets = { [name]: { value: secret, origin: at } };
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      version: 1,
      profiles: { default: { settings: { apiUrl: `${at}/base` }, secrets } },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('saves webhook secrets, one per line, and a tenant secret, without tying them to a service', async () => {
    await run(['login', '--webhook-secret'], { stdin: 'new-one\nold-one\n' });
    await run(['login', '--tenant-secret'], { stdin: 'tenant-one\n' });
    const secrets = { webhookSecrets: ['new-one', 'old-one'], tenantSecret: 'tenant-one' };
    expect(kept()).toEqual({ settings: {}, secrets });
  });

  it.each<[string, string[], Settings]>([
    ['an empty standard input', ['--api-url', at], { stdin: '' }],
    ['two lines', ['--api-url', at], { stdin: `${secret}\n${secret}\n` }],
    ['Bearer in front', ['--token', '--api-url', at], { stdin: `Bearer ${secret}` }],
    ['no service', [], { stdin: secret }],
    ['an invalid profile name', ['--profile', '../x', '--api-url', at], { stdin: secret }],
  ])('refuses %s with a usage error and saves nothing', async (_what, args, settings) => {
    const { code, out, err } = await run(['login', ...args], settings);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).not.toContain(secret);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not use the URL in the project file', async () => {
    const project = inRepository({ apiUrl: 'https://evil.example' });
    const { code, err } = await run(['login'], { ...project, stdin: secret });
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
    for (const format of [[], ['--json']]) {
      const { code, out, err } = await run([...format, ...argv], { stdin: 'k' });
      expect({ code, out }).toEqual({ code: 64, out: '' });
      expect(err).not.toContain(secret);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});

describe('a saved credential', () => {
  it('is sent to its service and never shown', async () => {
    await login(on.mock.url, on.mock.apiKey);
    await login(on.mock.url, on.mock.token, '--token');
    for (const argv of [
      ['env', 'list'],
      ['keys', 'delete', 'none', '--yes'],
      ['config', 'list', '--json'],
    ]) {
      const { out, err } = await run([...argv, '--verbose']);
      expect(out + err).not.toContain(on.mock.apiKey);
      expect(out + err).not.toContain(on.mock.token);
    }
    expect((await run(['env', 'list'])).code).toBe(0);
    expect(asked(on.mock)).toContain('keys.delete');
  });

  it.each<[string, (url: string) => Settings & { args?: string[] }]>([
    ['the flag', (url) => ({ args: ['--api-url', url] })],
    ['the environment', (url) => ({ env: { RUNGATE_API_URL: url } })],
    ['the project file', (url) => inRepository({ apiUrl: url })],
  ])('is not sent to another service that comes from %s', async (_what, naming) => {
    await login(at);
    await login(at, `${secret}t`, '--token');
    const { args = [], ...settings } = naming(on.mock.url);
    const { code, err } = await run(['env', 'list', ...args], settings);
    expect(code).toBe(6);
    expect(err).toMatch(/bearer token of profile default was saved for http:\/\/127\.0\.0\.1:1/);
    expect(on.mock.requests).toEqual([]);
  });

  it('is not sent to another service after apiUrl in the profile changes', async () => {
    await login(at);
    await run(['config', 'set', 'apiUrl', on.mock.url]);
    expect((await run(['run', 'status', 'x'])).code).toBe(6);
    expect(on.mock.requests).toEqual([]);
  });

  it('is not sent if the project file sets caFile', async () => {
    await login(at);
    const { code, err } = await run(['run', 'status', 'x'], ownCa);
    expect(code).toBe(78);
    expect(err).toMatch(/caFile in the project file must not decide[\s\S]*config set caFile \/repo\/ca\.pem/);
  });

  it('causes a warning if other users can read it', async () => {
    await login(at);
    const text = readFileSync(path);
    rmSync(path);
    writeFileSync(path, text, { mode: 0o644 });
    const { err } = await run(['run', 'status', 'x']);
    expect(err).toMatch(/other users may be able to read your secrets: run chmod 600/);
  });
});

describe('login checks the credential', () => {
  const sent = () => on.mock.requests.map(({ method, endpoint, status }) => [method, endpoint, status]);

  it('with one read of a run that does not exist, and no other credential', async () => {
    const env = { RUNGATE_TOKEN: on.mock.token, RUNGATE_API_KEY: 'rg_of_the_environment' };
    const { code, err } = await run(['login', '--api-url', on.mock.url], { env, stdin: on.mock.apiKey });
    expect(code).toBe(0);
    expect(err).toMatch(/saved the API key for .* in profile default: .*; the service accepts it\n/);
    expect(sent()).toEqual([['GET', 'run.status', 404]]);
    const [request] = on.mock.requests;
    expect(request?.headers).toMatchObject({ 'x-api-key': on.mock.apiKey });
    expect(request?.headers.authorization).toBeUndefined();
    expect(kept().secrets.apiKey.value).toBe(on.mock.apiKey);
  });

  it('with one read of the environments if it is a token', async () => {
    const { code, err } = await login(on.mock.url, on.mock.token, '--token');
    expect(code).toBe(0);
    expect(err).toMatch(/the bearer token for .* the service accepts it\n$/);
    expect(sent()).toEqual([['GET', 'env.list', 200]]);
    expect(on.mock.requests[0]?.query).toEqual({ page: '1', pageSize: '1' });
  });

  it('and does not save a refused one: it exits with 6 and keeps the previous one', async () => {
    await login(on.mock.url, on.mock.apiKey);
    const { code, out, err } = await login(on.mock.url);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err).toMatch(
      /the service refused the API key \(401\)[\s\S]*nothing was saved; check what you gave: it may be mistyped/,
    );
    expect(err).not.toContain(secret);
    expect(kept().secrets.apiKey.value).toBe(on.mock.apiKey);
  });

  it.each([
    ['a token in place of a key', [], () => on.mock.token, '--token'],
    ['a key in place of a token', ['--token'], () => on.mock.apiKey, '--api-key'],
  ])('and suggests the right option for %s', async (_what, flags, given, flag) => {
    const { code, err } = await login(on.mock.url, given(), ...flags);
    expect(code).toBe(6);
    expect(err.replace(/\s+/g, ' ')).toContain(`rungate login ${flag}`);
    expect(existsSync(path)).toBe(false);
  });

  it('and neither sends nor saves it if the project file sets caFile', async () => {
    const settings = { ...ownCa, stdin: on.mock.apiKey };
    const { code, err } = await run(['login', '--api-url', on.mock.url], settings);
    expect([code, err]).toEqual([78, expect.stringContaining('caFile in the project file must not decide')]);
    expect([asked(on.mock), existsSync(path)]).toEqual([[], false]);
  });

  it('and refuses it if the service denies every read with 403', async () => {
    const { url, seen } = await serve(({ response }) => json(response, 403, { error: `no: ${secret}` }));
    const { code, err } = await login(url);
    expect(code).toBe(6);
    expect(err.replace(/\s+/g, ' ')).toContain('set RUNGATE_API_KEY to use it unchecked');
    expect(err).not.toContain(secret);
    expect(existsSync(path)).toBe(false);
    expect(seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each<[string, (scene: Scene) => void]>([
    ['the service fails', ({ response }) => json(response, 503, { error: 'down' })],
    ['the request is redirected', ({ response }) => response.writeHead(302, { location: '/login' }).end()],
    ['a page comes with 200', ({ response }) => response.end('<!doctype html><title>Sign in</title>')],
    ['the connection breaks', ({ socket }) => socket.destroy()],
  ])('and saves it unchecked with a warning if %s', async (_what, answer) => {
    const { url } = await serve(answer);
    for (const [flag, what, name] of [
      ['--api-key', 'API key', 'apiKey'],
      ['--token', 'bearer token', 'token'],
    ] as const) {
      const { code, err } = await login(url, secret, flag);
      expect(code).toBe(0);
      expect(err).toMatch(new RegExp(`warning: the ${what} could not be checked: .+`));
      expect(err).toMatch(/it was saved anyway; run rungate doctor/);
      expect(err).not.toContain('accepts it');
      expect(kept().secrets[name].value).toBe(secret);
    }
  });

  const old = 'https://old.example/api-base';
  it.each<[string, string[], string]>([
    ['a credential', ['--quiet'], `the API key for https://old.example`],
    ['one of another kind with its URL', ['--token'], `keeps the apiUrl ${old}`],
  ])('but does not replace %s by one that could not be checked', async (_what, flags, text) => {
    const secrets = { apiKey: { value: 'rg_old_key', origin: 'https://old.example' } };
    const profiles = { default: { settings: { apiUrl: old }, secrets } };
    writeFileSync(path, JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
    const before = readFileSync(path, 'utf8');
    const { code, err } = await login(at, secret, ...flags);
    expect([code, err]).toEqual([7, expect.stringContaining(text)]);
    expect(err).toMatch(/→ nothing was saved[\s\S]*--no-check[\s\S]*--profile <name>/);
    expect(err).not.toMatch(/rg_old_key|sk_live/);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

describe('logout', () => {
  async function logInWithAll(): Promise<void> {
    for (const kind of ['--api-key', '--token']) await login(at, 'k3y-one', kind);
    await run(['login', '--webhook-secret'], { stdin: 'one\ntwo\n' });
    await run(['login', '--tenant-secret'], { stdin: 'three\n' });
  }

  it('removes every secret from the profile and leaves its settings', async () => {
    await logInWithAll();
    const { code, out, err } = await run(['logout']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain(
      'removed the API key, the bearer token, the webhook secret, and the tenant secret from profile default',
    );
    expect(err).toContain('the API key stays valid until you delete it: rungate keys delete <id>');
    expect(kept()).toEqual({ settings: { apiUrl: at }, secrets: {} });
  });

  it.each([
    [['--token'], ['apiKey', 'tenantSecret', 'webhookSecrets']],
    [
      ['--webhook-secret', '--tenant-secret'],
      ['apiKey', 'token'],
    ],
  ])('with %j removes only these secrets', async (flags, left) => {
    await logInWithAll();
    expect((await run(['logout', ...flags])).code).toBe(0);
    expect(Object.keys(kept().secrets).sort()).toEqual(left);
  });
});
