import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredEnvironment } from '../../../src/mock/data/environments.ts';
import type { Run } from '../../../src/mock/runs.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { asked, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { withLimits } from '../../fake-clock.ts';
import { listen } from '../../listen.ts';

let on: Stage;
let server: Server;
let url: string;
let page: RequestListener;
let pageRequests: string[];
/** The environments of runs that did not exist when the run started. */
const unknownEnvironments: string[] = [];

beforeEach(async () => {
  pageRequests = [];
  page = (_request, response) => void response.end('the shop');
  server = createServer((request, response) => {
    pageRequests.push(
      `${request.method} ${request.url} ${request.headers['x-api-key'] ?? request.headers.authorization ?? ''}`.trim(),
    );
    page(request, response);
  });
  url = `http://localhost:${await listen(server)}`;
});
afterEach(async () => {
  expect(unknownEnvironments.splice(0)).toEqual([]);
  await on?.close();
});

const gate = 'gate --project shop --process checkout --timeout 30m --interval 10s'.split(' ');
const begin = async (options: MockOptions = {}) => {
  const real = await stage({ duration: 60_000, ...options });
  const { state } = real.mock;
  const { watchRun } = state;
  Object.assign(state, {
    watchRun(run: Run) {
      const { environmentKey } = run.request;
      const keys = [...state.account.environments.values()].map(({ key }) => key);
      if (environmentKey && !keys.includes(environmentKey)) unknownEnvironments.push(environmentKey);
      watchRun(run);
    },
  });
  const using = (settings: Settings) => real.with({ clock: withLimits(real.clock), ...settings });
  on = { ...real, with: using, rungate: using({}) };
};
const environments = (): StoredEnvironment[] => [...on.mock.state.account.environments.values()];
const own = () => environments().filter(({ key }) => key?.startsWith('rg-'));
const sent = (endpoint: string) => on.mock.requests.filter((request) => request.endpoint === endpoint);
const bodies = (endpoint: string) =>
  sent(endpoint).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
const always = (fault: Fault): Fault => ({ ...fault, times: Number.POSITIVE_INFINITY });

const github = {
  GITHUB_ACTIONS: 'true',
  GITHUB_RUN_ID: '7',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'e2e',
  GITHUB_REPOSITORY: 'acme/shop',
};
const commit = '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c';

it('creates an environment for the deployment, runs in it and deletes it', async () => {
  await begin();
  const { code, err } = await on.rungate(...gate, '--base-url', url, '--commit-sha', commit);
  expect(code).toBe(0);
  const [created] = bodies('env.create');
  expect(created).toEqual({
    name: `rungate preview ${String(created?.name).split(' ')[2]} ${new URL(url).host}`,
    key: expect.stringMatching(/^rg-[0-9a-f]{12}$/),
    baseUrl: url,
    version: commit,
  });
  expect(Date.parse(String(created?.name).split(' ')[2] ?? '')).toBeGreaterThan(0);
  expect(bodies('run.trigger')).toMatchObject([{ environmentKey: created?.key }]);
  expect(err).toContain(`created environment ${created?.key} (${url})\ncreated run: run_`);
  expect(err).toContain(`deleted environment ${created?.key}\n`);
  expect(own()).toEqual([]);
  expect(asked(on.mock).slice(0, 3)).toEqual(['env.list', 'env.list', 'env.list']);
});

it.each(['env.create', 'run.trigger'] as const)(
  'sends no credential to the deployment, and never shows the query of its URL, which %s repeats',
  async (endpoint) => {
    const body = { error: `bad ${url}/?key=hidden-key (hidden-key)` };
    await begin({ faults: [{ kind: 'status', status: 400, body, endpoint }] });
    const { err, out } = await on.rungate(
      ...gate,
      '--json',
      '--verbose',
      '--base-url',
      `${url}/?key=hidden-key`,
    );
    expect(pageRequests).toEqual(['GET /?key=hidden-key']);
    expect(err).toContain('bad ');
    expect(err + out).not.toContain('hidden-key');
  },
);

