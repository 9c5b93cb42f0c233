// Loaded here: on this clock, an hour passes while a command loads them.
import '../../../src/commands/gate/detach.ts';
import '../../../src/commands/gate/pending.ts';
import '../../../src/commands/other-groups.ts';
import { createClient, otherFields } from '../../../src/index.ts';
import type { MockOptions } from '../../../src/mock/server.ts';
import type { Result, Settings } from '../../cli/harness.ts';
import { hubStage, hubToken, type Running } from '../../cli/hub-stage.ts';
import { startGitHub } from '../../github/stub.ts';
import { isRequestUnderWay } from '../../requests-under-way.ts';
import { turns, until } from '../../until.ts';

export const minute = 60_000;
export const context = 'rungate: shop / checkout';
export const repository = 'acme/shop';
export const head = 'a'.repeat(40);
export const gateOf = ['gate', '--project', 'shop', '--process', 'checkout'] as const;
const tenantSecret = 'tenant-Secret-0123456789';
/** The tokens of GitHub. */
export const tokens = { job: 'ghs_token-of-a-job-0123', hub: 'ghs_token-of-the-hub-4567' } as const;

/** Longer than any gate of these tests, in milliseconds. */
const longestMs = 4 * 60 * minute;
/** GitHub needs this long to start a job. */
const queuedMs = 10_000;
/** A hub looks as often for jobs to start. */
const longestStepMs = 2_000;

/** A job, with how long it has run on the virtual clock. */
export type Job = Running & { lastedMs: number };

export interface Event {
  name?: 'pull_request' | 'pull_request_target' | 'merge_group' | 'push';
  commit?: string;
  /** The workflow run, and the number of its re-run. */
  run?: string;
  attempt?: string;
  /** The repository that the pull request comes from. */
  from?: string;
}

/** Returns the event of a job, as GitHub writes it into a file. */
function payloadOf({ name = 'pull_request', commit = head, from = repository }: Event): string {
  const parts = {
    pull_request: {
      pull_request: { number: 7, head: { sha: commit, repo: { full_name: from } }, base: { ref: 'main' } },
    },
    merge_group: { merge_group: { head_sha: commit, base_ref: 'refs/heads/main' } },
    push: {},
  };
  const part = name === 'pull_request_target' ? parts.pull_request : parts[name];
  return JSON.stringify({ ...part, repository: { full_name: repository, default_branch: 'trunk' } });
}

function settingsOf(event: Event, settings: Settings): Settings {
  const { name = 'pull_request', commit = head, run = '1', attempt = '1' } = event;
  return {
    cwd: '/repo',
    ...settings,
    files: { '/event.json': payloadOf(event), ...settings.files },
    env: {
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: '/event.json',
      GITHUB_RUN_ID: run,
      GITHUB_JOB: 'gate',
      GITHUB_RUN_ATTEMPT: attempt,
      GITHUB_SHA: commit,
      GITHUB_REF: name === 'merge_group' ? 'refs/heads/gh-readonly-queue/main/pr-7' : 'refs/pull/7/merge',
      ...settings.env,
    },
  };
}

