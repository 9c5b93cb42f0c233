import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import type { Result } from '../../cli/harness.ts';
import { type Circle, context, head, minute, openCircle, repository, tokens } from './circle.ts';

let on: Circle;
afterEach(async () => {
  const [leaked, { mistakes }] = [on.leaked(), on.github];
  await on.close();
  expect({ leaked, mistakes }).toEqual({ leaked: [], mistakes: [] });
});

/** Starts the circle, and ends the job of the pull request. */
async function detached(options: MockOptions = {}, more: readonly string[] = []): Promise<void> {
  on = await openCircle(options);
  expect(await on.ended(on.detach({}, more))).toMatchObject({ code: 0 });
  expect(on.latest()?.state).toBe('pending');
}
const codes = () => on.jobs.map(({ result }) => result?.code);
const newer = 'b'.repeat(40);

describe('a detached gate', () => {
  it.each([
    ['passed', 'success', 0],
    ['failed', 'failure', 1],
    ['blocked', 'failure', 2],
    ['cancelled', 'failure', 4],
  ] as const)('whose run is %s gets the commit status %s', async (outcome, state, code) => {
    on = await openCircle({ outcome });
    const first = await on.ended(on.detach());
    expect(first).toMatchObject({
      code: 0,
      err: expect.stringContaining(`no verdict yet: the commit status "${context}" is pending, and decides`),
    });
    expect(on.latest()).toMatchObject({ state: 'pending', context });
    expect(await on.decided()).toMatchObject({ state, description: expect.stringMatching(`^${outcome} `) });
    expect(on.github.started).toMatchObject([{ repository, workflow: 'rungate-resume.yml', ref: 'trunk' }]);
    expect([codes(), on.runs().length]).toEqual([[code], 1]);
  });

  it('whose run never ends gets an error at its deadline', async () => {
    await detached({ outcome: 'stuck' }, ['--timeout', '5m']);
    expect(await on.decided()).toMatchObject({
      state: 'error',
      description: expect.stringMatching(/^timeout /),
    });
    expect(codes()).toEqual([3]);
  });

  it.each([
    ['failed', 'failure', 1],
    ['passed', 'success', 0],
  ] as const)('whose run is %s before the first job ends is decided there', async (outcome, state, code) => {
    on = await openCircle({ outcome, duration: 0 });
    expect(await on.ended(on.detach())).toMatchObject({ code });
    expect(on.latest()?.state).toBe(state);
    await on.wait(5 * minute);
    expect(on.jobs).toEqual([]);
  });

  it('creates a retry in the resumed job, which hands the gate back', async () => {
    await detached({ outcome: ['failed', 'passed'] }, ['--retries', '1', '--on', 'flaky=warn']);
    expect(await on.decided()).toMatchObject({
      state: 'success',
      description: expect.stringMatching(/^flaky /),
    });
    expect([codes(), on.runs().length]).toEqual([[0, 0], 2]);
    expect(on.jobs[0]?.lastedMs).toBeLessThan(minute / 2);
  });

  it('of several gates has one status, and the resumed job creates the run of a dependent gate', async () => {
    on = await openCircle({ outcome: ['passed', 'failed'] });
    const gates = { a: { process: 'a' }, b: { process: 'b', needs: ['a'] } };
    const name = 'rungate: a, b';
    on.github.required = [name];
    const files = { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify({ project: 'shop', gates }) };
    const first = on.start(['gate', '--detach'], on.settingsOf({}, { files }));
    expect(await on.ended(first)).toMatchObject({ code: 0 });
    expect([on.latest(head, name)?.state, on.runs().length]).toEqual(['pending', 1]);
    expect(await on.decided(head, name)).toMatchObject({
      state: 'failure',
      description: expect.stringMatching(/^failed /),
    });
    expect([codes(), on.runs().length]).toEqual([[0, 1], 2]);
    expect(on.jobs[0]?.lastedMs).toBeLessThan(minute / 2);
  });

  it('in a merge queue sets the status of the commit of the queue, and no newer one replaces it', async () => {
    on = await openCircle();
    for (const [run, commit] of [
      ['1', head],
      ['2', newer],
    ] as const)
      expect(await on.ended(on.detach({ name: 'merge_group', commit, run }))).toMatchObject({ code: 0 });
    expect(await on.decided()).toMatchObject({ state: 'success' });
    expect(await on.decided(newer)).toMatchObject({ state: 'success' });
    expect([codes(), on.runs().length]).toEqual([[0, 0], 2]);
  });
});

