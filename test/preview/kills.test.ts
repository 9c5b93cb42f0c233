import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/exit.ts';
import { commitMs } from '../../src/preview/environments.ts';
import { folderForFile } from '../folders.ts';
import { type Ended, epoch, machine } from '../slice/machine.ts';
import type { Course } from '../slice/service.ts';
import { ciJob } from './job.ts';
import { type Environment, hasEnded, isAlive, origin, previewService } from './service.ts';

const numRuns = Number(process.env.RUNGATE_PREVIEW_KILLS ?? 1000);

const folder = folderForFile();

const ends: Course['end'][] = ['passed', 'passed', 'failed', 'never'];
const course = fc.record({ end: fc.constantFrom(...ends), seconds: fc.integer({ min: 1, max: 60 }) });
const ms = (max: number) => fc.integer({ min: 0, max });
const cut = fc.double({ min: 0, max: 1, noNaN: true });
const kill = fc.oneof(
  { weight: 3, arbitrary: fc.record({ step: fc.integer({ min: 1, max: 60 }), cut }) },
  { weight: 1, arbitrary: fc.record({ afterMs: fc.oneof(ms(8_000), ms(60_000)) }) },
);
const signal = fc.record({
  afterMs: ms(40_000),
  name: fc.constantFrom('SIGTERM' as const, 'SIGINT' as const),
});
const world = fc.record({
  gates: fc.integer({ min: 1, max: 3 }),
  /** The model and the number of its variables that are copied. */
  model: fc.option(fc.integer({ min: 0, max: 2 })),
  courses: fc.array(course, { minLength: 1, maxLength: 3 }),
  cancelOnTimeout: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  stop: fc.oneof(
    { weight: 4, arbitrary: fc.record({ kill }) },
    { weight: 1, arbitrary: fc.record({ signal }) },
    { weight: 1, arbitrary: fc.record({ signal, kill }) },
  ),
  after: fc.constantFrom('post' as const, 're-run' as const, 'both' as const),
  /** The time until the post step begins; a re-run begins at least 5 s after the kill. */
  postMs: ms(10_000),
  againMs: fc.integer({ min: 5_000, max: 60_000 }),
  commits: fc.array(fc.oneof(fc.constant(0), ms(30_000)), {
    minLength: 1,
    maxLength: 3,
  }),
  /** Whether the service refuses to cancel. */
  refuses: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  uniqueKeys: fc.boolean(),
  listAgeMs: fc.constantFrom(0, 0, 0, 3_000),
  readyAt: fc.constantFrom(0, 0, 2_500),
  latencies: fc.array(
    fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 900 }) }, fc.constant(3_000)),
    { minLength: 1, maxLength: 5 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

const gateNames = ['web', 'api', 'docs'];
const baseUrl = 'https://pr-7.test/shop?token=open';
/** As another job that is running has it. */
const othersKey = 'rg-00112233aabb';

function open(given: World) {
  const { courses, gates, model, cancelOnTimeout } = given;
  const service = previewService({
    ...given,
    fate: ({ path }) => (given.refuses && path.endsWith('/cancel') ? 'dropped' : 'ok'),
    courses: { web: courses, api: courses.slice(1), docs: courses.slice(2) },
  });
  const time = new Date(epoch - 60_000).toISOString().replace('.000', '');
  service.plant(
    { key: 'staging', name: 'Staging', baseUrl: 'https://staging.test' },
    { USER: 'u', SHOP: 's' },
  );
  service.plant({ key: 'rg-0123456789ab', name: 'made by hand' });
  service.plant({ key: 'mine', name: `rungate preview ${time} mine.test` });
  service.plant({ key: othersKey, name: `rungate preview ${time} pr-8.test`, baseUrl: 'https://pr-8.test' });
  const on = machine(service);
  const names = gateNames.slice(0, gates);
  const previews = Object.fromEntries(names.map((name) => [name, { process: name }]));
  on.files['/work/.rungate.json'] = JSON.stringify({ project: 'shop', gates: previews });
  const inputs: Record<string, string> = {
    ...{ 'api-url': origin, timeout: '4m', interval: '30s' },
    ...{ 'base-url': baseUrl, 'cancel-on-timeout': String(cancelOnTimeout) },
    ...(model !== null && { environment: 'staging', 'copy-variables': String(model > 0) }),
    ...(gates === 1 && { project: 'shop', process: 'web' }),
  };
  return { service, on, names, job: ciJob(on, { inputs, folder }) };
}

/** The exit codes that the last runs of the gates allow. */
function codesOf(ended: readonly (Course['end'] | undefined)[]): number[] {
  if (ended.every((end) => end === 'passed')) return [exitCodes.ok];
  const code = ended.includes('failed') ? exitCodes.failed : exitCodes.timeout;
  // The deadline may cut off the last status read of a run that does not end.
  return ended.includes('never') ? [code, exitCodes.unreachable] : [code];
}

it('over random kills and signals: the post step or a re-run leaves no environment and no run', async () => {
  const play = async (given: World, { service, on, names, job }: ReturnType<typeof open>) => {
    const { after, postMs, againMs, uniqueKeys, stop } = given;
    const first = await job.main(stop);
    const stoppedAt = on.now();
    const steps: Ended[] = [first];
    if (after !== 're-run') {
      await on.pause(postMs);
      const post = await job.post();
      steps.push(post);
      expect(given.refuses ? [exitCodes.ok, exitCodes.service] : [exitCodes.ok], post.err).toContain(
        post.code,
      );
    }
    if (after !== 'post') {
      await on.pause(Math.max(0, stoppedAt + againMs - on.now()));
      const again = await job.main({ attempt: 2 });
      steps.push(again);
      const ends = names.map((name) => service.runs.findLast(({ gate }) => gate === name)?.end);
      expect(codesOf(ends), again.err).toContain(again.code);
      expect((await job.post(2)).code).toBe(exitCodes.ok);
    }
    await on.pause(60_000);
    const now = on.now();
    const { environments, runs, requests } = service;
    const foreign = environments.filter(({ by }) => by === null);
    const own = environments.filter(({ by }) => by !== null);
    const [key] = new Set(own.map((one) => one.key));

    // Everything foreign is untouched.
    for (const { id, deletedAt, variables } of foreign) {
      expect(deletedAt).toBe(Number.POSITIVE_INFINITY);
      expect(variables).toHaveLength(id === foreign[0]?.id ? 2 : 0);
      for (const { path, method } of requests)
        if (path.split(/[/?]/).includes(id)) expect(method).toBe('GET');
    }
    // All own environments have one key, and no two exist at once, unless one was created late.
    expect(own.every((one) => one.key === key && one.key !== othersKey)).toBe(true);
    for (const [index, one] of own.entries())
      for (const other of own.slice(0, index))
        if (isAlive(other, one.createdAt))
          expect([uniqueKeys, one.isLate || other.isLate]).toEqual([false, true]);
    // Each run had its environment until its end, or until its cancellation was requested.
    for (const run of runs) {
      expect(run.environment?.key, 'the environment of a run').toBe(key);
      const { deletedAt = 0 } = run.environment ?? {};
      expect(hasEnded(run, deletedAt)).toBe(true);
    }
    // Nothing is left, but for a run that was not to be cancelled, or could not be. The output names its environment.
    const knownAt = given.refuses ? stoppedAt : (steps.at(-1) as Ended).endedAt;
    const left = own.filter((one) => isAlive(one, now));
    const isKept = runs.some(
      (run) => left.includes(run.environment as Environment) && !hasEnded(run, knownAt),
    );
    const kept = isKept ? left : [];
    const going = runs.filter((run) => !hasEnded(run, now));
    expect(going.every(({ environment }) => environment !== undefined && kept.includes(environment))).toBe(
      true,
    );
    if (kept.length > 0) {
      expect(given.refuses || !given.cancelOnTimeout).toBe(true);
      expect(steps.map(({ err }) => err).join('')).toContain(`environment ${key} was not deleted: `);
    }
    // An environment that the service creates after the last look is left: the post step looks for 30 s, a re-run while it needs it.
    const lists = requests.filter(({ method, path }) => method === 'GET' && /environments(\?|$)/.test(path));
    const lookedAt = Math.max(lists.at(-1)?.at ?? 0, after === 're-run' ? 0 : stoppedAt + postMs + commitMs);
    for (const one of left.filter((one) => !kept.includes(one))) {
      expect([one.by, one.isLate]).toEqual([first.id, true]);
      expect(one.createdAt).toBeGreaterThan(lookedAt - given.listAgeMs);
    }
  };
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const opened = open(given);
      await opened.on.during(play(given, opened));
    }),
    { numRuns },
  );
});