describe('the environment is deleted', () => {
  it.each<[string, MockOptions, string[], number]>([
    ['failed', { outcome: 'failed' }, [], 1],
    ['passed on a retry', { outcome: ['failed', 'passed'] }, ['--retries', '1'], 0],
    [
      'did not end in time, and was cancelled',
      { outcome: 'stuck' },
      ['--timeout', '2m', '--cancel-on-timeout'],
      3,
    ],
  ])('after a run that %s', async (_what, options, flags, exitCode) => {
    await begin(options);
    const { code } = await on.rungate(...gate, '--base-url', url, ...flags);
    expect(code).toBe(exitCode);
    expect(sent('env.create')).toHaveLength(1);
    expect(own()).toEqual([]);
  });

  it('after a signal, once the cancellation of the run was accepted', async () => {
    await begin({ outcome: 'stuck' });
    const settings: Settings = { stopsWhen: () => sent('run.status').length >= 2 };
    const { code } = await on.with(settings)(...gate, '--base-url', url);
    expect(code).toBe(143);
    expect(own()).toEqual([]);
    const order = asked(on.mock);
    expect(order.indexOf('run.cancel')).toBeLessThan(order.indexOf('env.delete'));
  });
});

describe('the environment stays', () => {
  it.each<[string, MockOptions, string[], number]>([
    ['that did not end in time', { outcome: 'stuck' }, ['--timeout', '2m'], 3],
    [
      'whose cancellation was refused',
      { outcome: 'stuck', faults: [always({ kind: 'status', status: 500, endpoint: 'run.cancel' })] },
      ['--timeout', '2m', '--cancel-on-timeout'],
      3,
    ],
    [
      'that could not be observed',
      { faults: [always({ kind: 'status', status: 403, endpoint: 'run.status' })] },
      [],
      6,
    ],
  ])('for a run %s, and the warning names both', async (_what, options, flags, exitCode) => {
    await begin(options);
    const { code, err } = await on.rungate(...gate, '--base-url', url, ...flags);
    const [{ key } = {}] = own();
    const [run] = [...on.mock.state.runs.keys()];
    expect(code).toBe(exitCode);
    expect(sent('env.delete')).toEqual([]);
    expect(err).toContain(
      `warning: environment ${key} was not deleted: ${run} may still use it\n  → when no run uses it, run: rungate env delete ${key}\n`,
    );
  });

  it('if a run may have been created whose id is unknown', async () => {
    await begin({ faults: [always({ kind: 'reset-after-commit', endpoint: 'run.trigger' })] });
    const { code, err } = await on.rungate(...gate, '--base-url', url);
    expect([code, own().length]).toEqual([7, 1]);
    expect(err).toMatch(/was not deleted: [\da-f-]{36} may still use it/);
  });

  it('if deleting it fails, and the exit code is still that of the verdict', async () => {
    await begin({ faults: [always({ kind: 'status', status: 500, endpoint: 'env.delete' })] });
    const { code, err } = await on.rungate(...gate, '--base-url', url);
    expect([code, own().length]).toEqual([0, 1]);
    expect(err).toMatch(
      /warning: environment rg-\w+ was not deleted: .*500.*\n {2}→ later, run: rungate env delete rg-/,
    );
  });
});

it('is refused by run trigger, which creates no environment', async () => {
  await begin();
  const file = JSON.stringify({ project: 'shop', process: 'a', preview: { baseUrl: url } });
  const { code, err } = await on.with({ cwd: '/w', files: { '/w/.rungate.json': file } })('run', 'trigger');
  expect([code, asked(on.mock)]).toEqual([78, []]);
  expect(err).toContain(
    'error: run trigger creates no environment for a preview deployment\n  → use rungate gate',
  );
});