describe('a newer job', () => {
  it('of a later commit replaces the gate, whose run is cancelled and whose status is an error', async () => {
    await detached();
    const old = on.idOf();
    await on.wait(1_000);
    expect(await on.ended(on.detach({ commit: newer, run: '2' }))).toMatchObject({ code: 0 });
    expect(on.latest()).toMatchObject({
      state: 'error',
      description: `replaced by a newer commit (gate ${old})`,
    });
    const [first, second] = on.runs();
    expect([first?.cancelled?.reason, second?.cancelled]).toEqual([
      'rungate: a newer commit of the pull request',
      undefined,
    ]);
    expect(await on.decided(newer)).toMatchObject({ state: 'success' });
    expect(codes()).toEqual([0]);
    const replayed = await on.ended(on.resume(old));
    expect(replayed).toMatchObject({ code: 5, err: expect.stringContaining('a newer gate has replaced') });
    expect(on.latest()?.state).toBe('error');
  });

  it('of an earlier commit, which has started late, replaces nothing', async () => {
    on = await openCircle();
    expect(await on.ended(on.detach({ commit: newer, run: '2' }))).toMatchObject({ code: 0 });
    await on.wait(1_000);
    const { code, err } = await on.ended(on.detach({ commit: head, run: '1' }));
    expect([code, err]).toEqual([5, expect.stringContaining('a newer gate has replaced the gate')]);
    expect(await on.decided(newer)).toMatchObject({ state: 'success' });
    expect([on.latest(), on.runs().length]).toEqual([undefined, 1]);
  });

  it('of the same commit decides, although the pending status of the older one comes late', async () => {
    on = await openCircle();
    on.github.fail = (request) => (request.includes('/statuses/') ? 500 : undefined);
    const older = on.detach();
    await on.wait(1_500);
    on.github.fail = () => undefined;
    expect(await on.ended(on.detach({ run: '2' }))).toMatchObject({ code: 0 });
    expect(await on.ended(older)).toMatchObject({ code: 5, err: expect.stringContaining('has replaced') });
    expect(on.github.statusesOf(head, context).map(({ state }) => state)).toEqual(['pending', 'pending']);
    expect(await on.decided()).toMatchObject({ state: 'success' });
    expect(on.runs()).toHaveLength(1);
  });

  it('of a re-run goes on with the same run, which is not cancelled', async () => {
    await detached();
    const old = on.idOf();
    await on.wait(1_000);
    expect(await on.ended(on.detach({ attempt: '2' }))).toMatchObject({ code: 0 });
    expect(on.idOf()).not.toBe(old);
    expect(await on.decided()).toMatchObject({ state: 'success' });
    expect(on.runs()).toMatchObject([{ outcome: 'passed' }]);
    expect(on.runs()[0]?.cancelled).toBeUndefined();
  });
});

