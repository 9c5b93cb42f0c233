import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredGate } from '../../src/commands/gate/store.ts';
import { exitCodes } from '../../src/exit.ts';
import type { NamedGateReport } from '../../src/gate/result-types.ts';
import { type Command, type Held, hold, type Rules } from './caller.ts';
import { machine } from './machine.ts';
import { type Course, type Fate, modelService, type Service, type ServiceRun } from './service.ts';

/** With 2000 and more, a search for rare cases. */
const numRuns = Number(process.env.RUNGATE_SLICE_CASES ?? 40);

const ends: Course['end'][] = ['passed', 'passed', 'failed', 'failed', 'blocked', 'cancelled', 'never'];
const course = fc.record({ end: fc.constantFrom(...ends), seconds: fc.integer({ min: 1, max: 90 }) });
const kill = fc.oneof(
  { weight: 2, arbitrary: fc.record({ step: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ afterMs: fc.integer({ min: 0, max: 40_000 }) }) },
);
const signal = fc.record({
  afterMs: fc.integer({ min: 0, max: 30_000 }),
  name: fc.constantFrom('SIGTERM' as const, 'SIGTERM' as const, 'SIGHUP' as const, 'SIGINT' as const),
});
const command: fc.Arbitrary<Command> = fc.record({
  repeats: fc.boolean(),
  pause: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
  edit: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 4 }),
  kill: fc.option(kill, { freq: 3 }),
  signal: fc.option(signal, { freq: 3 }),
});
const fates = (...values: Fate[]) => fc.array(fc.constantFrom('ok' as const, ...values), { maxLength: 4 });
const rarely = (value: boolean) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(!value) }, fc.constant(value));

