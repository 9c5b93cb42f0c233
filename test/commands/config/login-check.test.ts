import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, cli, type Stage, stage } from '../../cli/harness.ts';
import { json, type Scene, serve, unreachableUrl } from '../../transport/serve.ts';

const secret = 'sk_live_4eC39HqLyjWDarjtT1';
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-login-check-'));
  path = join(folder, 'profiles.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = (more: Record<string, string> = {}) => ({ RUNGATE_CONFIG_DIR: folder, ...more });
const kept = () => JSON.parse(readFileSync(path, 'utf8')).profiles.default.secrets;
const login = (url: string, stdin = secret, ...flags: string[]) =>
  cli(['login', '--api-url', url, ...flags], { env: env(), stdin });

describe('login', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage();
  });
  afterEach(() => on.close());

  it('checks an API key with one read of a run that does not exist', async () => {
    const { code, err } = await login(on.mock.url, on.mock.apiKey);
    expect(code).toBe(0);
    expect(err).toMatch(/saved the API key for .* in profile default: .*; the service accepts it\n$/);
    expect(on.mock.requests.map(({ method, endpoint, status }) => [method, endpoint, status])).toEqual([
      ['GET', 'run.status', 404],
    ]);
    expect(kept().apiKey.value).toBe(on.mock.apiKey);
  });

  it('checks a token with one read of the environments', async () => {
    const { code, err } = await login(on.mock.url, on.mock.token, '--token');
    expect(code).toBe(0);
    expect(err).toMatch(/the bearer token for .* the service accepts it\n$/);
    expect(on.mock.requests.map(({ method, endpoint, query }) => [method, endpoint, query])).toEqual([
      ['GET', 'env.list', { page: '1', pageSize: '1' }],
    ]);
  });

  it('does not save a refused credential: it exits with 6 and keeps the previous one', async () => {
    await login(on.mock.url, on.mock.apiKey);
    const { code, out, err } = await login(on.mock.url, secret);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err).toMatch(
      /the service refused the API key \(401\)[\s\S]*nothing was saved; check what you gave: it may be mistyped/,
    );
    expect(err).not.toContain(secret);
    expect(kept().apiKey.value).toBe(on.mock.apiKey);
  });

  it.each([
    ['a token in place of a key', [], () => on.mock.token, '--token'],
    ['a key in place of a token', ['--token'], () => on.mock.apiKey, '--api-key'],
  ])('suggests the right option for %s', async (_what, flags, given, flag) => {
    const { code, err } = await login(on.mock.url, given(), ...flags);
    expect(code).toBe(6);
    expect(err.replace(/\s+/g, ' ')).toContain(`rungate login ${flag}`);
    expect(existsSync(path)).toBe(false);
  });

  it('sends no other credential with the check', async () => {
    const others = env({ RUNGATE_TOKEN: on.mock.token, RUNGATE_API_KEY: 'rg_of_the_environment' });
    await cli(['login', '--api-url', on.mock.url], { env: others, stdin: on.mock.apiKey });
    const [request] = on.mock.requests;
    expect(request?.headers).toMatchObject({ 'x-api-key': on.mock.apiKey });
    expect(request?.headers.authorization).toBeUndefined();
  });

  it('neither sends nor saves a credential if the project file sets caFile', async () => {
    const files = { '/repo/.git': '', '/repo/.rungate.json': '{"caFile": "ca.pem"}', '/repo/ca.pem': 'x' };
    const given = { env: env(), files, cwd: '/repo', stdin: on.mock.apiKey };
    const { code, err } = await cli(['login', '--api-url', on.mock.url], given);
    expect(code).toBe(78);
    expect(err).toMatch(/caFile in the project file must not decide/);
    expect(asked(on.mock)).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });
});

describe('login saves an unchecked credential with a warning if', () => {
  const page = '<!doctype html><title>Sign in</title>';
  const html =
    (status: number) =>
    ({ response }: Scene) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end(page);
    };

  it('nothing is listening', async () => {
    const { code, err } = await login(await unreachableUrl());
    expect(code).toBe(0);
    expect(err).toMatch(
      /warning: the API key could not be checked: .*nothing is listening[\s\S]*it was saved anyway; run rungate doctor/,
    );
    expect(kept().apiKey.value).toBe(secret);
  });

  it.each<[string, (scene: Scene) => void]>([
    ['the service fails', ({ response }) => json(response, 503, { error: 'down' })],
    ['the request is redirected', ({ response }) => response.writeHead(302, { location: '/login' }).end()],
    ['a page comes with 200', html(200)],
  ])('%s', async (_what, answer) => {
    const { url } = await serve(answer);
    for (const [flag, what, name] of [
      ['--api-key', 'API key', 'apiKey'],
      ['--token', 'bearer token', 'token'],
    ] as const) {
      const { code, err } = await login(url, secret, flag);
      expect(code).toBe(0);
      expect(err).toMatch(new RegExp(`warning: the ${what} could not be checked: .+`));
      expect(err).not.toContain('accepts it');
      expect(kept()[name].value).toBe(secret);
    }
  });
});

const old = 'https://old.example/api-base';
const oldKey = { apiKey: { value: 'rg_old_key', origin: 'https://old.example' } };
function profileWith(secrets: object): void {
  const profile = { settings: { apiUrl: old }, secrets };
  writeFileSync(path, JSON.stringify({ version: 1, profiles: { default: profile } }), { mode: 0o600 });
}

describe('a credential that could not be checked', () => {
  it.each<[string, object, string[], string]>([
    ['a credential', oldKey, [], `the API key for https://old.example and the apiUrl ${old}`],
    ['a credential of another kind with its URL', oldKey, ['--token'], `keeps the apiUrl ${old}`],
  ])('does not replace %s', async (_what, secrets, flags, kept) => {
    profileWith(secrets);
    const before = readFileSync(path, 'utf8');
    const { code, err } = await login(await unreachableUrl(), secret, ...flags);
    expect(code).toBe(7);
    expect(err).toContain('nothing is listening');
    expect(err).toContain(kept);
    expect(err).toMatch(/→ nothing was saved[\s\S]*--no-check[\s\S]*--profile <name>/);
    expect(err).not.toMatch(/rg_old_key|sk_live/);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

describe('login refuses a credential', () => {
  it('if the service denies every read with 403', async () => {
    const { url, seen } = await serve(({ response }) => json(response, 403, { error: `no: ${secret}` }));
    const { code, err } = await login(url);
    expect(code).toBe(6);
    expect(err.replace(/\s+/g, ' ')).toContain('set RUNGATE_API_KEY to use it unchecked');
    expect(err).not.toContain(secret);
    expect(existsSync(path)).toBe(false);
    expect(seen.every(({ method }) => method === 'GET')).toBe(true);
  });
});
