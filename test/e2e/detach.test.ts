import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient, otherFields } from '../../src/index.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { type GitHubStub, startGitHub } from '../github/stub.ts';
import { until } from '../until.ts';
import { type Ended, type Running, rungate } from './built.ts';

const tenantSecret = 'tenant-Secret-0123456789';
const hubToken = 'token-of-the-gates-0123456789';
const context = 'rungate: shop / checkout';
const repository = 'acme/shop';
const head = 'a'.repeat(40);

let github: GitHubStub;
let mock: MockServer;
let hub: Running & { url: string };
let folder: string;
/** The jobs that the hub has started. */
let jobs: Promise<Ended>[];
const running: Running[] = [];

/** Runs a command as a job of the repository does. */
function job(args: readonly string[], env: Record<string, string> = {}): Running {
  const one = rungate(
    args,
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: repository,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '4711',
      GITHUB_API_URL: github.url,
      RUNGATE_API_KEY: mock.apiKey,
      RUNGATE_HUB_URL: hub.url,
      RUNGATE_HUB_TOKEN: hubToken,
      RUNGATE_GITHUB_TOKEN: 'job',
      ...env,
    },
    {},
    folder,
  );
  running.push(one);
  return one;
}

/** Returns the environment of a job for a pull request, or for a merge queue. */
function event(name: 'pull_request' | 'merge_group', commit = head, run = '1'): Record<string, string> {
  const path = join(folder, `event-${run}.json`);
  const of =
    name === 'pull_request'
      ? {
          pull_request: {
            number: 7,
            head: { sha: commit, repo: { full_name: repository } },
            base: { ref: 'main' },
          },
        }
      : { merge_group: { head_sha: commit, base_ref: 'refs/heads/main' } };
  writeFileSync(
    path,
    JSON.stringify({ ...of, repository: { full_name: repository, default_branch: 'main' } }),
  );
  return {
    GITHUB_EVENT_NAME: name,
    GITHUB_EVENT_PATH: path,
    GITHUB_RUN_ID: run,
    GITHUB_JOB: 'gate',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_SHA: commit,
    GITHUB_REF: name === 'pull_request' ? 'refs/pull/7/merge' : 'refs/heads/gh-readonly-queue/main/pr-7',
  };
}

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--interval', '1s'];
const detach = (env: Record<string, string> = event('pull_request'), more: readonly string[] = []) =>
  job([...gate, '--detach', ...more], { RUNGATE_API_URL: mock.url, ...env }).ended;

async function startHub(own: Record<string, string> = {}): Promise<typeof hub> {
  const one = rungate(['hub', '--port', '0'], {
    RUNGATE_HUB_TOKEN: hubToken,
    RUNGATE_TENANT_SECRET: tenantSecret,
    RUNGATE_GITHUB_TOKEN: 'hub',
    GITHUB_API_URL: github.url,
    ...own,
  });
  running.push(one);
  const [, url = ''] = await one.shows(/(http:\/\/127\.0\.0\.1:\d+)/);
  return { ...one, url };
}

/** Starts the hub, and the service whose runs end so. */
async function begin(
  outcome: 'passed' | 'failed' | 'blocked' | 'cancelled',
  duration: number,
): Promise<void> {
  hub = await startHub();
  mock = await startMock({ deliveries: 'loopback', duration, outcome, tenantSecret, retryAfterSeconds: 1 });
  const client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
  const hook = { url: `${hub.url}/deliveries`, events: ['run.started', 'run.completed'] };
  await client.webhooks.create(otherFields(hook));
  await client.close();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-detach-'));
  github = await startGitHub();
  github.required = [context];
  github.allow('job', { statuses: 'write' });
  github.allow('hub', { actions: 'write' });
  jobs = [];
  github.onStart = ({ inputs: { id = '' } }) => {
    jobs.push(job(['gate', '--resume', id], { GITHUB_EVENT_NAME: 'workflow_dispatch' }).ended);
  };
});

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await mock.close();
  await github.close();
  rmSync(folder, { recursive: true, force: true });
  expect(github.mistakes).toEqual([]);
});

const latest = (commit = head) => github.statusesOf(commit, context)[0];
const decided = async (commit = head) => {
  await until(() => latest(commit) !== undefined && latest(commit)?.state !== 'pending');
  await Promise.all(jobs);
  return latest(commit);
};

it('a detached gate ends its job with a pending commit status, which the job of the hub decides', async () => {
  await begin('passed', 4_000);
  const first = await detach();
  expect(first.code).toBe(0);
  expect(first.err).toContain(`no verdict yet: the commit status "${context}" is pending, and decides`);
  const [pending] = github.statusesOf(head).toReversed();
  expect(pending?.state).toBe('pending');
  const status = await decided();
  expect(status?.state).toBe('success');
  expect(await Promise.all(jobs)).toMatchObject([{ code: 0 }]);
});