describe('a re-run of the job', () => {
  const again = { ...github, GITHUB_RUN_ATTEMPT: '2' };
  const killed = async () => {
    await begin({ outcome: 'stuck' });
    await on.with({ env: github })(...gate, '--base-url', url, '--timeout', '1m');
    expect(own()).toHaveLength(1);
  };

  it.each<[string, () => void, number]>([
    [
      'cannot create its run',
      () => on.mock.faults.add({ kind: 'status', status: 401, endpoint: 'run.trigger' }),
      6,
    ],
    ['finds that the deployment is gone', () => server.close(), 8],
  ])('that %s keeps the environment, in which the earlier run may go on', async (_what, change, exitCode) => {
    await killed();
    const [{ key } = {}] = own();
    change();
    server.closeAllConnections();
    const { code, err } = await on.with({ env: again })(...gate, '--base-url', url);
    expect([code, own().length, sent('env.delete').length]).toEqual([exitCode, 1, 0]);
    expect(err).toContain(
      `environment ${key} was not deleted: a run that this job started earlier may still use it`,
    );
  });

  it('finds the environment that was left, joins the run and deletes the environment', async () => {
    await begin({ outcome: 'passed', duration: 600_000 });
    const first = await on.with({ env: github })(...gate, '--base-url', url, '--timeout', '1m');
    expect([first.code, own().length]).toEqual([3, 1]);
    const again = await on.with({ env: { ...github, GITHUB_RUN_ATTEMPT: '2' } })(...gate, '--base-url', url);
    expect(again.code).toBe(0);
    expect(again.err).toContain('using environment rg-');
    expect(again.err).toContain('attached to the run that was started earlier');
    expect([sent('env.create').length, own().length, on.mock.state.runs.size]).toEqual([1, 0, 1]);
  });

  it.each<[string, Partial<StoredEnvironment>, string]>([
    ['another name', { name: 'made by hand' }, 'name'],
    ['another base URL', { baseUrl: 'https://old.example' }, 'base URL'],
  ])('neither uses nor deletes an environment with its key that has %s', async (_what, change, named) => {
    await begin({ duration: 600_000 });
    const flags = [...gate, '--base-url', url, '--commit-sha', commit];
    await on.with({ env: github })(...flags, '--timeout', '1m');
    const [left] = own();
    Object.assign(left ?? {}, change);
    const files: Record<string, string> = {};
    const { code, err } = await on.with({ env: again, files })(...flags, '--receipt', '/w/receipt.json');
    expect([code, own().length, on.mock.state.runs.size, files]).toEqual([5, 1, 1, {}]);
    expect(err).toContain(
      `the environment ${left?.key} exists, but its ${named} is not that of this gate\n  → change its key, or delete it`,
    );
    expect(err).not.toContain('was not deleted');
  });
});

it('keeps an environment that somebody gave another base URL during the run', async () => {
  await begin();
  const stopsWhen = () => {
    Object.assign(own()[0] ?? {}, { baseUrl: 'https://other.example' });
    return false;
  };
  const { code, err, out } = await on.with({ stopsWhen })(...gate, '--base-url', url, '--json');
  expect([code, own().length, sent('env.delete').length]).toEqual([0, 1, 0]);
  expect(err).toContain(
    'was not deleted: the service does not list it with the name and the base URL that rungate gave it',
  );
  expect(JSON.parse(out).previews).toMatchObject([{ deleted: false }]);
});

describe('a response to the deletion that is not JSON', () => {
  const html = '<!doctype html><title>Log in</title>';
  const page = (status: number): Fault => ({
    ...{ kind: 'status', status, body: html, headers: { 'content-type': 'text/html' } },
    ...{ endpoint: 'env.delete', times: 9 },
  });
  const lost: Fault = { kind: 'reset-after-commit', endpoint: 'env.delete' };

  it.each([200, 404])('is checked by another request: %i', async (status) => {
    await begin({ faults: [page(status)] });
    const { code, err } = await on.rungate(...gate, '--base-url', url);
    expect([code, own().length]).toEqual([0, 1]);
    expect(err).toMatch(/warning: environment rg-\w+ was not deleted: .+\n {2}→ later, run: /);
    expect(err).not.toContain('deleted environment');
    await on.close();
    await begin({ faults: [lost, page(status)] });
    const second = await on.rungate(...gate, '--base-url', url);
    expect([second.code, own().length]).toEqual([0, 0]);
    expect(second.err).toMatch(/deleted environment rg-\w+\n/);
    expect(second.err).not.toContain('was not deleted');
  });
});

it('several gates with one URL share one environment, which is deleted after the last', async () => {
  await begin();
  const file = JSON.stringify({
    project: 'shop',
    preview: { baseUrl: url },
    gates: {
      api: { process: 'api' },
      web: { process: 'checkout', needs: ['api'] },
      other: { process: 'search', preview: { baseUrl: `${url}/b` } },
    },
  });
  const { code, out } = await on.with({ cwd: '/w', files: { '/w/.rungate.json': file } })('gate', '--json');
  expect(code).toBe(0);
  expect(
    bodies('env.create')
      .map(({ baseUrl }) => baseUrl)
      .toSorted(),
  ).toEqual([url, `${url}/b`]);
  const keys = bodies('run.trigger').map(({ processSlug, environmentKey }) => [processSlug, environmentKey]);
  const byProcess = Object.fromEntries(keys);
  expect(byProcess.api).toBe(byProcess.checkout);
  expect(byProcess.search).not.toBe(byProcess.api);
  expect(JSON.parse(out).previews).toHaveLength(2);
  expect(own()).toEqual([]);
});

