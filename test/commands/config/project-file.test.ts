import { afterEach, beforeEach, expect, it } from 'vitest';
import { asked, cli, type Stage, stage } from '../../cli/harness.ts';

const path = '/repo/.rungate.json';

let on: Stage;
beforeEach(async () => {
  on = await stage({ outcome: 'passed' });
});
afterEach(() => on.close());

it.each<[string, Record<string, string>, object | null]>([
  ['GitHub', { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: '/event.json' }, { full_name: 'c/b' }],
  [
    'GitHub, a deleted fork',
    { GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_EVENT_PATH: '/event.json' },
    null,
  ],
  ['Jenkins', { CHANGE_FORK: 'mallory' }, null],
])('a project file receives no credentials in a pipeline for a fork: %s', async (_ci, variables, repo) => {
  const event = { repository: { full_name: 'a/b' }, pull_request: { head: { repo } } };
  const project = JSON.stringify({ apiUrl: on.mock.url });
  const files = { '/repo/.git': '', [path]: project, '/event.json': JSON.stringify(event) };
  const env = { ...variables, RUNGATE_API_URL: undefined };
  const { code, err } = await on.with({ cwd: '/repo', files, env })('env', 'list');
  expect([code, asked(on.mock)]).toEqual([78, []]);
  expect(err).toMatch(/may run for a fork[\s\S]*RUNGATE_API_URL/);
  // The owner of the credential has set RUNGATE_API_URL, so it is trusted.
  expect((await on.with({ cwd: '/repo', files, env: variables })('env', 'list')).code).toBe(0);
});

it('a project file cannot set caFile for the URL of the environment in a pipeline for a fork', async () => {
  const files = { '/repo/.git': '', [path]: '{"caFile": "ca.pem"}', '/repo/ca.pem': 'x' };
  const { code, err } = await on.with({ cwd: '/repo', files, env: { CHANGE_FORK: 'mallory' } })(
    'env',
    'list',
  );
  expect([code, asked(on.mock)]).toEqual([78, []]);
  expect(err).toContain('may run for a fork, and its project file sets caFile');
});

it('settings by branch follow the ref that the CI sets', async () => {
  const branches = { main: { environment: 'production' }, 'release/*': { environment: 'preprod' } };
  const file = { project: 'shop', process: 'checkout', environment: 'staging', branches };
  const files = { '/repo/.git': '', [path]: JSON.stringify(file) };
  for (const [ref, environmentKey] of [
    ['refs/heads/release/2.1', 'preprod'],
    ['refs/heads/feature/x', 'staging'],
  ]) {
    const github = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: ref };
    const env = { ...github, GITHUB_REF: ref, GITHUB_REF_TYPE: 'branch', GITHUB_SHA: 'a'.repeat(40) };
    expect((await on.with({ cwd: '/repo/web', files, env })('run', 'trigger')).code).toBe(0);
    const created = on.mock.requests.findLast(({ endpoint }) => endpoint === 'run.trigger');
    expect(JSON.parse(created?.body ?? '')).toMatchObject({ environmentKey });
  }
});

const refused = 'http://127.0.0.1:1';
const status = ['run', 'status', 'r'];
const credential = { RUNGATE_API_KEY: 'rg_1234567890abcdef' };

it.each([
  ['a flag', [...status, '--api-url', refused], { env: credential }, 'in --api-url,'],
  ['a variable', status, { env: { ...credential, RUNGATE_API_URL: refused } }, 'in RUNGATE_API_URL,'],
  [
    'a project file',
    status,
    { env: credential, cwd: '/repo', files: { [path]: `{"apiUrl": "${refused}"}` } },
    'in apiUrl in /repo/.rungate.json,',
  ],
])('a hint names the source of the URL: %s', async (_source, argv, settings, named) => {
  const { code, err } = await cli(argv, settings);
  expect([code, err]).toEqual([7, expect.stringContaining(`check the host and port ${named}`)]);
});

it('a secret in RUNGATE_API_KEY_FILE is never shown', async () => {
  const secret = 'rg_1234567890abcdef1234567890abcdef12345678';
  const { code, err } = await cli(status, {
    env: { RUNGATE_API_URL: refused, RUNGATE_API_KEY_FILE: secret },
  });
  expect([code, err]).toEqual([78, expect.not.stringContaining(secret)]);
});
