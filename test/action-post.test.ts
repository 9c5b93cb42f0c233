import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runPost, type Toolkit } from '../src/action.ts';
import { asked, memoryIo, type Stage, stage, trigger } from './cli/harness.ts';

let on: Stage;
let folder: string;
let journal: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-post-'));
  journal = join(folder, 'action.journal');
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Leaves the journal of a main step that was killed after it had created its run. */
async function killedAfterCreate(env: Record<string, string> = {}): Promise<void> {
  on = await stage({ outcome: 'stuck' });
  await on.with({ env: { ...env, RUNGATE_JOURNAL: journal } })(...trigger, '--wait', '--max-attempts', '1');
  const lines = readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => !line.includes('"settled"'));
  writeFileSync(journal, lines.join('\n'));
}

async function post(env: Record<string, string> = {}) {
  const inputs: Record<string, string> = { 'api-key': on.mock.apiKey, 'api-url': on.mock.url };
  const toolkit: Toolkit = {
    getInput: (name) => inputs[name] ?? '',
    getState: (name) => (name === 'journal' ? journal : ''),
    saveState: () => {},
    setSecret: () => {},
  };
  const { io, printed } = memoryIo({ clock: on.clock, env });
  const before = on.mock.requests.length;
  const code = await runPost(toolkit, io);
  return { code, ...printed(), asked: asked(on.mock).slice(before) };
}

it('cancels the run of a main step that was killed', async () => {
  await killedAfterCreate();
  expect(await post()).toMatchObject({ code: 0, asked: ['run.status', 'run.cancel'] });
});

const github = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '2', GITHUB_JOB: 'e2e' };
it.each<[string, Record<string, string>, string[]]>([
  ['cancels the run that the same attempt of the job started', github, ['run.status', 'run.cancel']],
  ['leaves the run of another pipeline', { ...github, GITHUB_RUN_ID: '8' }, []],
  ['leaves the run of another job', { ...github, GITHUB_JOB: 'smoke' }, []],
  ['leaves the run of another re-run', { ...github, GITHUB_RUN_ATTEMPT: '1' }, []],
])('%s', async (_name, env, requests) => {
  await killedAfterCreate(github);
  expect(await post(env)).toMatchObject({ code: 0, asked: requests });
});

it('cancels the run if the last line of the journal lacks its closing brace', async () => {
  await killedAfterCreate();
  appendFileSync(journal, '\n{"event":"triggering","key":"k","round":1,"body":{"projectSlug":"shop"}');
  expect(await post()).toMatchObject({ code: 0, asked: ['run.status', 'run.cancel'] });
});

it.each<[string, () => void]>([
  ['is writable by other users', () => chmodSync(journal, 0o666)],
  [
    'is a link',
    () => {
      renameSync(journal, join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), journal);
    },
  ],
])('cancels nothing and reports it if the journal %s', async (_name, plant) => {
  await killedAfterCreate();
  plant();
  const { code, err, asked } = await post();
  expect([code, asked]).toEqual([78, []]);
  expect(err).toMatch(/^::error title=rungate::the journal of the main step cannot be used/m);
});

it('cancels the other runs of several gates while the response for one is slow', async () => {
  await killedAfterCreate();
  const [first = ''] = on.mock.state.runs.keys();
  const second = (await on.rungate(...trigger)).out.trim();
  const text = readFileSync(journal, 'utf8');
  writeFileSync(journal, text + text.replaceAll(first, second).replaceAll('"key":"', '"key":"second-'));
  on.mock.faults.add({ kind: 'drip', everyMs: 10, endpoint: 'run.status', times: 1 });
  expect((await post()).code).toBe(0);
  const cancelled = on.mock.requests.filter(({ endpoint }) => endpoint === 'run.cancel');
  expect(cancelled.map(({ path }) => path.split('/').at(-2))).toEqual([second, first]);
});

it('does nothing if the main step started no run', async () => {
  on = await stage();
  expect(await post()).toMatchObject({ code: 0, err: '', asked: [] });
});