describe('a resumed job', () => {
  /** Detaches a gate whose run ends without a job. */
  async function alone(options: MockOptions = {}, more: readonly string[] = []): Promise<string> {
    await detached(options, more);
    on.github.onStart = () => {};
    await on.wait(11 * minute);
    return on.idOf();
  }

  it('is the only one that decides', async () => {
    const id = await alone();
    const [one, other] = [on.resume(id), on.resume(id)];
    const results = [await on.ended(one), await on.ended(other)].toSorted((a, b) => a.code - b.code);
    expect(results).toMatchObject([
      { code: 0 },
      { code: 5, err: expect.stringContaining(`another job goes on with the gate: ${id}`) },
    ]);
    expect(on.github.statusesOf(head, context).map(({ state }) => state)).toEqual(['success', 'pending']);
  });

  it('does not decide again', async () => {
    const id = await alone({ outcome: 'failed' });
    expect(await on.ended(on.resume(id))).toMatchObject({ code: 1 });
    const { code, err } = await on.ended(on.resume(id));
    expect([code, err]).toEqual([5, expect.stringContaining(`the commit status of the gate is set: ${id}`)]);
    expect(on.github.statusesOf(head, context).map(({ state }) => state)).toEqual(['failure', 'pending']);
  });

  it('changes nothing after someone else has set the status', async () => {
    const id = await alone({ outcome: 'failed' });
    on.github.set(head, { state: 'success', context, description: 'by hand' });
    const { code, err } = await on.ended(on.resume(id));
    expect([code, err]).toEqual([78, expect.stringContaining('another gate or somebody else has set it')]);
    expect(on.latest()?.description).toBe('by hand');
    await on.wait(2 * 60 * minute);
    expect(on.github.started).toHaveLength(1);
  });

  it('creates no run for a gate whose first job could not begin', async () => {
    on = await openCircle();
    on.github.fail = (request) => (request.includes('/statuses/') ? 500 : undefined);
    expect(await on.ended(on.detach({}, ['--timeout', '5m']))).toMatchObject({ code: 5 });
    on.github.fail = () => undefined;
    await on.wait(2 * 60 * minute);
    expect([codes(), on.jobs[0]?.result?.err]).toEqual([
      [78],
      expect.stringContaining('the job that started this gate ended before it created a run'),
    ]);
    expect([on.latest(), on.runs()]).toEqual([undefined, []]);
  });

  it('with another API key reads nothing', async () => {
    const id = await alone();
    const { code, err } = await on.ended(on.resume(id, { env: { RUNGATE_API_KEY: 'another-key-0123' } }));
    expect([code, err]).toEqual([78, expect.stringContaining('was made with another API key, or changed')]);
    expect(on.latest()?.state).toBe('pending');
    await on.wait(4 * minute);
    expect(await on.ended(on.resume(id))).toMatchObject({ code: 0 });
    expect(on.latest()?.state).toBe('success');
  });

  it('of another repository sets no status', async () => {
    const id = await alone();
    const { code, err } = await on.ended(on.resume(id, { env: { GITHUB_REPOSITORY: 'acme/other' } }));
    expect([code, err]).toEqual([78, expect.stringContaining(`gate ${id} is not one of acme/other`)]);
    expect(on.latest()?.state).toBe('pending');
  });

  it.each(['sealed', 'commit', 'context'])('finds that a hub has changed the field %s', async (field) => {
    const id = await alone();
    const fake = await on.between((text) => {
      const kept = JSON.parse(text) as Record<string, string>;
      const value = kept[field] ?? '';
      const changed = { ...kept, [field]: value.slice(0, -1) + (value.endsWith('b') ? 'c' : 'b') };
      return JSON.stringify(changed);
    });
    const { code, err } = await on.ended(on.resume(id, { env: { RUNGATE_HUB_URL: fake } }));
    expect([code, err]).toEqual([78, expect.stringContaining('or changed')]);
    expect(on.latest()?.state).toBe('pending');
  });

  it('that may not set the status fails, and a later one sets it', async () => {
    const id = await alone();
    on.github.allow(tokens.job, { statuses: 'read' });
    const { code, err } = await on.ended(on.resume(id));
    expect([code, err]).toEqual([6, expect.stringContaining('check the permissions of the token')]);
    expect(on.latest()?.state).toBe('pending');
    on.github.allow(tokens.job, { statuses: 'write' });
    await on.wait(4 * minute);
    expect(await on.ended(on.resume(id))).toMatchObject({ code: 0 });
    expect(on.latest()?.state).toBe('success');
  });

  it('hands over when it is stopped', async () => {
    const id = await alone({ duration: 50 * minute });
    let stop: (signal: 'SIGTERM') => void = () => {};
    const job = on.resume(id, {
      onStop(listener) {
        stop = listener;
      },
    });
    await job.prints('continuing run_');
    await on.wait(10_000);
    stop('SIGTERM');
    expect(await on.ended(job)).toMatchObject({ code: 143 });
    expect(on.latest()?.state).toBe('pending');
    on.github.onStart = ({ inputs }) => void on.jobs.push(on.resume(String(inputs.id)));
    expect(await on.decided()).toMatchObject({ state: 'success' });
  });
});

describe('a job that GitHub does not start', () => {
  it('is started again after 10 minutes, three times, and at the deadline', async () => {
    await detached({}, ['--timeout', '2h']);
    const startedAt: number[] = [];
    on.github.onStart = () => void startedAt.push(Math.round(on.time.clock.monotonic() / minute));
    await on.wait(118 * minute);
    expect(startedAt).toEqual([10, 20, 30, 40]);
    await on.wait(5 * minute);
    expect(startedAt).toEqual([10, 20, 30, 40, 120]);
  });

  it('is started again a minute after a fault of GitHub', async () => {
    await detached();
    on.github.fail = (request, count) => (request.endsWith('/dispatches') && count === 1 ? 500 : undefined);
    expect(await on.decided()).toMatchObject({ state: 'success' });
    expect(on.hub.log()).toContain('start-failed');
    expect(codes()).toEqual([0]);
  });

  it('is replaced by that of a schedule', async () => {
    await detached();
    on.github.onStart = () => {};
    await on.wait(11 * minute);
    expect(await on.ended(on.start(['gate', '--resume-pending']))).toMatchObject({ code: 0 });
    expect(on.latest()?.state).toBe('success');
    const { code, err } = await on.ended(on.start(['gate', '--resume-pending']));
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('no detached gate of this repository is pending'),
    ]);
    await on.wait(2 * 60 * minute);
    expect(on.github.started).toHaveLength(1);
  });

  it('needs the permission actions: write of the hub', async () => {
    on = await openCircle();
    on.github.allow(tokens.hub, { statuses: 'write', contents: 'write' });
    expect(await on.ended(on.detach())).toMatchObject({ code: 0 });
    await on.wait(15 * minute);
    expect(on.jobs).toEqual([]);
    expect(on.hub.log()).toMatch(/start-failed.*status code 403/);
    expect(on.latest()?.state).toBe('pending');
    on.github.allow(tokens.hub, { actions: 'write' });
    expect(await on.decided()).toMatchObject({ state: 'success' });
  });

  it('is left to a schedule by a hub without a token, which the first job says', async () => {
    on = await openCircle();
    await on.hub.stop();
    on.hub = await on.serveHub({ RUNGATE_GITHUB_TOKEN: '' });
    const { code, err } = await on.ended(on.detach());
    expect([code, err]).toEqual([0, expect.stringContaining('warning: the hub starts no jobs')]);
    await on.wait(11 * minute);
    expect(await on.ended(on.start(['gate', '--resume-pending']))).toMatchObject({ code: 0 });
    expect(on.latest()?.state).toBe('success');
  });
});

