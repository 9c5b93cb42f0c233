import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { root, start } from '../e2e/built.ts';

let folder: string;
let mock: Mock;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-npx-'));
  await start('npm', ['pack', '--pack-destination', folder], {}, root).ended;
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '';
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const installed = await start('npm', ['install', '--no-audit', '--no-fund', `./${tarball}`], {}, folder)
    .ended;
  if (installed.code !== 0) throw new Error(installed.err);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 0.2 });
});
afterEach(() => mock.close());

const gate = ['rungate', 'run', 'trigger', '--project', 'a', '--process', 'b', '--wait', '--json'];

it('the tarball installs one package, and nothing else', () => {
  const packages = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['rungate']);
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'npx ended by %s does not pass it on, and the run is cancelled all the same',
  async (signal) => {
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    const running = start('npx', gate, env, folder);
    await running.shows(/in_progress/);
    const began = performance.now();
    running.child.kill(signal);
    // The pipes stay open until the orphaned rungate has ended too.
    const ended = await running.ended;
    expect(performance.now() - began).toBeLessThan(5000);
    expect([...mock.state.runs.values()].map((run) => run.cancelled?.reason)).toEqual([
      expect.stringContaining('SIGTERM'),
    ]);
    expect(JSON.parse(ended.out)).toMatchObject({ interruptedBy: 'SIGTERM', cancellation: 'requested' });
  },
);

it('npx gives the exit code of the gate', async () => {
  mock.state.plan.outcomes = ['failed'];
  mock.state.plan.durationMs = 100;
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
  expect((await start('npx', gate, env, folder).ended).code).toBe(1);
});