/** The mock, a hub and GitHub, with commands as their jobs, on one virtual clock over real sockets. */
export async function openCircle(options: MockOptions = {}) {
  const github = await startGitHub();
  github.required = [context];
  github.allow(tokens.job, { statuses: 'write', contents: 'read' });
  github.allow(tokens.hub, { actions: 'write' });
  const on = await hubStage({
    deliveries: 'loopback',
    tenantSecret,
    outcome: 'passed',
    duration: 10 * minute,
    ...options,
  });
  const { clock } = on.time;
  /** The times at which the jobs have begun. */
  const begun = new Map<Job, number>();
  const every = (ms: number, beat: () => void) => {
    let over = false;
    const again = () => {
      if (over) return;
      beat();
      on.time.at(clock.monotonic() + ms, again);
    };
    on.time.at(clock.monotonic() + ms, again);
    return () => {
      over = true;
    };
  };

  /** Lets time pass until a condition holds. */
  async function pass(holds: () => boolean): Promise<void> {
    const end = clock.monotonic() + longestMs;
    for (;;) {
      await turns(20);
      await until(() => !isRequestUnderWay(['/v1/wakes', '/v1/grants']));
      await on.mock.deliveriesSent();
      await turns(5);
      for (const [job, at] of begun)
        if (Number.isNaN(job.lastedMs) && job.result !== null) job.lastedMs = clock.monotonic() - at;
      if (holds()) return;
      if (clock.monotonic() > end) throw new Error('nothing more happens');
      await on.time.run(Math.min(on.time.untilNext(), longestStepMs));
    }
  }

  async function serveHub(env: Record<string, string> = {}, port = '0') {
    let stop: (signal: 'SIGTERM') => void = () => {};
    const command = on.start('none', ['hub', '--port', port], {
      every,
      onStop(listener) {
        stop = listener;
      },
      env: {
        RUNGATE_TENANT_SECRET: tenantSecret,
        RUNGATE_GITHUB_TOKEN: tokens.hub,
        GITHUB_API_URL: github.url,
        ...env,
      },
    });
    const urlIn = () => /http:\/\/127\.0\.0\.1:\d+/.exec(command.printed().out)?.[0] ?? '';
    await on.settle(() => urlIn() !== '');
    return {
      url: urlIn(),
      log: () => command.printed().out,
      async stop() {
        stop('SIGTERM');
        await pass(() => command.result !== null);
      },
    };
  }

  let hub = await serveHub();
  const jobs: Job[] = [];
  const printers = [hub.log];

  function start(argv: readonly string[], settings: Settings = {}): Job {
    const running = on.start(hub.url, argv, {
      ...settings,
      env: {
        GITHUB_ACTIONS: 'true',
        GITHUB_REPOSITORY: repository,
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_RUN_ID: '4711',
        GITHUB_API_URL: github.url,
        RUNGATE_GITHUB_TOKEN: tokens.job,
        ...settings.env,
      },
    });
    printers.push(() => Object.values(running.printed()).join(''));
    const job: Job = Object.defineProperty(running as Job, 'lastedMs', { value: Number.NaN, writable: true });
    begun.set(job, clock.monotonic());
    return job;
  }

  const ended = async (job: Job): Promise<Result> => {
    await pass(() => job.result !== null);
    return job.result as Result;
  };

  /** Starts the job that goes on with a gate. */
  const resume = (id: string, settings: Settings = {}) =>
    start(['gate', '--resume', id], {
      ...settings,
      env: { GITHUB_EVENT_NAME: 'workflow_dispatch', ...settings.env },
    });
  github.onStart = ({ inputs: { id = '' } }) =>
    on.time.at(clock.monotonic() + queuedMs, () => void jobs.push(resume(id)));

  const client = createClient({ apiUrl: on.mock.url, apiKey: on.mock.apiKey, token: on.mock.token });
  const hook = await client.webhooks.create(
    otherFields({ url: `${hub.url}/deliveries`, events: ['run.completed', 'run.cancelled'] }),
  );
  await client.close();

  const latest = (commit = head, name = context) => github.statusesOf(commit, name)[0];
  const circle = {
    ...on,
    github,
    hook,
    /** The jobs that the hub has started. */
    jobs,
    pass,
    start,
    ended,
    resume,
    latest,
    serveHub,
    get hub() {
      return hub;
    },
    set hub(other: typeof hub) {
      hub = other;
      printers.push(hub.log);
    },
    /** Starts the job of a pull request, or of another event. */
    detach: (event: Event = {}, more: readonly string[] = [], settings: Settings = {}) =>
      start([...gateOf, '--detach', ...more], settingsOf(event, settings)),
    settingsOf,
    /** Starts a server that passes requests to the hub, and its responses on as changed; null: none. */
    between: (change: (text: string) => string | null) =>
      on.server(async (request, response) => {
        const parts: Uint8Array[] = [];
        for await (const part of request) parts.push(part);
        const path = request.url ?? '';
        const isOfGates = path.startsWith('/v1/gates/');
        if (!isOfGates || change('{}') === null) return void response.destroy();
        const headers = { Authorization: request.headers.authorization ?? '' };
        const real = await fetch(hub.url + path, { method: 'POST', headers, body: Buffer.concat(parts) });
        const text = await real.text();
        response.writeHead(real.status).end(text === '' ? '' : change(text));
      }),
    runs: () => [...on.mock.state.runs.values()],
    /** The id of the gate that the latest status names. */
    idOf: (commit = head, name = context) =>
      /\(gate ([0-9a-f]{16})\)$/.exec(latest(commit, name)?.description ?? '')?.[1] ?? 'none',
    /** Lets time pass until the latest status is no longer pending, and the jobs of the hub have ended. */
    async decided(commit = head, name = context) {
      const isDecided = () => !['pending', undefined].includes(latest(commit, name)?.state);
      await pass(() => isDecided() && jobs.every(({ result }) => result !== null));
      return latest(commit, name);
    },
    /** Lets so much time pass. */
    async wait(ms: number) {
      const until = clock.monotonic() + ms;
      await pass(() => clock.monotonic() >= until);
    },
    /** Returns the secrets that a person or another system has seen. */
    leaked() {
      const shown = [...printers.map((print) => print()), JSON.stringify(github.all())].join('');
      const secrets = [on.mock.apiKey, on.mock.token, hubToken, tenantSecret, ...Object.values(tokens)];
      return secrets.filter((secret) => shown.includes(secret));
    },
    async close() {
      await hub.stop();
      await on.close();
      await github.close();
    },
  };
  return circle;
}

export type Circle = Awaited<ReturnType<typeof openCircle>>;
