import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
let folders: string[] = [];

afterEach(async () => {
  await on.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders = [];
});

/** Returns an empty temporary folder, as each job of a hosted runner has. */
function temp(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-job-'));
  folders.push(folder);
  return folder;
}

const runs = () => [...on.mock.state.runs.values()];
const serve = async (options: MockOptions = {}) => {
  on = await stage({ duration: 20_000, ...options });
};

interface Place {
  attempt?: number;
  job?: string;
  step?: string;
  runId?: string;
  folder?: string;
}

/** Returns the variables of GitHub Actions for one step of a job or its re-run. */
function github({ attempt = 1, job = 'e2e', step = '__run', runId = '4711', folder = temp() }: Place = {}) {
  const env = {
    GITHUB_ACTIONS: 'true',
    CI: 'true',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_RUN_ID: runId,
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_JOB: job,
    GITHUB_ACTION: step,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: 'a'.repeat(40),
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_NAME: 'main',
    GITHUB_REF_TYPE: 'branch',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_WORKFLOW: 'ci',
    RUNNER_TEMP: folder,
  };
  return on.with({ env });
}

/** Returns the variables of GitLab, which numbers jobs but does not count attempts. */
function gitlab(jobId: string) {
  const env = {
    GITLAB_CI: 'true',
    CI: 'true',
    CI_PROJECT_PATH: 'acme/shop',
    CI_PIPELINE_ID: '900',
    CI_PIPELINE_URL: 'https://gitlab.example/acme/shop/-/pipelines/900',
    CI_PIPELINE_SOURCE: 'push',
    CI_JOB_NAME: 'e2e',
    CI_JOB_ID: jobId,
    CI_COMMIT_SHA: 'b'.repeat(40),
    CI_COMMIT_REF_NAME: 'main',
    TMPDIR: temp(),
  };
  return on.with({ env });
}

const gate = [...trigger, '--wait', '--json'] as const;

async function report(run: Promise<{ code: number; out: string }>) {
  const { code, out } = await run;
  return { code, run: JSON.parse(out).runs[0] };
}

describe('a re-run job', () => {
  beforeEach(() => serve({ outcome: ['stuck', 'passed'] }));

  it('attaches to its run while that is in progress', async () => {
    // Attempt 1 times out and leaves its run going.
    await github({ attempt: 1 })(...gate, '--max-attempts', '1');
    const second = await report(github({ attempt: 2 })(...gate, '--max-attempts', '1'));
    expect(runs()).toHaveLength(1);
    expect(second.run).toMatchObject({ runId: runs()[0]?.id, reattached: true });
  });

  it.each(['failed', 'passed', 'cancelled', 'blocked'] as const)(
    'never uses a run that has ended as %s',
    async (outcome) => {
      on.mock.state.plan.outcomes = [outcome, 'failed'];
      const first = await report(github({ attempt: 1 })(...gate));
      const second = await report(github({ attempt: 2 })(...gate));
      expect(runs()).toHaveLength(2);
      expect(second.run.runId).not.toBe(first.run.runId);
      expect(second).toMatchObject({ code: 1, run: { reattached: false } });
      const third = await report(github({ attempt: 3 })(...gate));
      expect(runs()).toHaveLength(3);
      expect(third.run.reattached).toBe(false);
    },
  );
});

describe('one job', () => {
  it('starts two runs if it gates twice: test, deploy, test', async () => {
    await serve({ outcome: ['passed', 'failed'] });
    const folder = temp();
    expect((await github({ folder })(...gate)).code).toBe(0);
    expect((await github({ folder })(...gate)).code).toBe(1);
    expect(runs()).toHaveLength(2);
  });

  it('starts a new run after a failure and attaches after a timeout, in a retry loop within a step', async () => {
    await serve({ outcome: ['failed', 'stuck', 'passed'] });
    const folder = temp();
    expect((await github({ folder })(...gate)).code).toBe(1);
    expect((await github({ folder })(...gate, '--max-attempts', '2')).code).toBe(3);
    const third = await report(github({ folder })(...gate, '--max-attempts', '2'));
    expect(third).toMatchObject({ code: 3, run: { reattached: true } });
    expect(runs()).toHaveLength(2);
  });

  it('starts another run for another job, step, pipeline, body or salt', async () => {
    await serve({ outcome: 'stuck' });
    const flags = ['--max-attempts', '1'];
    await github()(...gate, ...flags);
    await github({ job: 'smoke' })(...gate, ...flags);
    await github({ step: '__run_2' })(...gate, ...flags);
    await github({ runId: '4712' })(...gate, ...flags);
    await github()(...gate, ...flags, '--environment', 'staging');
    await github()(...gate, ...flags, '--idempotency-salt', 'node-20');
    await github()(...gate, ...flags, '--idempotency-salt', 'node-22');
    await gitlab('1')(...gate, ...flags);
    expect(runs()).toHaveLength(8);
  });
});

