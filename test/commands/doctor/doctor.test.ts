import { afterEach, describe, expect, it } from 'vitest';
import { checkClock } from '../../../src/commands/doctor/checks.ts';
import { asked, inRepository, type Stage, stage } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';

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
  it('reports each check and exits with 0', async () => {
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
    ['RUNGATE_RUN_ID_POINTER', 'set run.idPointer in'],
    ['RUNGATE_URL', 'did you mean RUNGATE_API_URL?'],
  ])('warns about %s, which rungate does not read', async (name, remedy) => {
    const { code, report, of } = await examine({ [name]: 'a-value' });
    expect(code).toBe(0);
    expect(of('variables')).toMatchObject({ status: 'warn', detail: `rungate does not read ${name}` });
    expect(of('variables')?.remedy).toContain(remedy);
    expect(JSON.stringify(report)).not.toContain('a-value');
  });

  it('lists the credentials in use and their sources', async () => {
    const { of } = await examine();
    expect(of('credentials')).toMatchObject({
      status: 'ok',
      detail: 'API key from RUNGATE_API_KEY; bearer token from RUNGATE_TOKEN',
    });
    expect(of('access: orders')?.detail).toBe('the service accepts the bearer token');
    const files = { '/run/key': on?.mock.apiKey ?? '' };
    const env = { RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: '/run/key', RUNGATE_TOKEN: undefined };
    const { out } = (await on?.with({ env, files })('doctor')) ?? { out: '' };
    expect(out).toMatch(/^✓ credentials: API key from RUNGATE_API_KEY_FILE$/m);
    expect(out).toMatch(/^✓ access: orders: the service accepts the API key$/m);
  });

  it('prints no secret', async () => {
    const proxy = 'http://user:hunter2@proxy.example:3128';
    const { report } = await examine({ NO_PROXY: '*', HTTPS_PROXY: proxy });
    const text = JSON.stringify(report);
    for (const secret of [on?.mock.apiKey, on?.mock.token, 'hunter2']) expect(text).not.toContain(secret);
  });

  it('exits with 6 and a remedy for a refused key, and still checks the other areas', async () => {
    const { code, of } = await examine({ RUNGATE_API_KEY: 'rg_wrong_key' });
    expect(code).toBe(6);
    expect(of('access: runs')).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('RUNGATE_API_KEY'),
    });
    expect(of('access: environments')).toMatchObject({ status: 'ok' });
  });

  it('fails every area if a login page responds instead of the service', async () => {
    on = await stage();
    on.mock.faults.add({ kind: 'html-200', times: Number.POSITIVE_INFINITY });
    const { code, out } = await on.rungate('doctor', '--json');
    expect(code).toBe(5);
    const { checks } = JSON.parse(out) as Report;
    expect(checks.filter(({ status }) => status === 'fail')).toMatchObject([
      {
        name: 'access: runs, environments, webhooks, orders',
        remedy: 'check RUNGATE_API_URL: it may not be the URL of the service',
      },
    ]);
    expect(checks.find(({ name }) => name === 'connection')).toMatchObject({ status: 'ok' });
  });

  it.each([
    [{ RUNGATE_API_URL: undefined }, 78, 'service'],
    [{ RUNGATE_API_URL: 'http://127.0.0.1:1' }, 7, 'connection'],
    [{ RUNGATE_API_URL: 'https://rungate-test.invalid' }, 7, 'connection'],
  ] as const)('fails for %j with exit code %i', async (env, exit, name) => {
    const { code, of } = await examine(env);
    expect(code).toBe(exit);
    expect(of(name)).toMatchObject({ status: 'fail', remedy: expect.any(String) });
  });
});