describe('a schedule', () => {
  it('has no other options than those of output', async () => {
    on = await openCircle();
    const { code, err } = await on.ended(on.start(['gate', '--resume-pending', '--timeout', '5m']));
    expect([code, err]).toEqual([64, expect.stringContaining('--timeout and --resume-pending cannot be')]);
  });

  it('reads each run that goes on once, and hands its gate over at once', async () => {
    on = await openCircle();
    for (const [at, commit] of [head, newer, 'c'.repeat(40)].entries())
      await on.ended(on.detach({ name: 'merge_group', commit, run: String(at) }));
    await on.wait(2 * minute);
    const job = on.start(['gate', '--resume-pending']);
    expect(await on.ended(job)).toMatchObject({ code: 0 });
    expect(job.lastedMs).toBeLessThan(5_000);
    expect(await on.decided('c'.repeat(40))).toMatchObject({ state: 'success' });
    expect(codes()).toEqual([0, 0, 0]);
  });

  it('decides each pending gate, although one of them cannot be continued', async () => {
    on = await openCircle({ outcome: ['passed', 'failed', 'passed'] });
    on.github.onStart = () => {};
    const others = { env: { RUNGATE_API_KEY: 'another-key-0123' } };
    for (const [run, commit] of [
      ['1', head],
      ['2', newer],
      ['3', 'c'.repeat(40)],
    ] as const)
      await on.ended(on.detach({ name: 'merge_group', commit, run }));
    await on.wait(11 * minute);
    expect(await on.ended(on.resume(on.idOf(), others))).toMatchObject({ code: 78 });
    await on.wait(4 * minute);
    on.github.set(head, { state: 'error', context, description: 'by hand' });
    const { code, err } = await on.ended(on.start(['gate', '--resume-pending']));
    expect(code).not.toBe(0);
    expect(err).toContain('warning: gate ');
    expect(on.latest(newer)?.state).toBe('failure');
    expect(on.latest('c'.repeat(40))?.state).toBe('success');
  });
});

describe('a hub that has lost the gate', () => {
  it('leaves the status pending, and the job says so', async () => {
    await detached();
    const id = on.idOf();
    const { port } = new URL(on.hub.url);
    await on.hub.stop();
    on.hub = await on.serveHub({}, port);
    const { code, err } = await on.ended(on.resume(id));
    expect([code, err]).toEqual([5, expect.stringContaining(`the hub does not have the gate: ${id}`)]);
    expect(err).toContain('re-run the job of the pull request');
    expect(on.latest()?.state).toBe('pending');
    expect(await on.ended(on.detach({ attempt: '2' }))).toMatchObject({ code: 0 });
    expect(await on.decided()).toMatchObject({ state: 'success' });
    expect(on.runs()).toHaveLength(1);
  });
});

describe('a first job that loses the hub for two minutes', () => {
  /** Starts the first job. The hub stops responding after so many requests about the gate. */
  async function losing(after: number): Promise<Result> {
    on = await openCircle();
    const { clock } = on.time;
    let [count, lostUntil] = [0, Number.POSITIVE_INFINITY];
    const url = await on.between((text) => {
      if (text === '{}') count += 1;
      if (count === after) lostUntil = clock.now() + 2 * minute;
      return count <= after || clock.now() >= lostUntil ? text : null;
    });
    return on.ended(on.detach({}, [], { env: { RUNGATE_HUB_URL: url } }));
  }

  it('creates no run after that, and the next job says so after the lease', async () => {
    expect(await losing(1)).toMatchObject({ code: 7 });
    expect(on.latest()?.state).toBe('pending');
    await on.wait(4 * minute);
    expect([on.latest()?.state, on.runs()]).toEqual(['error', []]);
    expect(on.jobs).toMatchObject([
      { result: { code: 78, err: expect.stringContaining('ended before it created a run') } },
    ]);
  });

  it('waits for the run that it has created, and decides, without another job', async () => {
    const { code, err } = await losing(2);
    expect([code, err]).toEqual([0, expect.stringContaining('this command waits until the gate ends')]);
    expect([on.latest()?.state, on.runs().length, on.jobs]).toEqual(['success', 1, []]);
  });
});
