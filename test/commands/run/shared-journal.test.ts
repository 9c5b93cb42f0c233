import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../../../src/index.ts';
import { cli, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
let folder: string;
let journal: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-shared-journal-'));
  journal = join(folder, 'shared.journal');
  on = await stage({ duration: 20_000 });
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const github = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'e2e' };
/** Runs a gate in a job that uses the shared journal. */
async function job(env: Record<string, string>, ...args: string[]) {
  const run = on.with({ env: { ...github, RUNGATE_JOURNAL: journal, ...env } });
  const { out, ...rest } = await run(...trigger, '--wait', '--json', '--no-ci-report', ...args);
  return { ...rest, report: JSON.parse(out) };
}
/** Leaves a run in progress. */
const leaveOne = async (...args: string[]) => {
  on.mock.state.plan.outcomes = ['stuck', 'passed'];
  const { report } = await job({}, '--max-attempts', '1', ...args);
  return report.runs[0].runId;
};

describe('a journal that two pipelines share', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['pipeline', { GITHUB_RUN_ID: '8' }, []],
    ['job', { GITHUB_JOB: 'smoke' }, []],
    ['body', {}, ['--commit-sha', 'b'.repeat(40)]],
    ['salt', {}, ['--idempotency-salt', 'cell 2']],
    ['CI, which is none', { GITHUB_ACTIONS: '' }, []],
  ])('does not lend a run in progress to a gate of another %s', async (_name, env, args) => {
    const first = await leaveOne();
    const { code, report } = await job(env, ...args);
    expect([code, report.runs[0].reattached]).toEqual([0, false]);
    expect([...on.mock.state.runs.keys()]).toEqual([first, report.runs[0].runId]);
  });

  it('leads a gate that starts again to its own run, whatever others wrote in the meantime', async () => {
    const first = await leaveOne();
    await leaveOne('--idempotency-salt', 'cell 2');
    const { report } = await job({}, '--max-attempts', '1');
    expect(report.runs).toMatchObject([{ runId: first, reattached: true }]);
  });

  it('does not count the ended runs of another pipeline, so that a re-run on another machine finds the run', async () => {
    on.mock.state.plan.outcomes = ['passed', 'stuck'];
    await job({ GITHUB_RUN_ID: '8' });
    const first = await job({}, '--max-attempts', '1');
    const elsewhere = { GITHUB_RUN_ATTEMPT: '2', RUNGATE_JOURNAL: join(folder, 'elsewhere.journal') };
    const second = await job(elsewhere, '--max-attempts', '1');
    expect(second.report.runs).toMatchObject([{ runId: first.report.runs[0].runId, reattached: true }]);
  });
});

describe('a file in RUNGATE_JOURNAL that is not a journal', () => {
  const notJournals: [string, string][] = [
    ['a package.json', '{\n  "name": "shop"\n}\n'],
    ['one line of JSON', '{"name":"shop"}'],
    ['text', 'not a journal\n'],
    ['a journal with a line of something else', '{"event":"settled","runId":"r"}\n{"event":"deployed"}\n'],
    ['a binary', '\u0000\u0001\u0002'],
  ];
  it.each(notJournals)('is refused and left as it is: %s', async (_name, text) => {
    writeFileSync(journal, text);
    for (const command of [[...trigger], [...trigger, '--wait'], [...trigger, '--idempotency-key', 'k1']]) {
      for (const env of [{}, github]) {
        const { code, err } = await on.with({ env: { ...env, RUNGATE_JOURNAL: journal } })(...command);
        expect(code).toBe(78);
        expect(err).toContain(`error: RUNGATE_JOURNAL is not a journal: ${journal}\n  → `);
      }
    }
    expect(on.mock.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(['shared.journal']);
    expect(readFileSync(journal, 'utf8')).toBe(text);
  });

  it('is refused by the library and by rungate gate, too', async () => {
    writeFileSync(journal, 'mine');
    const env = { RUNGATE_JOURNAL: journal };
    const options = { apiUrl: on.mock.url, apiKey: on.mock.apiKey, env };
    await expect(gate({ ...options, trigger: { projectSlug: 'a', processSlug: 'b' } })).rejects.toThrow(
      'RUNGATE_JOURNAL is not a journal',
    );
    const files = { '/repo/.rungate.json': '{"project":"shop","gates":{"a":{"process":"a"}}}' };
    const { code } = await cli(['gate', '--dry-run'], { env, files, cwd: '/repo' });
    expect(code).toBe(78);
    expect(readFileSync(journal, 'utf8')).toBe('mine');
  });

  it('is used if it is empty', async () => {
    writeFileSync(journal, '', { mode: 0o600 });
    expect((await job({})).code).toBe(0);
    expect(readFileSync(journal, 'utf8')).toContain('"event":"settled"');
  });
});
