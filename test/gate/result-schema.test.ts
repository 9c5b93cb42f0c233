import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { gateReport, gatesReport, startedRun } from '../../src/gate/result-schema.ts';
import type { MockOptions } from '../../src/mock/server.ts';
import { type Settings, type Stage, stage, trigger } from '../cli/harness.ts';

let on: Stage;
const folder = mkdtempSync(join(tmpdir(), 'rungate-results-'));
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const wait = [...trigger, '--wait', '--timeout', '10m'];
const commit = '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c';
const gates = {
  api: { process: 'api' },
  web: { tags: ['web'], needs: ['api'] },
  perf: { process: 'perf', advisory: true },
};
const file: Settings = {
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify({ project: 'shop', gates }) },
};
const job: Settings = {
  env: {
    BUILDKITE: 'true',
    BUILDKITE_BUILD_ID: 'b1',
    BUILDKITE_JOB_ID: 'j1',
  },
  journal: join(folder, 'journal'),
};
const stopped: Settings = { onStop: (stop) => stop('SIGTERM') };

it.each<[string, z.ZodMiniType, readonly string[], MockOptions, Settings?]>([
  ['a run that passed', gateReport, wait, {}],
  [
    'the deployed build',
    gateReport,
    [...wait, '--commit-sha', commit, '--deployed-is', 'new'],
    { deployed: 'new' },
  ],
  ['retries', gateReport, [...wait, '--retries', '1'], { outcome: ['failed', 'passed'] }],
  ['a timeout', gateReport, [...wait, '--timeout', '20s', '--cancel-on-timeout'], { outcome: 'stuck' }],
  ['a run that does not exist', gateReport, ['run', 'wait', 'r-1', 'r-2'], {}],
  ['a stop', gateReport, wait, { outcome: 'stuck' }, stopped],
  ['several gates', gatesReport, ['gate'], { outcome: ['failed', 'passed', 'blocked'] }, file],
  [
    'several gates after a stop',
    gatesReport,
    ['gate', '--fail-fast'],
    { outcome: 'failed' },
    { ...file, ...stopped },
  ],
  ['a started run', z.omit(startedRun, { reattached: true }), trigger, {}],
])('the JSON of %s fits the schema of its type', async (_name, schema, argv, options, settings = {}) => {
  on = await stage({ duration: 30_000, ...options });
  const page = argv.includes('--deployed-is') ? ['--deployed-url', `${on.mock.url}/_mock/version`] : [];
  const { out } = await on.with(settings)(...argv, ...page, '--json');
  expect(schema.parse(JSON.parse(out))).toEqual(JSON.parse(out));
});

it('the JSON of a gate that discarded a run fits the schema of its type', async () => {
  on = await stage({ duration: 30_000, outcome: 'passed' });
  await on.with(job)(...wait);
  const { out } = await on.with({ ...job, journal: join(folder, 'other') })(...wait, '--json');
  expect(gateReport.parse(JSON.parse(out)).discarded).toHaveLength(1);
});
