import { appendFileSync, chmodSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runPost, type Toolkit } from '../src/action.ts';
import { jobOf } from '../src/ci/idempotency.ts';
import { detectCi } from '../src/ci/provider.ts';
import { asked, memoryIo, type Stage, stage, trigger } from './cli/harness.ts';
import { withLimits } from './fake-clock.ts';
import { folderForTest } from './folders.ts';

let on: Stage;
let folder: string;
let journal: string;
beforeEach(() => {
  folder = folderForTest();
  journal = join(folder, 'action.journal');
});
afterEach(() => on.close());

/** Leaves the journal of a main step that was killed after it had created its run. */
async function killedAfterCreate(env: Record<string, string> = {}): Promise<void> {
  on = await stage({ outcome: 'stuck' });
  await on.with({ env, journal })(...trigger, '--wait', '--max-attempts', '1');
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
  const { io, printed } = memoryIo({ clock: withLimits(on.clock), env });
  const before = on.mock.requests.length;
  const code = await runPost(toolkit, io);
  return { code, ...printed(), asked: asked(on.mock).slice(before) };
}

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

describe('the environment of a preview deployment', () => {
  const commits = ['creating', 'created'] as const;

  /** Leaves the journal of a main step that was killed while its run went on in the environment. */
  async function killedInPreview(last: (typeof commits)[number] = 'created', query = ''): Promise<string> {
    on = await stage({ outcome: 'stuck', deployed: 'v1' });
    const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--timeout', '1m'];
    const run = on.with({ journal, clock: withLimits(on.clock) });
    await run(...gate, '--base-url', `${on.mock.url}${query}`, '--ready-url', '/_mock/version');
    const lines = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(
      journal,
      lines
        .filter(
          (line) =>
            !/settled|"deleted"/.test(line) && !(last === 'creating' && line.includes('"step":"created"')),
        )
        .join('\n'),
    );
    return String([...on.mock.state.runs.values()][0]?.request.environmentKey);
  }
  const left = () =>
    [...on.mock.state.account.environments.values()].filter(({ key }) => key?.startsWith('rg-'));

  it('stays if a re-run of the job found it, and was stopped before it found the run', async () => {
    const key = await killedInPreview();
    const found = {
      event: 'environment',
      key,
      step: 'found',
      baseUrl: on.mock.url,
      job: jobOf(detectCi({})),
    };
    writeFileSync(journal, `${JSON.stringify(found)}\n`);
    const { err } = await post({ RUNGATE_TOKEN: on.mock.token });
    expect(left()).toHaveLength(1);
    expect(err).toContain(`environment ${key} was not deleted: a run may still use it`);
  });

  it('stays if somebody gave it another base URL meanwhile', async () => {
    const key = await killedInPreview();
    for (const environment of left()) environment.baseUrl = 'https://other.example';
    const { code, err, asked } = await post({ RUNGATE_TOKEN: on.mock.token });
    expect([code, left().length, asked.includes('env.delete')]).toEqual([5, 1, false]);
    expect(err).toContain(
      `environment ${key} was not deleted: its name or its base URL is not the one that rungate gave it`,
    );
  });

  it('is deleted although the journal does not have the query of its URL', async () => {
    await killedInPreview('created', '/?secret=hidden-key');
    expect(readFileSync(journal, 'utf8')).not.toContain('hidden-key');
    expect(left()).toMatchObject([{ baseUrl: `${on.mock.url}?secret=hidden-key` }]);
    expect([(await post({ RUNGATE_TOKEN: on.mock.token })).code, left()]).toEqual([0, []]);
  });

  it('is not looked for without end if the request that creates it never arrived', async () => {
    await killedInPreview('creating');
    for (const { id } of left()) on.mock.state.account.environments.delete(id);
    const before = on.clock.monotonic();
    expect((await post({ RUNGATE_TOKEN: on.mock.token })).code).toBe(0);
    expect(on.clock.monotonic() - before).toBeLessThan(120_000);
  });
});
