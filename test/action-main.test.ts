import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runMain, runPost, type Toolkit } from '../src/action.ts';
import { asked, memoryIo, type Settings, type Stage, stage } from './cli/harness.ts';
import { folderForTest } from './folders.ts';

let on: Stage;
let folder: string;
let files: Record<string, string>;
let state: Record<string, string>;
beforeEach(() => {
  folder = folderForTest();
  [files, state] = [{}, {}];
});
afterEach(() => on.close());

const github = {
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '4711',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'e2e',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_OUTPUT: '/output',
  GITHUB_STEP_SUMMARY: '/summary',
};
const one = { project: 'shop', process: 'checkout' };
const runs = () => [...on.mock.state.runs.values()];
const cancelled = () => runs().map((run) => run.cancelled !== undefined);

/** Runs a step of the action; the post step has the state that the main step saved. */
async function step(run: typeof runMain, inputs: Record<string, string> = one, settings: Settings = {}) {
  const given: Record<string, string> = { 'api-url': on.mock.url, 'api-key': on.mock.apiKey, ...inputs };
  const toolkit: Toolkit = {
    getInput: (name) => given[name] ?? '',
    getState: (name) => state[name] ?? '',
    saveState: (name, value) => {
      state[name] = value;
    },
    setSecret: () => {},
  };
  const env = { ...github, RUNNER_TEMP: folder, ...settings.env };
  const { io, printed } = memoryIo({ clock: on.clock, files, cwd: '/repo', ...settings, env });
  const before = on.mock.requests.length;
  const code = await run(toolkit, io);
  return { code, ...printed(), asked: asked(on.mock).slice(before) };
}

const main = (inputs?: Record<string, string>, settings?: Settings) => step(runMain, inputs, settings);
const post = () => step(runPost);

/** Reads the outputs: `name<<delimiter`, the value, the delimiter. */
const outputs = () =>
  Object.fromEntries(
    Array.from((files['/output'] ?? '').matchAll(/^([^\n]+?)<<([^\n]+)\n([\s\S]*?)\n\2$/gm), (match) => [
      match[1],
      match[3],
    ]),
  );

describe('the main step', () => {
  it.each([
    ['passed', 0, 'pass'],
    ['failed', 1, 'fail'],
    ['cancelled', 4, 'fail'],
  ] as const)('%s: exits with %i and writes every output', async (outcome, code, result) => {
    on = await stage({ outcome });
    const ended = await main();
    expect(ended.code).toBe(code);
    expect(outputs()).toEqual({
      'run-id': runs()[0]?.id,
      verdict: outcome,
      result,
      'exit-code': String(code),
      failed: outcome === 'failed' ? '2' : '0',
      blocked: '0',
      'app-url': runs()[0]?.appUrl,
    });
    expect(files['/summary']).toContain(runs()[0]?.id);
    expect(/^::error title=rungate/m.test(ended.err)).toBe(result === 'fail');
    expect(ended.err).not.toContain('::notice');
  });

  it.each([
    ['without a key, as in a pull request from a fork', { 'api-key': '' }, 78],
    ['with a wrong input', { strict: 'yes' }, 64],
  ])('%s: removes the reports of an earlier build', async (_what, inputs, code) => {
    on = await stage({ outcome: 'passed' });
    const reports = { ...one, junit: 'junit.xml', report: 'gate.json, gate.md' };
    await main(reports);
    const written = () => ['junit.xml', 'gate.json', 'gate.md'].filter((path) => files[path] !== undefined);
    expect(written()).toHaveLength(3);
    expect((await main({ ...reports, ...inputs })).code).toBe(code);
    expect(written()).toEqual([]);
  });

  it('sends the inputs and the facts of the job', async () => {
    on = await stage();
    await main({ project: 'shop', tags: 'smoke, slow\n\nmobile', environment: 'staging' });
    expect(JSON.parse(on.mock.requests[0]?.body ?? '')).toMatchObject({
      projectSlug: 'shop',
      tags: ['smoke', 'slow', 'mobile'],
      environmentKey: 'staging',
      ref: 'main',
    });
  });

  it('refuses a gate that does not exist before anything is sent', async () => {
    on = await stage();
    files['/repo/.rungate.json'] = '{"project": "shop", "gates": {"api": {"process": "api"}}}';
    const { code, err, asked } = await main({ gates: 'api web' });
    expect([code, asked]).toEqual([64, []]);
    expect(err).toMatch(/"api web" is not one of the gates/);
  });

  it('with several gates writes the outputs of the worst one and a summary of all', async () => {
    on = await stage();
    on.mock.state.plan.outcomeOf = ({ processSlug }) => (processSlug === 'api' ? 'failed' : 'passed');
    const gates = {
      api: { process: 'api' },
      web: { process: 'web', needs: ['api'] },
      perf: { process: 'p' },
    };
    files['/repo/.rungate.json'] = JSON.stringify({ project: 'shop', gates });
    const { code, err } = await main({ gates: 'web,\n perf\n' });
    expect(code).toBe(1);
    const api = runs().find(({ request }) => request.processSlug === 'api');
    expect(outputs()).toMatchObject({
      'run-id': api?.id,
      verdict: 'failed',
      result: 'fail',
      'exit-code': '1',
    });
    const summary = files['/summary'];
    expect(summary).toContain('it needs api, which failed');
    for (const part of [...Object.keys(gates), ...runs().map(({ id }) => id)])
      expect(summary).toContain(part);
    expect(err).toMatch(/^::error title=rungate.*api/m);
    expect((await post()).asked).toEqual([]);
  });
});

describe('the post step', () => {
  it('does nothing after a main step that has ended, even if its wait timed out', async () => {
    on = await stage({ outcome: 'stuck' });
    await main({ ...one, 'max-attempts': '2' });
    expect(await post()).toMatchObject({ code: 0, asked: [] });
    expect(cancelled()).toEqual([false]);
  });

  it.each([
    ['sends nothing if the main step has cancelled the run', 0, [true]],
    ['cancels the run if the main step was stopped and could not', 99, [false]],
  ])('%s', async (_name, times, before) => {
    on = await stage({ outcome: 'stuck' });
    on.mock.faults.add({ kind: 'status', status: 500, endpoint: 'run.cancel', times });
    const stopsWhen = () => asked(on.mock).includes('run.status');
    expect((await main(one, { stopsWhen })).code).toBe(143);
    expect(cancelled()).toEqual(before);
    on.mock.faults.clear();
    expect((await post()).code).toBe(0);
    expect(cancelled()).toEqual([true]);
  });

  /** Runs a main step that is stopped, and changes its journal as `kill -9` leaves it. */
  async function killed(change: (journal: string) => string): Promise<void> {
    on = await stage({ outcome: 'stuck' });
    await main({ ...one, 'max-attempts': '1' });
    const { journal = '' } = state;
    state = { journal };
    writeFileSync(journal, change(readFileSync(journal, 'utf8')));
  }

  it('reports a journal that it cannot read, since a run may still be going', async () => {
    await killed(() => 'not a journal\n');
    const { code, err } = await post();
    expect(code).toBe(78);
    expect(err).toMatch(
      /^::error title=rungate::the journal of the main step cannot be used: .*: it is not a journal/m,
    );
  });
});
