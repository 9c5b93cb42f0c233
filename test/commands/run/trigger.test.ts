import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
import { fixtures } from '../../ci/provider-fixtures.ts';
import { asked, inRepository, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';

describe('run trigger', () => {
  let on: Stage;
  afterEach(() => on?.close());

  const creates = () => on.mock.requests.filter((request) => request.endpoint === 'run.trigger');
  const runs = () => on.mock.state.runs.size;

  describe('run trigger sends', () => {
    it('the body of the API as JSON, with each field from its option, and the API key', async () => {
      on = await stage();
      const line =
        '--environment staging --repository acme/shop --ref main --commit-sha abc123 --event push --external-url https://ci.example/1';
      await on.rungate(...trigger, ...line.split(' '));
      const { body, headers } = creates()[0] ?? {};
      expect(JSON.parse(body ?? '')).toEqual({
        projectSlug: 'shop',
        processSlug: 'checkout',
        environmentKey: 'staging',
        repository: 'acme/shop',
        ref: 'main',
        commitSha: 'abc123',
        event: 'push',
        externalUrl: 'https://ci.example/1',
      });
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-api-key': on.mock.apiKey });
      expect(headers?.['idempotency-key']).toMatch(/^[!-~]+$/);
      expect(headers).not.toHaveProperty('authorization');
    });

    it('tags instead of a process, and no fields that were not given', async () => {
      on = await stage();
      await on.rungate('run', 'trigger', '--project', 'shop', '--tag', 'smoke', '--tag', 'slow');
      expect(JSON.parse(creates()[0]?.body ?? '')).toEqual({ projectSlug: 'shop', tags: ['smoke', 'slow'] });
    });

    it('the project and the environment from environment variables, unless an option sets them', async () => {
      on = await stage();
      const env = { RUNGATE_PROJECT: 'shop', RUNGATE_ENVIRONMENT: 'qa' };
      await on.with({ env })('run', 'trigger', '--process', 'checkout', '--environment', 'prod');
      expect(JSON.parse(creates()[0]?.body ?? '')).toEqual({
        projectSlug: 'shop',
        processSlug: 'checkout',
        environmentKey: 'prod',
      });
    });

    it('a random key per command, or the given key', async () => {
      on = await stage();
      await on.rungate(...trigger);
      await on.rungate(...trigger);
      await on.rungate(...trigger, '--idempotency-key', 'build-7');
      const keys = creates().map((request) => request.headers['idempotency-key']);
      expect(new Set(keys).size).toBe(3);
      expect(keys[2]).toBe('build-7');
      expect(runs()).toBe(3);
    });
  });

  describe('run trigger', () => {
    it('never takes a branch name for the id of an old run, wherever run.idPointer points', async () => {
      on = await stage({ outcome: ['passed', 'failed'], duration: 0 });
      const old = (await on.rungate(...trigger)).out.trim();
      on.mock.faults.add({ kind: 'patch', merge: { ref: old }, endpoint: 'run.trigger' });
      const command = on.with(inRepository({ run: { idPointer: '/ref' } }));
      const { code, err } = await command(...trigger, '--ref', old, '--wait');
      expect(code).toBe(5);
      expect(err).toContain('/ref');
    });
  });

  describe('the request that creates a run', () => {
    it.each<[string, Fault]>([
      ['a lost response', { kind: 'reset-after-commit' }],
      [
        '409 in progress',
        { kind: 'status', status: 409, body: { error: 'A request with this key is in progress' } },
      ],
    ])(
      'is retried after %s with the same key and the same bytes, and starts one run',
      async (_name, fault) => {
        on = await stage({ outcome: 'passed', duration: 1000 });
        on.mock.faults.add({ ...fault, endpoint: 'run.trigger' });
        const { code, out } = await on.rungate(...trigger, '--wait', '--json');
        expect(code).toBe(0);
        expect(creates()).toHaveLength(2);
        const [first, second] = creates();
        expect(second?.body).toBe(first?.body);
        expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
        expect(runs()).toBe(1);
        expect(JSON.parse(out).runs[0].reattached).toBe(false);
      },
    );

    it.each([
      ['status', 5, 'http_error', ['--wait', '--on', 'unobserved=warn']],
      ['status', 5, 'http_error', []],
      ['reset', 7, 'network_broken', ['--wait', '--on', 'unobserved=warn']],
    ] as const)(
      'that fails for good (%s) exits with %i and prints no result',
      async (kind, exit, code, argv) => {
        on = await stage();
        const fault = kind === 'status' ? { kind, status: 502 } : { kind };
        on.mock.faults.add({ ...fault, endpoint: 'run.trigger', times: 99 });
        const ended = await on.rungate(...trigger, ...argv, '--json');
        expect([ended.code, ended.out]).toEqual([exit, '']);
        const [first, ...others] = ended.err.trim().split('\n');
        expect(first).toMatch(/^creating the run failed: .*; retrying in 1\.\d s, for up to 5 min$/);
        const error = { code, method: 'POST', path: '/api/ci/runs' };
        expect(JSON.parse(others.at(-1) ?? '')).toMatchObject({ error });
        expect(creates().length).toBeGreaterThan(8);
        expect(new Set(creates().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      },
    );
  });
});

describe('run trigger without --wait', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage({ outcome: 'passed', duration: 1000 });
  });
  afterEach(() => on.close());

  const github = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '42' };

  const warning =
    /^warning: run trigger does not wait for the run.*\n {2}→ use rungate gate, which waits, or --no-wait/gm;

  it.each<[string, Settings, RegExp]>([
    ['without any setting', { env: github }, /so the run cannot fail this job$/m],
    ['a CI system that only sets CI', { env: { CI: 'true', RUNGATE_STRICT: '1' } }, /strict/],
    [
      'two settings',
      inRepository({ strict: true, timeout: '30m' }, github),
      /: strict \(\/repo\/\.rungate\.json\), timeout \(\S+\)$/m,
    ],
  ])('in CI warns once and starts the run: %s', async (_name, settings, pattern) => {
    const { code, out, err } = await on.with(settings)(...trigger);
    expect([code, out]).toEqual([0, expect.stringMatching(/^run_\w+\n$/)]);
    expect(err).toMatch(pattern);
    expect(err.match(warning)).toHaveLength(1);
  });

  it.each<[string, string[], Settings]>([
    ['--no-wait', ['--no-wait'], { env: { ...github, RUNGATE_STRICT: 'true' } }],
    ['CI=false', [], { env: { CI: 'false', RUNGATE_STRICT: 'true' } }],
  ])('does not warn: %s', async (_name, argv, settings) => {
    const { code, err } = await on.with(settings)(...trigger, ...argv);
    expect(code).toBe(0);
    expect(err).not.toMatch(/warning/);
  });

  it.each([[['--wait', '--no-wait']], [['--no-wait', '--wait']]])('cannot be combined: %j', async (argv) => {
    const { code, err } = await on.rungate(...trigger, ...argv);
    expect([code, asked(on.mock)]).toEqual([64, []]);
    expect(err).toContain('--wait and --no-wait cannot be combined');
  });
});