const world = fc.record({
  several: rarely(true),
  courses: fc.array(course, { minLength: 3, maxLength: 3 }),
  retries: fc.integer({ min: 0, max: 2 }),
  slice: fc.integer({ min: 5, max: 60 }),
  timeout: fc.constantFrom(120, 240),
  commands: fc.array(command, { minLength: 1, maxLength: 6 }),
  readOnlyAt: fc.oneof(
    { weight: 4, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    fc.integer({ min: 0, max: 120_000 }),
  ),
  saysReplayed: fc.boolean(),
  creates: fates('lost', 'late-503', 'dropped', '503', '429'),
  reads: fates('lost', '503', '429'),
  latencies: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

const needs = { web: [], api: ['web'], docs: [] };
const junit = '/work/junit.xml';

function open(given: World, { honoursKeys = true, alone = true } = {}) {
  const { courses, several, slice, timeout, retries, readOnlyAt } = given;
  const service = modelService({
    ...{ ...given, honoursKeys },
    courses: { web: courses, api: courses.slice(1), docs: courses.slice(2) },
  });
  const on = machine(service, given);
  if (several) {
    const gates = Object.entries(needs).map(([name, before]) => [name, { process: name, needs: before }]);
    on.files['/work/.rungate.json'] = JSON.stringify({ project: 'shop', gates: Object.fromEntries(gates) });
  }
  const what = several ? [] : ['--project', 'shop', '--process', 'web'];
  const limits = ['--slice', `${slice}s`, '--timeout', `${timeout}s`, '--retries', String(retries)];
  const rules: Rules = {
    first: ['gate', ...what, ...limits, '--junit', junit, '--json'],
    ...{ sliceMs: slice * 1000, timeoutMs: timeout * 1000, readOnlyAt, junit, several, alone },
  };
  return { service, on, rules };
}

const gatesIn = ({ report }: Held): Pick<NamedGateReport, 'name' | 'result' | 'runs'>[] =>
  'gates' in report ? report.gates : [{ name: 'web', ...report }];
const idsIn = (gate: Pick<NamedGateReport, 'runs'>) => gate.runs.flatMap(({ runId }) => runId ?? []);

/** The exit code of a gate with these runs. */
function codeOf(runs: readonly ServiceRun[], at: number): number {
  const ended = runs.filter(({ endsAt }) => endsAt <= at).map(({ end }) => end);
  if (ended.length === runs.length && ended.at(-1) === 'passed') return exitCodes.ok;
  const worst = (['failed', 'blocked', 'cancelled'] as const).find((end) => ended.includes(end));
  return worst === undefined ? exitCodes.timeout : exitCodes[worst];
}

/**
 * Returns whether no slice may have looked for this run: the slice that created it was killed before it had saved the id, and the
 * next one would have repeated its request less than an interval before the timeout. Such a gate never passes.
 */
function isTooLateToFind(run: ServiceRun, { code, ended, commands }: Held, { timeout }: World): boolean {
  const creator = commands.find(({ id }) => id === run.by);
  const isSaved = creator?.state?.includes(run.id) === true;
  const isLate = ended.endedAt > (timeout - 12) * 1000;
  return creator?.code === null && !isSaved && isLate && code !== exitCodes.ok;
}

/** Checks the end of a gate: its runs, and the exit code that follows from them. */
function checkEnd(held: Held, service: Service, given: World) {
  const { retries, timeout, several } = given;
  const { code, ended } = held;
  const codes: number[] = [];
  for (const gate of gatesIn(held)) {
    const runs = service.runs.filter((run) => run.gate === gate.name);
    expect(runs.length).toBeLessThanOrEqual(1 + retries);
    const reported = idsIn(gate);
    const last = runs.at(-1);
    const isLost = (run: ServiceRun) => isTooLateToFind(run, held, given);
    if (last !== undefined && !reported.includes(last.id) && isLost(last)) runs.pop();
    expect(reported, `the runs of ${gate.name}`).toEqual(runs.map(({ id }) => id));
    if (gate.result !== 'skipped') codes.push(codeOf(runs, ended.endedAt));
  }
  if (code === exitCodes.SIGINT) {
    for (const run of service.runs) expect(run.endsAt).toBeLessThanOrEqual(ended.endedAt);
    return;
  }
  const hasPassed = codes.every((one) => one === exitCodes.ok);
  if (code === exitCodes.ok) expect(hasPassed).toBe(true);
  if (several) return;
  const last = service.runs.at(-1);
  // It ended after the last read before the timeout.
  if (last !== undefined && last.endsAt > Math.min(timeout * 1000, ended.startedAt) - 15_000)
    codes.push(codeOf(service.runs, last.endsAt - 1));
  // The last read before the timeout failed.
  const read = service.requests.findLast(({ method }) => method === 'GET');
  if (read?.fate !== 'ok') codes.push(exitCodes.service, exitCodes.unreachable);
  expect(codes).toContain(code);
}

/** The first slice is killed before it can save that its gate has begun. */
const killedAtOnce: World = {
  several: false,
  courses: [
    { end: 'failed', seconds: 1 },
    { end: 'passed', seconds: 25 },
    { end: 'passed', seconds: 1 },
  ],
  ...{ retries: 1, slice: 30, timeout: 120 },
  commands: [
    { repeats: false, pause: 0, edit: null, kill: { step: 8 }, signal: null },
    { repeats: false, pause: 52, edit: null, kill: { step: 20 }, signal: null },
    { repeats: false, pause: 33, edit: null, kill: { step: 21 }, signal: null },
  ],
  ...{
    readOnlyAt: Number.POSITIVE_INFINITY,
    saysReplayed: false,
    creates: ['ok', '429'],
    reads: [],
    latencies: [850],
  },
};

test('over random kills, slices and ends: no second run, no lost failure, and no 0 without a passed run', async () => {
  const play = async (given: World, { service, on, rules }: ReturnType<typeof open>) => {
    const held = await hold(on, service, rules, given.commands);
    if (held === null) return;
    checkEnd(held, service, given);
    // The same command looks again for a run that could not be observed.
    const isUnobserved = gatesIn(held).some(({ runs }) =>
      runs.some(({ verdict }) => verdict === 'unobserved'),
    );
    if (held.ended.endedAt >= given.readOnlyAt || isUnobserved) return;
    // The next command begins another gate.
    const { gates } = JSON.parse(on.state() ?? '{}') as { gates: Record<string, StoredGate> };
    const left = Object.values(gates).flatMap(({ reported }) => reported ?? ['not reported']);
    expect(left).not.toContain('not reported');
    const goesOn = (id: string | null) =>
      service.runs.some((run) => id === null || (run.id === id && run.endsAt > on.now()));
    const before = service.runs.length;
    service.recover();
    const { code } = await on.launch({ argv: rules.first });
    if (left.some(goesOn)) expect([code, service.runs.length]).toEqual([exitCodes.usage, before]);
    else expect(service.runs.length).toBeGreaterThan(before);
  };
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const opened = open(given);
      await opened.on.during(play(given, opened));
    }),
    { numRuns, examples: [[killedAtOnce]] },
  );
});