it('copies --environment with its variables by --copy-variables', async () => {
  await begin();
  const staging = environments().find(({ key }) => key === 'staging') as StoredEnvironment;
  const shown = [...staging.variables.values()].map((variable) => Object.assign(variable, { secret: false }));
  expect((await on.rungate(...gate, '--base-url', url, '-e', 'staging', '--copy-variables')).code).toBe(0);
  expect(bodies('env.vars.create').map(({ name, value }) => [name, value])).toEqual(
    shown.map(({ name, value }) => [name, value]),
  );
  expect(sent('env.vars.create').at(-1)?.at).toBeLessThanOrEqual(sent('run.trigger')[0]?.at ?? 0);
});

it('waits until the deployment responds before it creates anything', async () => {
  await begin();
  page = (_request, response) => {
    response.statusCode = pageRequests.length < 5 ? 404 : 200;
    expect(asked(on.mock)).toEqual([]);
    response.end();
  };
  expect((await on.rungate(...gate, '--base-url', url)).code).toBe(0);
  expect(pageRequests).toHaveLength(5);
});

it.each([['--copy-variables'], ['--ready-url', '/health'], ['--ready-timeout', '1m']])(
  'refuses %s without a preview deployment',
  async (...flags) => {
    await begin();
    const { code, err } = await on.rungate(...gate, ...flags);
    expect([code, asked(on.mock)]).toEqual([64, []]);
    expect(err).toContain(
      `error: ${flags[0]} has no effect without a preview deployment\n  → add --base-url <url>`,
    );
  },
);

describe('trouble', () => {
  /** A token whose `exp` is at a time of the fake clock's day. */
  const tokenUntil = (hour: number, minute = 0) => {
    const exp = Date.UTC(2026, 0, 15, hour, minute) / 1000;
    return `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.c2lnbmF0dXJl`;
  };
  interface World {
    token?: string;
    flags?: string[];
    /** The response of the deployment. */
    status?: number;
  }

  it.each<[string, number, string, World]>([
    [
      'no token',
      6,
      'no bearer token is set: rungate creates an environment for the deployment and',
      { token: '' },
    ],
    [
      'an expired token',
      78,
      'RUNGATE_TOKEN expired 1 h ago (2026-01-15T11:00:00Z)',
      { token: tokenUntil(11) },
    ],
    [
      'a token that expires too early',
      78,
      'RUNGATE_TOKEN expires in 30 min (2026-01-15T12:30:00Z), but the gate may take 1 h 5 min: the environment could not be deleted then',
      { token: tokenUntil(12, 30) },
    ],
    [
      'no such environment',
      78,
      'no environment has the key "stagin", so the preview',
      { flags: ['-e', 'stagin'] },
    ],
    [
      'a variable that is not shown',
      78,
      'the service does not show the values of these variables of staging, so they cannot be copied: ',
      { flags: ['-e', 'staging', '--copy-variables'] },
    ],
    [
      'no deployment',
      8,
      'did not respond within 5 min: https://shop-42.example/: nothing is listening',
      { status: 0 },
    ],
    [
      'a login page',
      0,
      'the deployment redirects (302) to another origin, https://login.example: if that is a login page, the tests see it as well',
      { status: 302 },
    ],
  ])('%s: exit %i', async (_what, code, message, { token, flags = [], status = 200 }) => {
    await begin();
    if (status === 0) await new Promise((resolve) => server.close(resolve));
    const location = 'https://login.example/?next=/';
    page = (_request, response) => void response.writeHead(status, { location }).end();
    const argv = gate.filter((word) => word !== '--timeout' && word !== '30m');
    const env: Record<string, string> = token === undefined ? {} : { RUNGATE_TOKEN: token };
    const result = await on.with({ env })(...argv, '--base-url', url, ...flags);
    const said = result.err.replaceAll(url, 'https://shop-42.example');
    expect([result.code, said]).toEqual([code, expect.stringContaining(message)]);
    // Every one says what to do.
    expect(said).toMatch(/\n {2}→ |tests see it/);
    expect([on.mock.state.runs.size, own()]).toEqual([code === 0 ? 1 : 0, []]);
  });
});
