import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asked, type Stage, stage } from '../../cli/harness.ts';

const path = '/repo/.rungate.json';
/** A repository with a project file; the command runs in a folder below it. */
const repository = (file: unknown) => ({
  cwd: '/repo/packages/web',
  files: { '/repo/.git': '', [path]: typeof file === 'string' ? file : JSON.stringify(file) },
});

let on: Stage;
beforeAll(async () => {
  on = await stage({ outcome: 'passed' });
});
afterAll(() => on.close());

const bodies = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');

describe('with a project file', () => {
  it('a mistake is reported with file, line and column before anything is sent', async () => {
    const before = asked(on.mock).length;
    const { code, out, err } = await on.with(repository('{\n  "on": { "unobserved": "pass" }\n}'))(
      'run',
      'wait',
      'run_1',
    );
    expect({ code, out }).toEqual({ code: 78, out: '' });
    expect(err).toMatch(/\/repo\/\.rungate\.json:2:25: on: unobserved cannot pass/);
    expect(asked(on.mock)).toHaveLength(before);
  });
});

describe('a project file from an untrusted source', () => {
  const env = { RUNGATE_API_URL: undefined as never };

  it.each<[string, Record<string, string>]>([
    ['GitHub, pull_request', { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: '/event.json' }],
    ['Jenkins', { CHANGE_FORK: 'mallory' }],
  ])('receives no credentials in a pipeline for a fork: %s', async (_ci, variables) => {
    const before = asked(on.mock).length;
    const event = {
      repository: { full_name: 'a/b' },
      pull_request: { head: { repo: { full_name: 'c/b' } } },
    };
    const files = { ...repository({ apiUrl: on.mock.url }).files, '/event.json': JSON.stringify(event) };
    const { code, err } = await on.with({ cwd: '/repo', files, env: { ...env, ...variables } })(
      'env',
      'list',
    );
    expect({ code, sent: asked(on.mock).length - before }).toEqual({ code: 78, sent: 0 });
    expect(err).toMatch(/may run for a fork[\s\S]*RUNGATE_API_URL/);
  });

  it('receives no credentials for a deleted fork, unless RUNGATE_API_URL is set', async () => {
    const before = asked(on.mock).length;
    const files = {
      ...repository({ apiUrl: on.mock.url }).files,
      '/event.json': JSON.stringify({
        repository: { full_name: 'a/b' },
        pull_request: { head: { repo: null } },
      }),
    };
    const forked = { GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_EVENT_PATH: '/event.json' };
    const settings = { cwd: '/repo', files };
    const refused = await on.with({ ...settings, env: { ...env, ...forked } })('env', 'list');
    expect(refused.code).toBe(78);
    expect(refused.err).toMatch(/may run for a fork[\s\S]*RUNGATE_API_URL/);
    expect(asked(on.mock)).toHaveLength(before);
    // The owner of the credential has set RUNGATE_API_URL, so it is trusted.
    expect((await on.with({ ...settings, env: forked })('env', 'list')).code).toBe(0);
  });
});

describe('settings by branch', () => {
  const file = {
    project: 'shop',
    process: 'checkout',
    environment: 'staging',
    branches: { main: { environment: 'production', strict: true }, 'release/*': { environment: 'preprod' } },
  };

  it.each([
    ['refs/heads/main', 'production'],
    ['refs/heads/feature/x', 'staging'],
  ])('follow the ref that the CI sets: %s', async (ref, environment) => {
    const github = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: ref };
    const env = { ...github, GITHUB_REF: ref, GITHUB_REF_TYPE: 'branch', GITHUB_SHA: 'a'.repeat(40) };
    const { code } = await on.with({ ...repository(file), env })('run', 'trigger', '--wait');
    expect(code).toBe(0);
    expect(JSON.parse(bodies().at(-1)?.body ?? '')).toMatchObject({ environmentKey: environment });
  });
});