/** A JWT that expires this many milliseconds after the start of the mock's clock. */
function jwt(claims: unknown) {
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.c2lnbmF0dXJl`;
}

describe('a bearer token', () => {
  const inSeconds = (seconds: number) => jwt({ exp: Math.floor(fakeClock().now() / 1000) + seconds });

  it.each([
    [7200, 'ok', /^the bearer token expires in (2 h|1 h 59 min) /],
    [300, 'warn', /^the bearer token expires in (5 min|4 min)/],
    [-7200, 'warn', /^the bearer token expired 2 h ago \(\d{4}-\d\d-\d\dT[\d:]+Z\)$/],
  ])('that expires in %i s is a check with the status %s', async (seconds, status, detail) => {
    on = await stage({ token: inSeconds(seconds) });
    const { out } = await on.rungate('doctor', '--json');
    const { checks } = JSON.parse(out) as Report;
    expect(checks.find(({ name }) => name === 'token')).toMatchObject({
      status,
      detail: expect.stringMatching(detail),
    });
    expect(out).not.toContain(on.mock.token);
  });

  it.each([jwt({}), jwt({ exp: '1' })])('without a readable expiry has no check: %s', async (token) => {
    on = await stage({ token });
    const { checks } = JSON.parse((await on.rungate('doctor', '--json')).out) as Report;
    expect(checks.find(({ name }) => name === 'token')).toBeUndefined();
  });
});

describe('the project, the process and the environment', () => {
  const selection = async (
    env: Record<string, string | undefined>,
    file: object = { process: 'checkout' },
  ) => {
    on = await stage();
    const { out } = await on.with(inRepository(file, env))('doctor', '--json');
    return (JSON.parse(out) as Report).checks.find(({ name }) => name === 'selection');
  };

  it('exist, as far as the service can tell without a run', async () => {
    expect(await selection({ RUNGATE_PROJECT: 'shop', RUNGATE_ENVIRONMENT: 'staging' })).toMatchObject({
      status: 'ok',
      detail:
        'the service has project shop, environment staging; not checked, because only a run can tell: process checkout',
    });
    expect(asked(on?.mock as Stage['mock'])).not.toContain('run.trigger');
  });

  it.each([
    [
      { RUNGATE_PROJECT: 'shop', RUNGATE_ENVIRONMENT: 'stagin' },
      'warn',
      /^environment stagin: no environment has that id or key: did you mean staging\?; the service has project/,
    ],
    [
      { RUNGATE_PROJECT: 'shop', RUNGATE_ENVIRONMENT: 'env_8za03c7w12h3' },
      'warn',
      /^environment env_8za03c7w12h3: it is an id: a gate takes the key/,
    ],
    [
      { RUNGATE_PROJECT: 'shop', RUNGATE_TOKEN: undefined },
      'skip',
      /^not checked, because that needs the service and a bearer token: project shop;/,
    ],
  ])('with %j', async (env, status, detail) => {
    expect(await selection(env)).toMatchObject({ status, detail: expect.stringMatching(detail) });
  });
});

describe('the checks', () => {
  const now = Date.UTC(2026, 0, 1);
  it.each([
    [0, 'ok'],
    [-61_000, 'warn'],
  ])('report a clock that is %i ms off as %s', (off, status) => {
    expect(checkClock(new Date(now + off).toUTCString(), now, now).status).toBe(status);
  });
});

it.each<[string, string, object, string, RegExp]>([
  ['is the expected one', 'v1', { is: 'v1' }, 'ok', /^http:\S+\/_mock\/version\?… shows "v1", as expected$/],
  ['is another one', 'v1', { is: 'v2' }, 'warn', /shows "v1", not "v2"$/],
  [
    'is the digest of another subject',
    `sha256:${'ab'.repeat(32)}`,
    { subjects: [`shop@sha256:${'cd'.repeat(32)}`] },
    'warn',
    /, not "sha256:(?:cd){32}"$/,
  ],
])(
  'the deployed build %s',
  async (_what, deployed, { subjects = [], ...settings }: { subjects?: string[] }, status, detail) => {
    on = await stage({ deployed });
    const url = `${on.mock.url}/_mock/version?key=query-secret`;
    const project = JSON.stringify({ deployed: { url, ...settings }, receipt: { subjects } });
    const files = { '/repo/.git': '', '/repo/.rungate.json': project };
    const { code, out } = await on.with({ files, cwd: '/repo' })('doctor', '--json');
    expect(out).not.toContain('query-secret');
    const check = (JSON.parse(out) as Report).checks.find(({ name }) => name === 'deployed build');
    expect([code, check]).toMatchObject([0, { status, detail: expect.stringMatching(detail) }]);
  },
);
