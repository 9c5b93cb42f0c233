import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Outcome, startMock } from '../../src/mock/server.ts';
import { root, start } from '../e2e/built.ts';
import { until } from '../until.ts';

const deployment = createServer((_, response) => response.end('ok'));
let baseUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => void deployment.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(deployment.address() as AddressInfo).port}/`;
});
afterAll(() => void deployment.close());

const seeds = Array.from({ length: Number(process.env.RUNGATE_PREVIEW_KILLS ?? 30) }, (_, at) => at + 1);
const outcomes: Outcome[] = ['passed', 'failed', 'stuck'];

/** Returns numbers from 0 up to 1. */
function randomOf(seed: number) {
  let state = seed * 7919;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Starts a mock and the steps of a job of GitHub Actions. */
async function job(seed: number, outcome: Outcome) {
  const random = randomOf(seed);
  random();
  const folder = mkdtempSync(join(tmpdir(), 'rungate-runner-'));
  const mock = await startMock({ outcome, duration: 800, retryAfterSeconds: 0.2 });
  const headers = { authorization: `Bearer ${mock.token}`, 'content-type': 'application/json' };
  const call = async (path: string, body?: object) => {
    const method = body === undefined ? 'GET' : 'POST';
    const response = await fetch(`${mock.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; items: { id: string; key: string; name: string }[] };
  };
  const listed = async () => (await call('/api/environments?pageSize=100')).items;
  const time = new Date().toISOString().replace(/\.\d+/, '');
  await call('/api/environments', { key: 'rg-0123456789ab', name: 'made by hand' });
  await call('/api/environments', { key: 'rg-00112233aabb', name: `rungate preview ${time} pr-8.test` });
  const { id } = await call('/api/environments', { key: 'model', name: 'Model' });
  for (const name of ['USER', 'SHOP']) await call(`/api/environments/${id}/variables`, { name, value: 'v' });
  const before = await listed();
  const gates = 1 + Math.floor(random() * 3);
  const names = ['web', 'api', 'docs'].slice(0, gates);
  writeFileSync(
    join(folder, '.rungate.json'),
    JSON.stringify({
      project: 'shop',
      gates: Object.fromEntries(names.map((name) => [name, { process: name }])),
    }),
  );
  const inputs = {
    ...{
      'api-url': mock.url,
      'api-key': mock.apiKey,
      token: mock.token,
      config: join(folder, '.rungate.json'),
    },
    ...{ 'base-url': baseUrl, environment: 'model', 'copy-variables': String(random() < 0.5) },
    ...{ timeout: '20s', 'cancel-on-timeout': 'true' },
  };
  const stateFile = (attempt: number) => join(folder, `state-${attempt}`);
  const stateOf = (attempt: number) =>
    [...readFileSync(stateFile(attempt), 'utf8').matchAll(/^(\w+)<<(\S+)\n(.*)\n\2$/gm)].map(
      ([, name, , value]) => [`STATE_${name}`, value] as [string, string],
    );
  const step = (name: 'main' | 'post', attempt: number) => {
    for (const file of [stateFile(attempt), join(folder, 'output'), join(folder, 'summary')])
      writeFileSync(file, '', { flag: 'a' });
    const given = Object.entries(inputs).map(([input, value]) => [`INPUT_${input.toUpperCase()}`, value]);
    return start(process.execPath, [`${root}/action/${name}.js`], {
      ...Object.fromEntries(given),
      ...Object.fromEntries(stateOf(attempt)),
      ...{ GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '4711', GITHUB_JOB: 'e2e' },
      ...{ GITHUB_RUN_ATTEMPT: String(attempt), GITHUB_SHA: 'a'.repeat(40), GITHUB_EVENT_NAME: 'push' },
      ...{ GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STATE: stateFile(attempt), RUNNER_TEMP: folder },
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    });
  };
  return {
    mock,
    random,
    step,
    listed,
    before,
    names,
    close: async () => {
      await mock.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const expected: Partial<Record<Outcome, number>> = { passed: 0, failed: 1, stuck: 3 };

it.concurrent.each(seeds)(
  'after kill -9, seed %i, the post step or a re-run leaves no environment and no run',
  async (seed) => {
    const outcome = outcomes[seed % outcomes.length] as Outcome;
    const { mock, random, step, listed, before, names, close } = await job(seed, outcome);
    try {
      const runs = () => [...mock.state.runs.values()];
      const asked = mock.requests.length;
      const main = step('main', 1);
      // A start takes most of the first second, so the time counts from the first request.
      const kill = Math.floor(random() * 1_800);
      await until(() => mock.requests.length > asked || main.child.exitCode !== null);
      await Promise.race([pause(kill), main.ended]);
      main.child.kill('SIGKILL');
      await main.ended;
      if (random() < 0.5) {
        const { code, err } = await step('post', 1).ended;
        expect(code, err).toBe(0);
        const going = runs().filter((run) => run.cancelled === undefined);
        // Those that had ended before the post step began.
        for (const run of going) expect(outcome, run.id).not.toBe('stuck');
      } else {
        if (outcome === 'stuck') mock.state.plan.outcomeOf = () => 'passed';
        const { code, err } = await step('main', 2).ended;
        const attached = outcome === 'stuck' && runs().length > 0;
        expect(attached ? [0, 3] : [outcome === 'stuck' ? 0 : expected[outcome]], err).toContain(code);
        expect((await step('post', 2).ended).code).toBe(0);
        expect(new Set(runs().map(({ request }) => request.processSlug))).toEqual(new Set(names));
      }
      expect(await listed()).toEqual(before);
      const changed = mock.requests.filter(({ method }) => method === 'DELETE' || method === 'PUT');
      for (const { path } of changed) for (const { id } of before) expect(path).not.toContain(id);
    } finally {
      await close();
    }
  },
);
