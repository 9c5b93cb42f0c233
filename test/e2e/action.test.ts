import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Mock, type MockOptions, startMock } from '../../src/mock/server.ts';
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

/** The inputs of action.yml with a default, as the runner fills them in. */
const defaults = { strict: 'true', 'cancel-on-interrupt': 'true', matrix: 'null' };

/** The environment of a step, as the runner makes it: inputs in capitals, files for what the step says. */
function environment(
  inputs: Record<string, string>,
  state: Record<string, string> = {},
): Record<string, string> {
  for (const name of ['output', 'state', 'summary']) writeFileSync(file(name), '', { flag: 'a' });
  const given = { 'api-url': mock.url, 'api-key': mock.apiKey, ...defaults, ...inputs };
  const entries = (prefix: string, record: Record<string, string>) =>
    Object.entries(record).map(([name, value]) => [`${prefix}${name.replaceAll(' ', '_')}`, value]);
  return {
    ...Object.fromEntries(
      entries('INPUT_', Object.fromEntries(Object.entries(given).map(([k, v]) => [k.toUpperCase(), v]))),
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

/** What a step wrote into one of the runner's files: `name<<delimiter`, the value, the delimiter. */
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

  it('masks the key before anything else, and never shows it otherwise', async () => {
    await serve();
    const { out, err } = await step('main', environment(gate)).ended;
    const all = (out + err).split('\n');
    expect(all.filter((line) => line.includes(mock.apiKey))).toEqual([`::add-mask::${mock.apiKey}`]);
    for (const name of ['output', 'state', 'summary'])
      expect(readFileSync(file(name), 'utf8')).not.toContain(mock.apiKey);
  });

  it('takes lists by lines or commas, and sends what the job says', async () => {
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

  it('two cells of a matrix make two runs, a retried cell finds its own', async () => {
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
    ['a switch that is neither true nor false', { ...gate, strict: 'maybe' }, 64],
  ])('a wrong input is said: %s', async (_name, inputs, code) => {
    await serve();
    const ended = await step('main', environment(inputs)).ended;
    expect(ended.code).toBe(code);
    expect(ended.err).toMatch(/error/);
    expect(mock.requests).toHaveLength(0);
  });
});

describe('the post step', () => {
  const post = (inputs: Record<string, string> = gate) =>
    step('post', environment(inputs, written('state'))).ended;

  it('does nothing when the main step has ended', async () => {
    await serve();
    await step('main', environment(gate)).ended;
    const before = mock.requests.length;
    expect((await post()).code).toBe(0);
    expect(mock.requests).toHaveLength(before);
  });

  it('leaves a run alone that timed out: that was no accident', async () => {
    await serve({ outcome: 'stuck' });
    await step('main', environment({ ...gate, 'max-attempts': '2' })).ended;
    expect((await post()).code).toBe(0);
    expect(runs()[0]?.cancelled).toBeUndefined();
  });

  it('cancels the run when the main step was killed in the middle of its wait', async () => {
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

  it('finds and cancels the run when the main step was killed before the reply to its create', async () => {
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

  it('when the job is cancelled the main step cancels, and the post step finds nothing left', async () => {
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

  it('tries again when the main step could not cancel in its 5 seconds', async () => {
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

  it('says so when it cannot read what the main step has started: silence would leave a run going', async () => {
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