describe('in CI that numbers jobs and not re-runs, a re-run job', () => {
  it('attaches to its run while that is in progress', async () => {
    await serve({ outcome: 'stuck' });
    await gitlab('5001')(...gate, '--max-attempts', '1');
    const retried = await report(gitlab('5002')(...gate, '--max-attempts', '1'));
    expect(runs()).toHaveLength(1);
    expect(retried.run.reattached).toBe(true);
  });
});

describe('in a copy of a CI system on one machine, the same command', () => {
  const act = {
    ...{ ACT: 'true', CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_JOB: 'e2e', GITHUB_ACTION: '0' },
    ...{ GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'acme/shop' },
  };
  const gitlabCiLocal = {
    ...{ CI: 'true', GITLAB_CI: 'false', CI_PROJECT_PATH: 'acme/shop', CI_JOB_NAME: 'e2e' },
    ...{ CI_PIPELINE_ID: '1000', CI_JOB_ID: '1000' },
  };
  const circleci = {
    ...{ CI: 'true', CIRCLECI: 'true', CIRCLE_JOB: 'e2e', CIRCLE_BUILD_NUM: '' },
    ...{ CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1', CIRCLE_SHA1: 'a'.repeat(40) },
  };

  it.each([
    ['nektos/act', act],
    ['gitlab-ci-local', gitlabCiLocal],
    ['circleci local execute', circleci],
  ])(
    'starts its own run, since the run of the last command may have tested other code: %s',
    async (_, env) => {
      await serve({ outcome: ['passed', 'failed'] });
      const command = on.with({ env: { ...env, RUNNER_TEMP: temp() } });
      expect((await command(...gate, '--max-attempts', '1')).code).toBe(3);
      expect((await command(...gate)).code).toBe(1);
      expect(runs()).toHaveLength(2);
    },
  );

  it('joins its run on the runners of Gitea and Forgejo, which also set ACT but have real ids', async () => {
    await serve({ outcome: ['passed', 'failed'] });
    const env = { ...act, GITEA_ACTIONS: 'true', GITHUB_RUN_ID: '120', GITHUB_RUN_ATTEMPT: '' };
    const command = on.with({ env: { ...env, RUNNER_TEMP: temp() } });
    expect((await command(...gate, '--max-attempts', '1')).code).toBe(3);
    expect((await command(...gate)).code).toBe(0);
    expect(runs()).toHaveLength(1);
  });
});

describe('if the first read of a run fails', () => {
  const faults: Fault = { kind: 'status', status: 500, endpoint: 'run.status', times: 99 };

  it.each([
    ['with --wait', [...gate, '--max-attempts', '4']],
    ['without --wait', [...trigger, '--json']],
  ])('the command fails %s, since the run may be an old one', async (_name, argv) => {
    await serve({ outcome: 'passed', duration: 0 });
    await github({ attempt: 1 })(...gate);
    on.mock.faults.add(faults);
    expect((await github({ attempt: 2 })(...argv)).code).toBe(5);
    expect(runs()).toHaveLength(1);
  });
});

describe('a run that was found, but whose state is unclear at first', () => {
  const unclear: [string, Fault][] = [
    ['an unknown state', { kind: 'patch', merge: { state: 'defrosting' }, endpoint: 'run.status' }],
    ['no state', { kind: 'reply', text: '{}', endpoint: 'run.status' }],
    ['a 404 that passes', { kind: 'status', status: 404, endpoint: 'run.status' }],
  ];

  it.each(unclear)('is read again, and never used if it had ended: %s', async (_name, fault) => {
    await serve({ outcome: ['passed', 'failed'], duration: 1000 });
    expect((await github({ attempt: 1 })(...gate)).code).toBe(0);
    on.mock.faults.add({ ...fault, times: 3 });
    expect((await github({ attempt: 2 })(...gate)).code).toBe(1);
    expect(runs()).toHaveLength(2);
  });
});

describe('--explain-key', () => {
  it('prints the ingredients in CI, without secrets', async () => {
    await serve({ outcome: 'stuck' });
    const { err, out } = await github({ attempt: 2 })(
      ...trigger,
      '--explain-key',
      '--idempotency-salt',
      'cell 1',
    );
    for (const part of [
      'github',
      're-run 1 of the job',
      'runId: 4711',
      'job: e2e',
      'salt: cell 1',
      'first ',
      'then up to 2 more, each a hash of the key before it',
      'at last ',
      'journal:',
    ]) {
      expect(err).toContain(part);
    }
    expect(err + out).not.toContain(on.mock.apiKey);
  });
});

it('sends the cause and the job with a cancellation', async () => {
  await serve({ outcome: 'stuck' });
  await github()(...gate, '--timeout', '30s', '--cancel-on-timeout');
  expect(runs()[0]?.cancelled?.reason).toBe(
    'rungate: the wait timed out in github job e2e https://github.com/acme/shop/actions/runs/4711',
  );
});
