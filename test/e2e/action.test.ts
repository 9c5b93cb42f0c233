import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { until } from '../until.ts';
import { root, start } from './built.ts';

let mock: MockServer;
let folder: string;

beforeEach(() => {
  folder = folderForTest();
});
afterEach(() => mock.close());

const serve = async (options: MockOptions) => {
  mock = await startMock({ duration: 300, retryAfterSeconds: 0.1, ...options });
};
const runs = () => [...mock.state.runs.values()];
const file = (name: string) => join(folder, name);

/** Returns the environment of a step: inputs in capitals, and files for its outputs. */
function environment(
  inputs: Record<string, string>,
  state: Record<string, string> = {},
): Record<string, string> {
  for (const name of ['output', 'state', 'summary']) writeFileSync(file(name), '', { flag: 'a' });
  const values = { 'api-url': mock.url, 'api-key': mock.apiKey, ...inputs };
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

const post = (inputs: Record<string, string> = gate) =>
  step('post', environment(inputs, written('state'))).ended;

it('the main step masks the key and writes the outputs, and the post step then does nothing', async () => {
  await serve({ outcome: 'failed' });
  const ended = await step('main', environment(gate)).ended;
  expect(ended.code).toBe(1);
  const [run] = runs();
  expect(written('output')).toMatchObject({ 'run-id': run?.id, verdict: 'failed', 'exit-code': '1' });
  expect(readFileSync(file('summary'), 'utf8')).toContain(run?.id);
  const all = (ended.out + ended.err).split('\n');
  expect(all.filter((line) => line.includes(mock.apiKey))).toEqual([`::add-mask::${mock.apiKey}`]);
  for (const name of ['output', 'state', 'summary'])
    expect(readFileSync(file(name), 'utf8')).not.toContain(mock.apiKey);
  const before = mock.requests.length;
  expect((await post()).code).toBe(0);
  expect(mock.requests).toHaveLength(before);
});

it('the main step cancels its run when the job is cancelled', async () => {
  await serve({ outcome: 'stuck' });
  const running = step('main', environment(gate));
  await running.shows(/in_progress/);
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect(runs()[0]?.cancelled).toBeDefined();
});

it('the post step cancels the runs of several gates whose main step was killed, in any re-run', async () => {
  await serve({});
  const runsOf = (name: string) => runs().filter(({ request }) => request.processSlug === name);
  mock.state.plan.outcomeOf = ({ processSlug }) =>
    processSlug === 'perf'
      ? 'passed'
      : processSlug === 'retried' && runsOf('retried').length === 0
        ? 'failed'
        : 'stuck';
  const gates = {
    retried: { process: 'retried', retries: 2 },
    slow: { process: 'slow' },
    perf: { process: 'perf' },
    lost: { process: 'lost' },
  };
  writeFileSync(file('.rungate.json'), JSON.stringify({ project: 'shop', gates }));
  const inputs = { config: file('.rungate.json') };
  mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger', skip: 3, times: 1 });
  const running = step('main', environment(inputs));
  await running.shows(/perf: passed/);
  await until(() => runsOf('retried').length === 2 && runsOf('lost').length === 1);
  await running.shows(/slow: .*in_progress/);
  running.child.kill('SIGKILL');
  await running.ended;
  const cancelled = () => runs().filter((run) => run.cancelled !== undefined);
  expect(cancelled()).toEqual([]);

  const { code, err } = await post(inputs);
  expect(code).toBe(0);
  expect(runs()).toHaveLength(5);
  const left = [runsOf('retried')[1], runsOf('slow')[0], runsOf('lost')[0]];
  expect(cancelled()).toHaveLength(3);
  expect(cancelled()).toEqual(expect.arrayContaining(left));
  for (const run of left) expect(err).toContain(run?.id);
  expect(cancelled()[0]?.cancelled?.reason).toMatch(/job was stopped/);
});
