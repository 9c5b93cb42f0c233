import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { inRepository, type Settings, type Stage, stage } from '../../cli/harness.ts';

let on: Stage | undefined;
afterEach(async () => {
  await on?.close();
  on = undefined;
});

const usual = {
  web: { tags: ['web'], needs: ['api'] },
  api: { process: 'api-smoke' },
  perf: { process: 'perf', advisory: true },
};

const fileOf = (gates: object, more: object = {}): Settings =>
  inRepository({ project: 'shop', ...more, gates });

async function gates(options: MockOptions, file: Settings = fileOf(usual), ...argv: string[]) {
  on = await stage({ duration: 25_000, ...options });
  const result = await on.with(file)('gate', '--json', ...argv);
  return { ...result, report: result.out === '' ? null : JSON.parse(result.out) };
}

interface Gate {
  name: string;
  result: string;
  exitCode: number | null;
  reason: string | null;
  runs: { verdict: string | null; runId: string | null }[];
}
const short = (report: { gates: Gate[] }) =>
  report.gates.map(({ name, result, exitCode }) => [name, result, exitCode]);
const requests = () => on?.mock.requests ?? [];
const created = () => requests().filter(({ endpoint }) => endpoint === 'run.trigger');

describe('rungate gate', () => {
  it('runs all gates, each after those that it needs, and exits with 0 if they pass', async () => {
    const { code, report } = await gates({ outcome: 'passed' });
    expect(code).toBe(0);
    expect(report).toMatchObject({ schemaVersion: 1, result: 'pass', exitCode: 0 });
    expect(short(report)).toEqual([
      ['api', 'pass', 0],
      ['web', 'pass', 0],
      ['perf', 'pass', 0],
    ]);
    expect(created().map(({ body }) => JSON.parse(String(body)))).toMatchObject([
      { projectSlug: 'shop', processSlug: 'api-smoke' },
      { projectSlug: 'shop', processSlug: 'perf' },
      { projectSlug: 'shop', tags: ['web'] },
    ]);
  });

  it('skips a gate whose need failed, and lets an advisory gate only warn', async () => {
    const { code, report, err } = await gates({ outcome: 'failed' });
    expect(code).toBe(1);
    expect(short(report)).toEqual([
      ['api', 'fail', 1],
      ['web', 'skipped', null],
      ['perf', 'warn', 0],
    ]);
    expect(report.gates[1]).toMatchObject({ reason: 'it needs api, which failed', runs: [] });
    expect(err).toContain('web was skipped: it needs api, which failed');
    expect(err).toContain('the gate is advisory: it warns instead of failing');
    expect(created()).toHaveLength(2);
  });

  it('gives gates with the same request different runs, also in CI', async () => {
    const file = fileOf({ a: { process: 'x' }, b: { process: 'x' } });
    const env = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: String(Math.random()), GITHUB_RUN_ATTEMPT: '1' };
    const { code, report } = await gates({ outcome: 'passed' }, { ...file, env }, '--no-ci-report');
    expect(code).toBe(0);
    expect(new Set(report.gates.map(({ runs }: Gate) => runs[0]?.runId)).size).toBe(2);
  });

  it('takes a trigger that fails as the result of its gate, and goes on with the others', async () => {
    on = await stage({ duration: 25_000, outcome: 'passed' });
    on.mock.faults.add({ kind: 'status', status: 422, endpoint: 'run.trigger', times: 1 });
    const { code, out } = await on.with(fileOf(usual))('gate', '--json', '--on', 'unobserved=warn');
    const report = JSON.parse(out);
    expect(code).toBe(5);
    expect(short(report)).toEqual([
      ['api', 'fail', 5],
      ['web', 'skipped', null],
      ['perf', 'pass', 0],
    ]);
    expect(report.gates[0]).toMatchObject({
      error: { status: 422 },
      runs: [{ name: 'shop / api-smoke', runId: null, verdict: 'unobserved', action: 'fail' }],
    });
  });

  it('cancels the other gates with --fail-fast', async () => {
    const file = fileOf({ a: { process: 'a' }, b: { process: 'b' }, c: { process: 'c', needs: ['b'] } });
    const { code, report } = await gates(
      { outcome: ['failed', 'stuck'] },
      file,
      '--fail-fast',
      '--no-cancel-on-interrupt',
    );
    expect(code).toBe(1);
    expect(report).toMatchObject({ exitCode: 1, cancellation: 'requested' });
    expect(report.interruptedBy).toBeUndefined();
    expect(short(report)).toEqual([
      ['a', 'fail', 1],
      ['b', 'fail', null],
      ['c', 'skipped', null],
    ]);
    expect(report.gates[1].reason).toBe('a failed (--fail-fast)');
    expect(requests().filter(({ endpoint }) => endpoint === 'run.cancel')).toHaveLength(1);
  });
});

