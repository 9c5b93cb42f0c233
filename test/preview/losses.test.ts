import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/exit.ts';
import { folderForFile } from '../folders.ts';
import { machine } from '../slice/machine.ts';
import { ciJob } from './job.ts';
import {
  type Fate,
  hasEnded,
  isAlive,
  origin,
  previewService,
  type Request,
  type ServiceOptions,
} from './service.ts';

const folder = folderForFile();

/** Runs a gate whose preview is a copy of staging with two variables. Returns what it did, and the state of the service at its end. */
async function gate(options: ServiceOptions = {}) {
  const service = previewService(options);
  service.plant(
    { key: 'staging', name: 'Staging', baseUrl: 'https://staging.test' },
    { USER: 'u', SHOP: 's' },
  );
  const on = machine(service);
  const inputs = {
    ...{ 'api-url': origin, project: 'shop', process: 'web' },
    ...{ 'base-url': 'https://pr-7.test', environment: 'staging', 'copy-variables': 'true' },
  };
  const job = ciJob(on, { inputs, folder });
  const ended = await on.during(
    job.main().then(async (main) => {
      await on.pause(60_000);
      return main;
    }),
  );
  return { ...service, ended, own: service.environments.filter(({ by }) => by !== null), now: on.now() };
}

/** The requests by what they do, each with its number among the same. */
function names(requests: readonly Request[]): string[] {
  const counts = new Map<string, number>();
  return requests.map(({ method, path }) => {
    const what = `${method} ${path.replace(/\?.*/, '').replace(/(env|run)_\d+/, '{id}')}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
    return `${what} (${counts.get(what)})`;
  });
}

const all = names((await gate()).requests);
/** Returns how often each thing was created: an environment, or one of its variables. */
const creates = (requests: readonly Request[]) => {
  const sent = requests.filter(
    ({ method, path }) => method === 'POST' && path.startsWith('/api/environments'),
  );
  return sent.map(({ path, body }) => `${path} ${JSON.parse(body).name}`);
};
const expectOnce = (requests: readonly Request[]) =>
  expect(creates(requests)).toEqual([...new Set(creates(requests))]);

function expectRight(on: Awaited<ReturnType<typeof gate>>) {
  const { ended, own, runs, requests, now } = on;
  expect(ended, ended.err).toMatchObject({ code: exitCodes.ok });
  expectOnce(requests);
  expect([own.length, runs.length]).toEqual([1, 1]);
  expect(own[0]?.variables.map(({ name, value }) => [name, value])).toEqual([
    ['USER', 'u'],
    ['SHOP', 's'],
  ]);
  const [run] = runs;
  expect(run?.environment).toBe(own[0]);
  expect(run && hasEnded(run, own[0]?.deletedAt ?? 0)).toBe(true);
  expect(own.filter((one) => isAlive(one, now))).toEqual([]);
}

it('sends a request of each kind', () => {
  expect(new Set(all.map((name) => name.replace(/ \(\d+\)/, '')))).toEqual(
    new Set([
      ...['GET /api/environments', 'GET /api/environments/{id}/variables', 'POST /api/environments'],
      ...['POST /api/environments/{id}/variables', 'POST /api/ci/runs', 'GET /api/ci/runs/{id}'],
      'DELETE /api/environments/{id}',
    ]),
  );
});

it('needs no list that is newer than the response to the create', async () => {
  expectRight(await gate({ listAgeMs: 5_000 }));
});

const only = (name: string, fate: Fate) => (_: unknown, index: number) => (all[index] === name ? fate : 'ok');

describe.each<Fate>(['lost', 'late-503'])('a response that is %s once', (fate) => {
  it.each(all)('of %s changes nothing: one environment, one run, and its verdict', async (name) => {
    expectRight(await gate({ fate: only(name, fate) }));
  });

  it.each([1_000, 12_000, 29_000])(
    'of the request that takes effect after %i ms changes nothing',
    async (commit) => {
      expectRight(await gate({ fate: only('POST /api/environments (1)', fate), commits: [commit] }));
    },
  );
});

it('says nothing of an environment that the service refused to create', async () => {
  const { ended, own, runs } = await gate({ fate: only('POST /api/environments (1)', 'refused') });
  expect([ended.code, own, runs]).toEqual([exitCodes.service, [], []]);
  expect(ended.err).not.toContain('was not deleted');
});

describe('a request that is lost once', () => {
  it.each(all.filter((name) => !name.startsWith('POST /api/env')))('%s changes nothing', async (name) => {
    expectRight(await gate({ fate: only(name, 'dropped') }));
  });

  it.each(all.filter((name) => name.startsWith('POST /api/env')))(
    '%s fails the gate without a run, and is not repeated',
    async (name) => {
      const { ended, own, runs, requests, now } = await gate({ fate: only(name, 'dropped') });
      expect([exitCodes.service, exitCodes.unreachable], ended.err).toContain(ended.code);
      expect(runs).toEqual([]);
      expectOnce(requests);
      expect(own.filter((one) => isAlive(one, now))).toEqual([]);
    },
  );
});
