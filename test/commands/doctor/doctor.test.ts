import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkArea, checkClock, checkLimits, checkProxy } from '../../../src/commands/doctor/checks.ts';
import { probes } from '../../../src/commands/doctor/probes.ts';
import { cli, type Stage, stage } from '../../cli/harness.ts';
import { json, serve } from '../../transport/serve.ts';

let on: Stage | undefined;
afterEach(async () => {
  await on?.close();
  on = undefined;
});

interface Report {
  ok: boolean;
  exitCode: number;
  checks: { name: string; status: string; detail: string; remedy: string | null }[];
}

async function examine(env: Record<string, string | undefined> = {}) {
  on = await stage();
  const { code, out, err } = await on.with({ env })('doctor', '--json');
  const report = JSON.parse(out) as Report;
  return { code, err, report, of: (name: string) => report.checks.find((one) => one.name === name) };
}

describe('rungate doctor', () => {
  it('says what works, step by step, and exits 0', async () => {
    const { code, report, of } = await examine();
    expect(code).toBe(0);
    expect(report).toMatchObject({ schemaVersion: 1, ok: true, exitCode: 0 });
    const names = ['version', 'settings', 'ci', 'proxy', 'dns', 'connection', 'clock'];
    expect(
      report.checks
        .map((one) => one.name)
        .filter((name) => names.includes(name))
        .sort(),
    ).toEqual(names.sort());
    for (const area of ['runs', 'environments', 'webhooks', 'orders']) {
      expect(of(`access: ${area}`)).toMatchObject({ status: 'ok' });
    }
    expect(of('settings')?.detail).toMatch(/apiUrl .* \(environment: RUNGATE_API_URL\)/);
  });

  it.each([
    ['RUNGATE_TIMEOUT', 'use --timeout, or the setting timeout in .rungate.json'],
    ['RUNGATE_PROCESS', 'use --process, or the setting process'],
    ['RUNGATE_TAGS', 'use --tag, or the setting tags'],
    ['RUNGATE_FORMAT', 'use --format, or the setting format'],
    ['RUNGATE_MAX_ATTEMPTS', 'use --max-attempts, or the setting maxAttempts'],
    ['RUNGATE_RUN_ID_POINTER', 'use the setting run.idPointer in'],
    ['RUNGATE_APIKEY', 'did you mean RUNGATE_API_KEY?'],
    ['RUNGATE_URL', 'did you mean RUNGATE_API_URL?'],
    ['RUNGATE_WEBHOOK_SECRETS', 'did you mean RUNGATE_WEBHOOK_SECRET?'],
    ['RUNGATE_ZZZZ', 'unset RUNGATE_ZZZZ'],
  ])('names a variable that rungate does not read: %s', async (name, remedy) => {
    const { code, report, of } = await examine({ [name]: 'a-value' });
    expect(code).toBe(0);
    expect(of('variables')).toMatchObject({ status: 'warn', detail: `rungate does not read ${name}` });
    expect(of('variables')?.remedy).toContain(remedy);
    expect(JSON.stringify(report)).not.toContain('a-value');
  });

  it('does not name a variable that rungate, its pipelines or its reports set', async () => {
    const names = [
      'VERDICT',
      'RUN_ID',
      'APP_URL',
      'IDEMPOTENCY_KEY',
      'ARGS',
      'PACKAGE',
      'TIMEOUT',
      'SELFTEST',
    ];
    const { of } = await examine(Object.fromEntries(names.map((name) => [`RUNGATE_${name}`, 'x'])));
    expect(of('variables')).toBeUndefined();
  });

  it('says which credentials are used and where each comes from', async () => {
    const { of } = await examine();
    expect(of('credentials')).toMatchObject({
      status: 'ok',
      detail: 'API key from RUNGATE_API_KEY; bearer token from RUNGATE_TOKEN',
    });
    expect(of('access: orders')?.detail).toBe('the bearer token is accepted');
    const files = { '/run/key': on?.mock.apiKey ?? '' };
    const env = { RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: '/run/key', RUNGATE_TOKEN: undefined };
    const { out } = (await on?.with({ env, files })('doctor')) ?? { out: '' };
    expect(out).toMatch(/^✓ credentials: API key from RUNGATE_API_KEY_FILE$/m);
    expect(out).toMatch(/^✓ access: orders: the API key is accepted$/m);
  });

  it('says which credential of the profile is not used, and why', async () => {
    on = await stage();
    const folder = mkdtempSync(join(tmpdir(), 'rungate-doctor-'));
    const path = join(folder, 'profiles.json');
    const bound = (origin: string) => ({ value: on?.mock.token, origin });
    const secrets = { apiKey: bound(new URL(on.mock.url).origin), token: bound('https://other.example') };
    const profiles = { default: { settings: {}, secrets } };
    writeFileSync(path, JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
    const env = { RUNGATE_CONFIG_DIR: folder, RUNGATE_TOKEN: undefined };
    const first = await on.with({ env })('doctor');
    expect(first.out).toMatch(
      /✓ credentials: API key from RUNGATE_API_KEY; the API key of profile default is not used: RUNGATE_API_KEY comes first; the bearer token of profile default is not used: it was given for https:\/\/other\.example$/m,
    );
    const second = await on.with({ env: { ...env, RUNGATE_API_KEY: undefined } })('doctor');
    expect(second.out).toContain(
      `✓ credentials: API key from profile default (${path}); the bearer token of`,
    );
    expect(first.out + second.out).not.toContain(on.mock.token);
    rmSync(folder, { recursive: true });
  });

  it('without any credential says how to give one, and exits 0', async () => {
    const { code, of } = await examine({ RUNGATE_TOKEN: undefined, RUNGATE_API_KEY: undefined });
    expect(code).toBe(0);
    expect(of('credentials')).toMatchObject({ status: 'warn', detail: 'none set' });
    expect(of('credentials')?.remedy).toContain('rungate login');
    expect(of('connection')).toMatchObject({ status: 'skip', detail: expect.stringContaining('not tried') });
    expect(of('limits')).toBeUndefined();
  });

  it('does not take a 404 of another server for an accepted key', async () => {
    const { url } = await serve(({ response }) => response.writeHead(404).end('<html>nothing here</html>'));
    const { out } = await cli(['doctor'], { env: { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_key' } });
    expect(out).toMatch(/^! access: runs: .*404/m);
  });

  it.each(['null', '{}'])('does not take %s with 200 for an accepted credential', async (text) => {
    const { url } = await serve(({ response }) => json(response, 200, JSON.parse(text)));
    const env = { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_key', RUNGATE_TOKEN: 'token-1' };
    const { code, out } = await cli(['doctor'], { env });
    expect(code).toBe(5);
    expect(out).not.toContain('is accepted');
  });

  it('changes nothing: reads alone go out', async () => {
    await examine();
    expect(new Set(on?.mock.requests.map((request) => request.method))).toEqual(new Set(['GET']));
  });

  it('is fit for a bug report: no secret in it', async () => {
    const proxy = 'http://user:hunter2@proxy.example:3128';
    const { report } = await examine({ NO_PROXY: '*', HTTPS_PROXY: proxy });
    const text = JSON.stringify(report);
    for (const secret of [on?.mock.apiKey, on?.mock.token, 'hunter2']) expect(text).not.toContain(secret);
  });

  it('a refused key is 6, with the remedy, and the other areas are looked at all the same', async () => {
    const { code, of } = await examine({ RUNGATE_API_KEY: 'rg_wrong_key' });
    expect(code).toBe(6);
    expect(of('access: runs')).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('RUNGATE_API_KEY'),
    });
    expect(of('access: environments')).toMatchObject({ status: 'ok' });
  });

  it('a login page in the place of the service is a failure of each area', async () => {
    on = await stage();
    on.mock.faults.add({ kind: 'html-200', times: Number.POSITIVE_INFINITY });
    const { code, out } = await on.rungate('doctor', '--json');
    expect(code).toBe(5);
    const areas = (JSON.parse(out) as Report).checks.filter(({ name }) => name.startsWith('access: '));
    expect(areas.map(({ status }) => status)).toEqual(['fail', 'fail', 'fail', 'fail']);
  });

  it('a credential that is not set is skipped, and said: a gate needs no bearer token', async () => {
    const { code, of } = await examine({ RUNGATE_TOKEN: undefined });
    expect(code).toBe(0);
    expect(of('access: environments')).toMatchObject({
      status: 'skip',
      detail: expect.stringContaining('no bearer token'),
    });
  });

  it.each([
    [{ RUNGATE_API_URL: undefined }, 78, 'service'],
    [{ RUNGATE_API_URL: 'http://127.0.0.1:1' }, 7, 'connection'],
    [{ RUNGATE_API_URL: 'https://rungate-test.invalid' }, 7, 'connection'],
  ] as const)('%j → %i', async (env, exit, name) => {
    const { code, of } = await examine(env);
    expect(code).toBe(exit);
    expect(of(name)).toMatchObject({ status: 'fail', remedy: expect.any(String) });
  });

  it('says which CI it sees, and from which variables', async () => {
    const { of } = await examine({
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: '7',
    });
    expect(of('ci')?.detail).toMatch(/^github \(repository acme\/shop.*from .*GITHUB_REPOSITORY/);
  });

  it('for a person: a line per step, marked', async () => {
    on = await stage();
    const { code, out } = await on.rungate('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/^✓ version: rungate \d/);
    expect(out).toMatch(/^✓ access: runs: the API key is accepted$/m);
  });

  it('on a terminal breaks at words, and what goes on stands below its mark', async () => {
    const { out } = await cli(['doctor'], { isTTY: true, env: { NO_COLOR: '1' } });
    const lines = out.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.at(-1)).toMatch(/^ {6}\S/);
    expect(out.replace(/\s+/g, ' ')).toContain('to try without a service: rungate mock exec -- <command>');
  });

  it('in a log keeps each remedy in one line, to be found', async () => {
    const { out } = await cli(['doctor']);
    expect(out).toMatch(/^ {4}→ give --api-url .* rungate mock exec -- <command>$/m);
  });

  it('takes no arguments', async () => {
    expect((await cli(['doctor', 'everything'])).code).toBe(64);
  });
});

describe('the checks', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    [0, 'ok'],
    [59_000, 'ok'],
    [-61_000, 'warn'],
    [3_600_000, 'warn'],
  ])('a clock %i ms off: %s', (off, status) => {
    expect(checkClock(new Date(now + off).toUTCString(), now, now).status).toBe(status);
  });

  it('a date that is none is not a clock that is off', () => {
    expect(checkClock(undefined, now, now).status).toBe('skip');
    expect(checkClock('soon', now, now).status).toBe('skip');
  });

  it('limits are those that the service tells of', () => {
    expect(checkLimits([{ 'ratelimit-limit': '60', date: 'x' }])).toMatchObject({
      status: 'ok',
      detail: 'ratelimit-limit: 60',
    });
    expect(checkLimits([{}]).status).toBe('skip');
  });

  it('a proxy is shown without its password', () => {
    const { detail } = checkProxy({ https_proxy: 'http://u:p%40ss@proxy:1', HTTP_PROXY: ' ' });
    expect(detail).toBe('https_proxy=http://***@proxy:1');
  });

  it('an error that is not one of ours is not explained away', () => {
    const [probe] = probes;
    if (probe === undefined) throw new Error('no probes');
    expect(() => checkArea(probe, { error: new TypeError('oops') }, {})).toThrow('oops');
  });
});
