import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient, otherFields } from '../../src/index.ts';
import { endRun } from '../../src/mock/handlers/run.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { freePort } from '../free-port.ts';
import { type GitHubStub, startGitHub } from '../github/stub.ts';
import { isRedisMissing, startRedis } from '../hub/redis.ts';
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

/** Returns the environment of the job of a pull request. */
function pullRequest(): Record<string, string> {
  const path = join(folder, 'event.json');
  const pull = { number: 7, head: { sha: head, repo: { full_name: repository } }, base: { ref: 'main' } };
  const event = { pull_request: pull, repository: { full_name: repository, default_branch: 'main' } };
  writeFileSync(path, JSON.stringify(event));
  return {
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: path,
    GITHUB_RUN_ID: '1',
    GITHUB_JOB: 'gate',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_SHA: head,
    GITHUB_REF: 'refs/pull/7/merge',
  };
}

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--interval', '1s'];
const detach = () => job([...gate, '--detach'], { RUNGATE_API_URL: mock.url, ...pullRequest() }).ended;

async function startHub(own: Record<string, string> = {}, port = 0): Promise<typeof hub> {
  const one = rungate(['hub', '--port', String(port)], {
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

/** Starts the hub, and the service. */
async function begin(own: Record<string, string> = {}): Promise<void> {
  hub = await startHub(own, await freePort());
  mock = await startMock({ deliveries: 'loopback', outcome: 'stuck', tenantSecret });
  const client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
  const hook = { url: `${hub.url}/deliveries`, events: ['run.completed', 'run.cancelled'] };
  await client.webhooks.create(otherFields(hook));
  await client.close();
}

beforeEach(async () => {
  folder = folderForTest();
  github = await startGitHub();
  github.required = [context];
  github.allow('job', { statuses: 'write' });
  github.allow('hub', { actions: 'write' });
  jobs = [];
  github.onStart = ({ inputs: { id = '' } }) => {
    jobs.push(job(['gate', '--resume', id], { GITHUB_EVENT_NAME: 'workflow_dispatch' }).ended);
  };
});

/** Ends the only run. */
function end(as: 'passed' | 'failed'): void {
  for (const run of mock.state.runs.values()) endRun(mock.state, run, as, undefined);
}

async function killHub(): Promise<void> {
  hub.child.kill('SIGKILL');
  await hub.ended;
}

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await mock.close();
  await github.close();
  expect(github.mistakes).toEqual([]);
});

const latest = () => github.statusesOf(head, context)[0];
async function decided() {
  await until(() => latest()?.state !== 'pending');
  await Promise.all(jobs);
  return latest();
}

it('a detached gate ends its job with a pending commit status, which the job of the hub decides', async () => {
  await begin();
  const first = await detach();
  expect([first.code, first.err]).toEqual([0, expect.stringContaining('no verdict yet')]);
  expect(latest()?.state).toBe('pending');
  end('passed');
  expect(await decided()).toMatchObject({ state: 'success' });
  expect(await Promise.all(jobs)).toMatchObject([{ code: 0 }]);
});

it('without its hub, a gate starts no run, and an older success does not stand for it', async () => {
  await begin();
  await killHub();
  github.set(head, { state: 'success', context, description: 'older' });
  const first = await detach();
  expect([first.code, first.err]).toEqual([7, expect.stringContaining(hub.url.slice('http://'.length))]);
  expect([latest()?.state, mock.state.runs.size]).toEqual(['error', 0]);
});

it.skipIf(isRedisMissing)('a hub that was killed goes on with the gates in Redis', async () => {
  const redis = await startRedis();
  try {
    const own = { RUNGATE_HUB_REDIS_URL: redis.url };
    await begin(own);
    expect((await detach()).code).toBe(0);
    await killHub();
    hub = await startHub(own, Number(new URL(hub.url).port));
    end('failed');
    expect(await decided()).toMatchObject({ state: 'failure' });
    expect(await Promise.all(jobs)).toMatchObject([{ code: 1 }]);
  } finally {
    await redis.stop();
  }
});

it('a hub that was killed without Redis has lost the gate: its status stays pending, as the job says', async () => {
  await begin();
  const first = await detach();
  const [, id = ''] = /\(gate ([0-9a-f]{16})\)$/.exec(latest()?.description ?? '') ?? [];
  expect([first.code, latest()?.state]).toEqual([0, 'pending']);
  await killHub();
  hub = await startHub({}, Number(new URL(hub.url).port));
  end('passed');
  const later = await job(['gate', '--resume', id]).ended;
  expect([later.code, later.err]).toEqual([5, expect.stringContaining('the hub does not have the gate')]);
  expect([latest()?.state, jobs]).toEqual(['pending', []]);
});