describe('the creation of a run', () => {
  let on: Stage;
  afterEach(() => on.close());

  const gate = [...trigger, '--wait'] as const;
  const creates = () => asked(on.mock).filter((endpoint) => endpoint === 'run.trigger');

  describe('a redirect of the request that creates the run', () => {
    const redirect = (status: number, location: string): Fault => ({
      kind: 'status',
      ...{ status, headers: { location }, endpoint: 'run.trigger', times: 20 },
    });

    it.each([
      [303, '/api/ci/runs/run_1'],
      [303, 'https://elsewhere.example/runs/run_1'],
    ])('with %i to %s may lead to a run, whose key the error names', async (status, location) => {
      on = await stage();
      on.mock.faults.add(redirect(status, location));
      const { code, err } = await on.rungate(...gate, '--idempotency-key', 'mine');
      expect([code, creates().length]).toEqual([5, 1]);
      expect(err).toContain('a run may have been created with the idempotency key mine; ');
    });
  });

  describe('without Idempotency-Replayed, the first line says', () => {
    const silent: Fault = {
      kind: 'patch',
      remove: ['idempotency-replayed'],
      endpoint: 'run.trigger',
      times: 9,
    };
    const started = async (env: Record<string, string>, ...flags: string[]) => {
      on = await stage({ outcome: 'passed', duration: 60_000 });
      on.mock.faults.add(silent);
      const { err, out } = await on.with({ env })(...gate, '--json', ...flags);
      return [/^(.*): run_/m.exec(err)?.[1], JSON.parse(out).runs[0].reattached];
    };
    const push = (place: string) =>
      fixtures.find((one) => one.place === place && one.name === 'push')?.env ?? {};

    it('that the first job of GitHub created the run, but not that of GitLab, which does not count re-runs', async () => {
      expect(await started(push('github'))).toEqual(['created run', false]);
      await on.close();
      expect(await started(push('gitlab'))).toEqual(['run', null]);
    });
  });
});
