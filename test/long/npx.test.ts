import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { root, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';

const folder = folderForFile();
let mock: MockServer;

beforeAll(async () => {
  await start('npm', ['pack', '--pack-destination', folder], {}, root).ended;
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '';
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const installed = await start('npm', ['install', '--no-audit', '--no-fund', `./${tarball}`], {}, folder)
    .ended;
  if (installed.code !== 0) throw new Error(installed.err);
});
beforeEach(async () => {
  mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 0.2 });
});
afterEach(() => mock.close());

const gate = ['rungate', 'run', 'trigger', '--project', 'a', '--process', 'b', '--wait', '--json'];

it('the tarball installs only one package', () => {
  const packages = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['rungate']);
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'the run is cancelled if npx is ended by %s, which it does not pass on',
  async (signal) => {
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    const running = start('npx', gate, env, folder);
    await running.shows(/in_progress/);
    running.child.kill(signal);
    // The pipes stay open until the orphaned rungate has ended too.
    const ended = await running.ended;
    expect([...mock.state.runs.values()].map((run) => run.cancelled?.reason)).toEqual([
      'rungate: the process that started it has ended',
    ]);
    expect(JSON.parse(ended.out)).toMatchObject({ interruptedBy: 'SIGTERM', cancellation: 'requested' });
  },
);

it('npx exits with the exit code of the gate', async () => {
  mock.state.plan.outcomes = ['failed'];
  mock.state.plan.durationMs = 100;
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
  expect((await start('npx', gate, env, folder).ended).code).toBe(1);
});

it('the pipeline that rungate init writes for a lockfile installs rungate from it, and gates', async () => {
  mock.state.plan.outcomes = ['passed', 'failed'];
  mock.state.plan.durationMs = 100;
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, CI: 'true' };
  const init = await start('npx', ['rungate', 'init', ...gate.slice(3, 7), '--ci', 'gitlab'], env, folder)
    .ended;
  expect(init.code, init.err).toBe(0);
  const pipeline = parseYaml(readFileSync(join(folder, '.gitlab-ci.yml'), 'utf8')) as {
    e2e: { script: [string, string] };
  };
  const { script } = pipeline.e2e;
  const job = () => start('bash', ['-eo', 'pipefail', '-c', script.join('\n')], env, folder).ended;
  rmSync(join(folder, 'node_modules'), { recursive: true });
  // Without the installation, the gate fails instead of downloading rungate.
  const notInstalled = await start('bash', ['-c', script[1]], { ...env, npm_config_offline: 'true' }, folder)
    .ended;
  expect(notInstalled.code, notInstalled.out + notInstalled.err).not.toBe(0);
  expect(mock.state.runs.size).toBe(0);
  const first = await job();
  expect(first.code, first.out + first.err).toBe(0);
  expect((await job()).code).toBe(1);
  expect(mock.state.runs.size).toBe(2);
});