describe('the journal that the gates of a job share', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-gates-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const play = async (outcome: 'stuck' | 'passed') => {
    const journal = join(folder, `${outcome}.journal`);
    const job = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '1' };
    const file = {
      ...fileOf({ a: { process: 'a' }, b: { process: 'b' } }),
      env: job,
      journal,
    };
    const argv = ['--timeout', '1m', '--no-ci-report'];
    const first = await gates({ outcome }, file, ...argv);
    const again = await on?.with(file)('gate', '--json', ...argv);
    const ids = (report: { gates: Gate[] }) => report.gates.map(({ runs }) => runs[0]?.runId);
    return {
      first: ids(first.report),
      again: ids(JSON.parse(again?.out ?? '')),
      text: readFileSync(journal, 'utf8'),
    };
  };

  it('leads each gate of a re-run job to its own run in progress', async () => {
    const { first, again } = await play('stuck');
    expect(new Set(first).size).toBe(2);
    expect(again).toEqual(first);
  });

  it('says which runs have ended, so that the post step does not cancel them and a re-run job starts new ones', async () => {
    const { first, again, text } = await play('passed');
    for (const runId of [...first, ...again])
      expect(text).toContain(`{"event":"settled","runId":"${runId}"}`);
    expect(created()).toHaveLength(4);
    expect(new Set([...first, ...again]).size).toBe(4);
  });
});

describe('rungate gate --dry-run', () => {
  it('prints the order, the requests and the keys, and sends nothing', async () => {
    const env = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '1' };
    const { code, report } = await gates({}, { ...fileOf(usual), env }, '--dry-run');
    expect(code).toBe(0);
    expect(report.requests).toMatchObject([
      {
        gate: 'api',
        needs: [],
        body: { processSlug: 'api-smoke' },
        idempotencyKey: expect.stringMatching(/^\w{64}$/),
      },
      { gate: 'web', needs: ['api'], body: { tags: ['web'] } },
      { gate: 'perf', advisory: true },
    ]);
    expect(requests()).toEqual([]);
  });
});

describe('the deployed build of several gates', () => {
  const commit = '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c';
  const isRead = ({ path }: { path: string }) => path.startsWith('/_mock/version');
  const two = { api: usual.api, web: usual.web };
  const play = async (mock: MockOptions = {}, gates: object = two, ...argv: string[]) => {
    on = await stage({ duration: 25_000, outcome: 'passed', deployed: commit, ...mock });
    const deployed = { url: `${on.mock.url}/_mock/version`, is: commit };
    const { code, out } = await on.with(fileOf(gates, { deployed }))('gate', '--json', ...argv);
    return { code, report: JSON.parse(out) };
  };

  it('is waited for once, before the first run', async () => {
    const five = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { process: name }]));
    const { code } = await play({ deployed: `old,${commit}@10s` }, five);
    expect([code, created().length]).toEqual([0, 5]);
    const first = requests().findIndex(({ endpoint }) => endpoint === 'run.trigger');
    const before = requests().slice(0, first);
    expect(before.every(isRead)).toBe(true);
    // One read a second: the build appears after 10 s, and three reads agree.
    const times = before.map(({ at }) => Math.round((at - (before[0]?.at ?? 0)) / 1000));
    expect(times).toEqual(Array.from({ length: 13 }, (_, second) => second));
  });
});
