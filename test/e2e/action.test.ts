import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Mock, type MockOptions, type Outcome, startMock } from '../../src/mock/server.ts';
import { until } from '../until.ts';
import { root, start } from './built.ts';

let mock: Mock;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-runner-'));
});
afterEach(async () => {
  await mock.close();
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (options: MockOptions = {}) => {
  mock = await startMock({ duration: 300, retryAfterSeconds: 0.1, ...options });
};
const runs = () => [...mock.state.runs.values()];
const file = (name: string) => join(folder, name);

/** The inputs of action.yml that have a default, with its value. */
const defaults = { strict: 'true', 'cancel-on-interrupt': 'true', matrix: 'null' };

/** Returns the environment of a step: inputs in capitals, and files for its outputs. */
function environment(
  inputs: Record<string, string>,
  state: Record<string, string> = {},
): Record<string, string> {
  for (const name of ['output', 'state', 'summary']) writeFileSync(file(name), '', { flag: 'a' });
  const values = { 'api-url': mock.url, 'api-key': mock.apiKey, ...defaults, ...inputs };
  const entries = (prefix: string, record: Record<string, string>) =>
    Object.entries(record).map(([name, value]) => [`${prefix}${name.replaceAll(' ', '_')}`, value]);
  return {
    ...Object.fromEntries(
      entries('INPUT_', Object.fromEntries(Object.entries(values).map(([k, v]) => [k.toUpperCase(), v]))),
    ),
    ...Object.fromEntries(entries('STATE_', state)),
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_JOB: 'e2e',
    GITHUB_ACTION: '__acme_rungate',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: 'a'.repeat(40),
    GITHUB_REF: 'refs/heads/main',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_OUTPUT: file('output'),
    GITHUB_STATE: file('state'),
    GITHUB_STEP_SUMMARY: file('summary'),
    RUNNER_TEMP: folder,
  };
}

/** Reads the values that a step wrote to one of the runner's files: `name<<delimiter`, the value, the delimiter. */
function written(name: string): Record<string, string> {
  const found: Record<string, string> = {};
  const text = readFileSync(file(name), 'utf8');
  for (const [, key, , value] of text.matchAll(/^([^\n]+?)<<([^\n]+)\n([\s\S]*?)\n\2$/gm))
    found[String(key)] = String(value);
  return found;
}

const step = (name: 'main' | 'post', env: Record<string, string>) =>
  start(process.execPath, [`${root}/action/${name}.js`], env);
const gate = { project: 'shop', process: 'checkout' };

describe('the main step', () => {
  it.each([
    ['passed', 0, 'pass'],
    ['failed', 1, 'fail'],
    ['blocked', 2, 'fail'],
    ['cancelled', 4, 'fail'],
  ] as const)('%s: exits %i and writes every output', async (outcome, code, action) => {
    await serve({ outcome });
    const ended = await step('main', environment(gate)).ended;
    expect(ended.code).toBe(code);
    expect(written('output')).toEqual({
      'run-id': runs()[0]?.id,
      verdict: outcome,
      gate: action,
      'exit-code': String(code),
      failed: outcome === 'failed' ? '2' : '0',
      blocked: outcome === 'blocked' ? '1' : '0',
      'app-url': runs()[0]?.appUrl,
    });
    expect(readFileSync(file('summary'), 'utf8')).toContain(runs()[0]?.id);
    expect(ended.out + ended.err).toMatch(/^::(error|notice) title=rungate/m);
  });

  it('masks the key first, and shows it nowhere else', async () => {
    await serve();
    const { out, err } = await step('main', environment(gate)).ended;
    const all = (out + err).split('\n');
    expect(all.filter((line) => line.includes(mock.apiKey))).toEqual([`::add-mask::${mock.apiKey}`]);
    for (const name of ['output', 'state', 'summary'])
      expect(readFileSync(file(name), 'utf8')).not.toContain(mock.apiKey);
  });

  it('accepts lists by line or comma, and sends the facts of the job', async () => {
    await serve();
    const inputs = {
      project: 'shop',
      tags: 'smoke, slow\n\nmobile',
      on: 'failed=warn',
      environment: 'staging',
    };
    expect((await step('main', environment(inputs)).ended).code).toBe(0);
    const sent = JSON.parse(mock.requests.find((request) => request.endpoint === 'run.trigger')?.body ?? '');
    expect(sent).toMatchObject({
      projectSlug: 'shop',
      tags: ['smoke', 'slow', 'mobile'],
      environmentKey: 'staging',
      ref: 'main',
    });
  });

  it('starts a run for each cell of a matrix, and a retried cell finds its own run', async () => {
    await serve({ outcome: 'stuck' });
    const cell = (matrix: string, attempt: string) => ({
      ...environment({ ...gate, matrix, 'max-attempts': '1' }),
      GITHUB_RUN_ATTEMPT: attempt,
    });
    for (const node of ['20', '22'])
      expect((await step('main', cell(`{"node":${node}}`, '1')).ended).code).toBe(3);
    expect(runs()).toHaveLength(2);
    await step('main', cell('{"node":22}', '2')).ended;
    expect(runs()).toHaveLength(2);
  });

  it.each<[string, Record<string, string>, number]>([
    ['no key', { ...gate, 'api-key': '' }, 78],
    ['neither process nor tags', { project: 'shop' }, 64],
    ['a boolean that is neither true nor false', { ...gate, strict: 'maybe' }, 64],
  ])('reports an invalid input: %s', async (_name, inputs, code) => {
    await serve();
    const ended = await step('main', environment(inputs)).ended;
    expect(ended.code).toBe(code);
    expect(ended.err).toMatch(/error/);
    expect(mock.requests).toHaveLength(0);
  });
});

const post = (inputs: Record<string, string> = gate) =>
  step('post', environment(inputs, written('state'))).ended;

describe('the post step', () => {
  it('does nothing if the main step has ended', async () => {
    await serve();
    await step('main', environment(gate)).ended;
    const before = mock.requests.length;
    expect((await post()).code).toBe(0);
    expect(mock.requests).toHaveLength(before);
  });

  it('does not cancel a run whose wait timed out', async () => {
    await serve({ outcome: 'stuck' });
    await step('main', environment({ ...gate, 'max-attempts': '2' })).ended;
    expect((await post()).code).toBe(0);
    expect(runs()[0]?.cancelled).toBeUndefined();
  });

  it('cancels the run if the main step was killed while it waited', async () => {
    await serve({ outcome: 'stuck' });
    const running = step('main', environment(gate));
    await running.shows(/in_progress/);
    running.child.kill('SIGKILL');
    await running.ended;
    expect(runs()[0]?.cancelled).toBeUndefined();
    const ended = await post();
    expect(ended.code).toBe(0);
    expect(runs()).toHaveLength(1);
    expect(runs()[0]?.cancelled?.reason).toMatch(/job was stopped/);
  });

  it('finds and cancels the run if the main step was killed before the response to its create', async () => {
    await serve({ outcome: 'stuck' });
    mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
    const running = step('main', environment(gate));
    await until(() => runs().length > 0);
    running.child.kill('SIGKILL');
    await running.ended;
    expect((await post()).code).toBe(0);
    expect(runs()).toHaveLength(1);
    expect(runs()[0]?.cancelled).toBeDefined();
  });

  it('has nothing to do if the job was cancelled and the main step has cancelled the run', async () => {
    await serve({ outcome: 'stuck' });
    const running = step('main', environment(gate));
    await running.shows(/in_progress/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(runs()[0]?.cancelled).toBeDefined();
    const before = mock.requests.length;
    expect((await post()).code).toBe(0);
    expect(mock.requests).toHaveLength(before);
  });

  it('cancels the run if the main step could not cancel it within 5 seconds', async () => {
    await serve({ outcome: 'stuck' });
    mock.faults.add({ kind: 'status', status: 500, endpoint: 'run.cancel', times: 40 });
    const running = step('main', environment(gate));
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    await running.ended;
    expect(runs()[0]?.cancelled).toBeUndefined();
    mock.faults.clear();
    expect((await post()).code).toBe(0);
    expect(runs()[0]?.cancelled).toBeDefined();
  });

  it('reports a journal that it cannot read, since a run may still be going', async () => {
    await serve({ outcome: 'stuck' });
    const running = step('main', environment(gate));
    await running.shows(/in_progress/);
    running.child.kill('SIGKILL');
    await running.ended;
    writeFileSync(String(written('state').journal), 'not a journal\n');
    const ended = await post();
    expect(ended.code).toBe(78);
    expect(ended.err).toMatch(/^::error title=rungate::the journal of the main step cannot be read/m);
  });
});

describe('several gates', () => {
  const processes = {
    api: { process: 'api' },
    web: { process: 'web', needs: ['api'] },
    perf: { process: 'perf', advisory: true },
    slow: { process: 'slow' },
  };
  const inputs = (gates: string, more: Record<string, string> = {}) => ({
    config: file('.rungate.json'),
    gates,
    ...more,
  });
  const runsOf = (name: string) => runs().filter(({ request }) => request.processSlug === name);

  /** Starts a mock that gives the runs of each process these outcomes in turn. */
  const play = async (outcomes: Record<string, readonly Outcome[]>, gates: object = processes) => {
    await serve();
    mock.state.plan.outcomeOf = ({ processSlug }) =>
      outcomes[String(processSlug)]?.[runsOf(String(processSlug)).length] ?? 'passed';
    writeFileSync(file('.rungate.json'), JSON.stringify({ project: 'shop', gates }));
  };

  it('set the outputs and the summary, and fail the step with the worst of them', async () => {
    await play({ api: ['failed'], perf: ['blocked'] });
    const ended = await step('main', environment(inputs('web,\n perf , slow\n'))).ended;
    expect(ended.code).toBe(1);
    const [api] = runsOf('api');
    expect(written('output')).toEqual({
      'run-id': api?.id,
      verdict: 'failed',
      gate: 'fail',
      'exit-code': '1',
      failed: '2',
      blocked: '0',
      'app-url': api?.appUrl,
    });
    const summary = readFileSync(file('summary'), 'utf8');
    for (const name of Object.keys(processes)) expect(summary).toMatch(new RegExp(`\\b${name}\\b`));
    expect(summary).toContain('it needs api, which failed');
    for (const { id } of runs()) expect(summary).toContain(id);
    expect(ended.err + ended.out).toMatch(/^::error title=rungate.*api/m);
    expect(runsOf('web')).toHaveLength(0);
    const before = mock.requests.length;
    expect((await post()).code).toBe(0);
    expect(mock.requests).toHaveLength(before);
  });

  it('with retries pass with a warning if the second run passes', async () => {
    await play({ api: ['failed'] });
    const ended = await step('main', environment(inputs('web', { retries: '1' }))).ended;
    expect(ended.code).toBe(0);
    expect(written('output')).toMatchObject({
      verdict: 'flaky',
      gate: 'warn',
      'run-id': runsOf('api')[1]?.id,
    });
    expect(['api', 'web', 'perf'].map((name) => runsOf(name).length)).toEqual([2, 1, 0]);
  });

  it('with fail-fast cancel the others when one fails, and all means all', async () => {
    await play({ api: ['failed'], slow: ['stuck'], perf: ['stuck'] });
    const ended = await step('main', environment(inputs('all', { 'fail-fast': 'true' }))).ended;
    expect(ended.code).toBe(1);
    for (const name of ['slow', 'perf']) expect(runsOf(name)[0]?.cancelled?.reason).toMatch(/fail/);
    expect(written('output')).toMatchObject({ verdict: 'failed', 'run-id': runsOf('api')[0]?.id });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a process', { gates: 'all', process: 'api' }, /the input process has no effect with gates/],
    ['a name with a space', { gates: 'api web' }, /"api web" is not one of the gates/],
    ['all among names', { gates: 'api, all' }, /"all" is not one of the gates/],
  ])('refuse %s before anything is sent', async (_what, given, message) => {
    await play({});
    const { code, err } = await step('main', environment({ ...given, config: file('.rungate.json') })).ended;
    expect(code).toBe(64);
    expect(err).toMatch(message);
    expect(mock.requests).toHaveLength(0);
  });

  describe('of a main step that was killed', () => {
    /** Kills a step while one gate retries, one waits, one has ended, and the response to one create is lost. */
    const killed = async () => {
      await play(
        { retried: ['failed', 'stuck'], slow: ['stuck'], lost: ['stuck'] },
        {
          retried: { process: 'retried', retries: 2 },
          slow: processes.slow,
          perf: processes.perf,
          lost: { process: 'lost' },
        },
      );
      mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger', skip: 3, times: 1 });
      const running = step('main', environment(inputs('all')));
      await running.shows(/perf: passed/);
      await until(() => runsOf('retried').length === 2 && runsOf('lost').length === 1);
      await running.shows(/slow: .*in_progress/);
      running.child.kill('SIGKILL');
      await running.ended;
      expect(runs().filter(({ cancelled }) => cancelled !== undefined)).toEqual([]);
    };

    it('are cancelled by the post step if they are in progress, in any attempt', async () => {
      await killed();
      const { code, err } = await post(inputs('all'));
      expect(code).toBe(0);
      expect(runs()).toHaveLength(5);
      const wanted = [runsOf('retried')[1], runsOf('slow')[0], runsOf('lost')[0]];
      expect(runs().filter(({ cancelled }) => cancelled !== undefined)).toEqual(
        expect.arrayContaining(wanted),
      );
      for (const run of wanted) expect(err).toContain(run?.id);
      expect(runs().filter(({ cancelled }) => cancelled !== undefined)).toHaveLength(3);
    });

    it('are attached to by a retried job, in the attempt in progress', async () => {
      await killed();
      const before = runs().map(({ id }) => id);
      const env = {
        ...environment(inputs('all', { 'max-attempts': '8', report: file('r.json') })),
        GITHUB_RUN_ATTEMPT: '2',
      };
      // The first attempt of one gate had failed, and nothing has passed since.
      expect((await step('main', env).ended).code).toBe(1);
      const started = runs().filter(({ id }) => !before.includes(id));
      expect(started.map(({ request }) => request.processSlug)).toEqual(['perf']);
      const { gates } = JSON.parse(readFileSync(file('r.json'), 'utf8'));
      const found = gates.map(
        ({ name, runs, attempts = runs }: { name: string; [list: string]: unknown }) => [
          name,
          (attempts as { runId: string }[]).map(({ runId }) => runId),
        ],
      );
      expect(Object.fromEntries(found)).toEqual({
        retried: runsOf('retried').map(({ id }) => id),
        slow: [runsOf('slow')[0]?.id],
        perf: [runsOf('perf')[1]?.id],
        lost: [runsOf('lost')[0]?.id],
      });
    });
  });
});
