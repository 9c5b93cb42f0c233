import { lastReadMs, stopBudgetMs } from '../../../src/gate/limits.ts';
import type { End, GateState, PlanState, RunState } from '../../../src/gate/state.ts';
import { createGraceMs } from '../../../src/gate/steps.ts';
import type { Machine, Mode, World } from './world.ts';

/** A world, and the one after a step. */
interface Change {
  from: World;
  to: World;
  mode: Mode;
  machine: Machine;
}

interface Ended {
  name: string;
  gate: GateState;
  end: End;
}

/** The gates that this step has ended. */
const ended = ({ from, to }: Change): Ended[] =>
  Object.entries(to.plan?.gates ?? {}).flatMap(([name, gate]) =>
    gate.end !== null && ((from.plan ?? from.disk)?.gates[name]?.end ?? null) === null
      ? [{ name, gate, end: gate.end }]
      : [],
  );

const isPass = ({ verdict }: End) => verdict === 'passed' || verdict === 'flaky';
const passes = (change: Change) => ended(change).filter(({ end }) => end.action !== 'fail' && isPass(end));
const runOf = ({ to }: Change, { gate }: Ended) => to.runs.find(({ id }) => id === gate.run?.id);
const gatesOf = ({ to }: Change) => Object.values(to.plan?.gates ?? {});
const isSeen = ({ to }: Change, id: string | undefined) => to.seenLive.includes(id ?? '');

/** The requests that create runs and that this step has sent. */
const sent = ({ from, to }: Change) =>
  to.flight.flatMap(({ effect }) =>
    effect.type === 'create' && !from.flight.some((one) => one.effect.id === effect.id) ? [effect] : [],
  );

/** The most runs that the runs of a job may create: the links of the chain, the random key, and the retries after it. */
function mostRuns({ attempts, counts, random, rules, gates = 1 }: Mode): number {
  const runs = 1 + (rules?.retries ?? 0);
  if (random === true) return gates * runs;
  const of = (attempt: number) => (counts === false ? 4 : attempt * runs + 1) + runs;
  return gates * Array.from({ length: attempts }, (_, index) => of(index + 1)).reduce((a, b) => a + b, 0);
}

/** The user names the key or the run, and gets that run, ended or not. */
const isGiven = ({ mode }: Change) => mode.given === true || mode.existing === true;

/** Gates that end with a run that they have only started. */
const starts = (change: Change) =>
  ended(change).flatMap(({ gate: { run, key, rules }, end }) =>
    !rules.waits && end.verdict === null && end.by === null && run !== null && key !== null
      ? [{ run, key }]
      : [],
  );

/** The environment could not be deleted, or no answer has shown the end of a run in it. */
const isKept = ({ gates, environments: { env } }: PlanState, { runs, unsure }: World): boolean => {
  const mayRun = ({ run }: GateState) =>
    run === null ? runs.length > 0 || unsure : run.cancel !== 'accepted' && run.outcome?.ended !== true;
  return env?.step === 'kept' && (env.error !== null || Object.values(gates).some(mayRun));
};

/** Three reads did not show whether the run has ended. */
const isUnclear = ({ reads, unknown, missingSince }: RunState) =>
  reads >= 3 && (unknown || missingSince !== null);

/** The things that must never happen, each with a function that says whether a step does it. */
export const invariants: Readonly<Record<string, (change: Change) => boolean>> = {
  'two runs of one gate in progress': ({ to, mode }) =>
    mode.keys !== 'ignored' &&
    mode.keys !== 'forgotten' &&
    ['a', 'b'].some(
      (name) => to.runs.filter((run) => run.gate === name && run.state === 'running').length > 1,
    ),
  'exit 0 for a run that has not passed': (change) =>
    passes(change).some((one) => runOf(change, one)?.state !== 'passed'),
  'exit 0 without a verdict that the policy lets pass': (change) =>
    ended(change).some(
      ({ gate, end }) =>
        end.action !== 'fail' &&
        !isPass(end) &&
        end.verdict !== 'cancelled' &&
        (gate.rules.waits || gate.run === null || end.verdict !== null),
    ),
  'a start names a run that had ended unseen, under a key that others may have used': (change) =>
    !isGiven(change) &&
    starts(change).some(({ run, key }) => {
      const isCertain = run.replayed === false || (key.trust === 'random' && run.replayed !== true);
      const mayFail = key.trust === 'job' && ['failed', 'unobserved'].includes(run.outcome?.verdict ?? '');
      return !isCertain && !isSeen(change, run.id) && !mayFail && !isUnclear(run);
    }),
  'a start ends without a run, a stop or an error': (change) =>
    ended(change).some(
      ({ gate: { rules, run, error }, end }) =>
        !rules.waits && (run === null || end.verdict !== null) && end.by === null && error === null,
    ),
  'a start that was stopped ends as if it was not': (change) =>
    change.to.plan?.stop != null &&
    ended(change).some(({ gate, end }) => !gate.rules.waits && end.by === null && end.verdict === null),
  'a start waits longer than a minute for a read': ({ to, machine }) =>
    Object.values(to.plan?.gates ?? {}).some(
      ({ rules, run, end }) =>
        !rules.waits &&
        run !== null &&
        end === null &&
        machine
          .todo(to.plan as PlanState)
          .some((effect) => effect.type === 'timer' && effect.at > Math.max(to.now, run.due) + 60_000),
    ),
  'a run is cancelled that the gate only starts': ({ to, machine }) =>
    to.plan !== null &&
    Object.values(to.plan.gates).some(({ rules }) => !rules.waits) &&
    machine.todo(to.plan).some(({ type }) => type === 'cancel'),
  'exit 0 by a run of an earlier job that this one never saw in progress': (change) =>
    !isGiven(change) &&
    passes(change).some((one) => {
      const run = runOf(change, one);
      return run?.by !== change.to.attempt && !isSeen(change, run?.id);
    }),
  'exit 0 by a run that had ended before it was seen, under a key that others may have used': (change) =>
    !isGiven(change) &&
    passes(change).some(({ gate: { run, key } }) => {
      const isCertain = run?.replayed === false || (key?.trust === 'random' && run?.replayed !== true);
      return !isCertain && !isSeen(change, run?.id);
    }),
  'a failure by a run of an earlier job that this one never saw in progress': (change) =>
    !isGiven(change) &&
    ended(change).some((one) => {
      const run = runOf(change, one);
      return (
        run !== undefined &&
        one.end.verdict === 'failed' &&
        !one.gate.past.some(({ mine }) => mine) &&
        run.by !== change.to.attempt &&
        !isSeen(change, run.id)
      );
    }),
  'a pass without flaky after a failed run of the gate': (change) =>
    ended(change).some(({ gate, end }) => end.verdict === 'passed' && gate.past.some(({ mine }) => mine)),
  'exit 0 for another build, or one that was not confirmed': (change) =>
    passes(change).some(({ gate }) => {
      const page = change.to.plan?.page ?? null;
      return page !== null && (change.to.sawOther || gate.pageReads === 0);
    }),
  'another build that was seen is not saved': ({ to }) =>
    to.sawOther && to.disk !== null && to.disk.page?.other !== true,
  'a run is created after the end was reported': (change) => change.from.reported && sent(change).length > 0,
  'a run is created before the state is saved': (change) =>
    sent(change).some(
      ({ gate, key }) =>
        change.to.disk?.gates[gate]?.key?.key !== key || change.to.disk.gates[gate]?.key?.sentAt == null,
    ),
  'a run is created before the build, the environment or the needed gates': (change) =>
    sent(change).some(({ gate }) => {
      const { plan, environment } = change.from;
      const state = plan?.gates[gate];
      if (plan == null || state === undefined) return true;
      const isNew = state.key?.sentAt === null;
      const isEarly = isNew && plan.page !== null && plan.page.agreed < 3;
      const isUnmet = state.needs.some((need) => (plan.gates[need]?.end?.action ?? 'fail') === 'fail');
      return isEarly || isUnmet || (state.environment !== null && !environment);
    }),
  'a new run after a stop': (change) =>
    sent(change).some(({ gate }) => {
      const { plan } = change.from;
      return (plan?.stop != null || plan?.halt != null) && plan.gates[gate]?.key?.sentAt === null;
    }),
  'more runs than documented': ({ to, mode }) =>
    mode.keys !== 'ignored' && mode.keys !== 'forgotten' && to.runs.length > mostRuns(mode),
  'an environment is deleted while a run goes on in it': ({ from, to }) =>
    from.environment && !to.environment && to.runs.some(({ state }) => state === 'running'),
  'an environment is left behind': ({ from, to }) =>
    from.plan !== null &&
    to.plan === null &&
    to.exited &&
    to.environment &&
    from.flight.length === 0 &&
    Object.values(from.plan.gates).every(({ end }) => end !== null) &&
    !isKept(from.plan, to),
  'work that has changed nothing is done again at once': ({ from, to, machine }) => {
    if (to.plan === null || JSON.stringify(from.plan) !== JSON.stringify(to.plan)) return false;
    const isOn = (world: World, id: string) => world.flight.some(({ effect }) => effect.id === id);
    // A read that its deadline cuts ends with it.
    const done = from.flight.filter(
      ({ effect, result }) => result !== null && effect.type !== 'read' && !isOn(to, effect.id),
    );
    const due = machine.todo(to.plan).filter((effect) => !('at' in effect) || effect.at <= to.now);
    return done.some(({ effect }) => due.some(({ id }) => id === effect.id));
  },
  'a later stop moves the end of an earlier one, or is not heard in a slice that ends': ({ from, to }) => {
    if (from.left.stops.length === to.left.stops.length || to.plan === null) return false;
    const [before, after] = [from.plan?.stop, to.plan.stop];
    const by = from.left.stops.find((_, index) => from.left.stops[index] !== to.left.stops[index]);
    if (before != null && before.by !== 'slice') return after?.at !== before.at || after.by !== before.by;
    return after?.by !== by;
  },
  'an open gate without an effect, or without a timer': (change) => {
    const { plan, now } = change.to;
    if (plan === null || plan.stop?.by === 'slice') return false;
    if (gatesOf(change).every(({ end }) => end !== null)) return false;
    const work = change.machine.todo(plan);
    // The wait for a deployment has its own limit.
    if (work.some(({ type }) => type === 'reach')) return false;
    const timer = work.find((effect) => effect.type === 'timer');
    return timer === undefined || timer.at <= now;
  },
  'a gate that goes on after its deadline, or after a stop': (change) => {
    const { plan, now } = change.to;
    if (plan === null || plan.stop?.by === 'slice') return false;
    const stopAt = plan.stop?.at ?? plan.halt?.at;
    return gatesOf(change).some(({ end, deadline: at, run }) => {
      const deadline = run?.readBy ?? at;
      if (end !== null) return false;
      if (stopAt !== undefined) return now > stopAt + stopBudgetMs;
      const isWaiting = run === null || run.outcome === null;
      return (
        isWaiting &&
        deadline !== null &&
        now > deadline + Math.max(createGraceMs, lastReadMs) &&
        !isAsleep(change)
      );
    });
  },
  'a transient fault ends the gate': (change) =>
    ended(change).some(
      ({ gate, end }) =>
        end.verdict === 'unobserved' &&
        !change.to.final &&
        gate.run !== null &&
        gate.run.outcome?.limit !== true &&
        change.mode.page !== true,
    ),
  'a timeout is called unobserved': (change) =>
    ended(change).some(
      ({ gate, end }) =>
        end.verdict === 'unobserved' &&
        gate.run !== null &&
        gate.run.seen !== null &&
        gate.run.outcome?.limit === true &&
        gate.rules.waits &&
        change.to.failed === null &&
        change.mode.page !== true,
    ),
  'a machine that slept judges without another read': (change) =>
    change.to.slept && ended(change).some(({ gate }) => gate.run?.outcome?.limit === true),
  'a gate is skipped although the gates that it needs may pass': ({ to }) =>
    Object.values(to.plan?.gates ?? {}).some(
      ({ end }) => end?.skippedFor != null && to.plan?.gates[end.skippedFor]?.end?.action !== 'fail',
    ),
  'a stop leaves a run that it had time to find': (change) =>
    ended(change).some(
      ({ gate: { run, key }, end }) =>
        end.by !== null &&
        run === null &&
        change.to.now < stopAt(change) + stopBudgetMs &&
        change.to.flight.some(({ effect }) => effect.type === 'create' && effect.key === key?.key),
    ),
  'a stop leaves a run that it did not try to cancel': (change) =>
    ended(change).some(
      ({ gate: { run }, end }) =>
        end.by !== null &&
        run !== null &&
        run.cancel === 'wanted' &&
        !change.from.flight.some(({ effect }) => effect.type === 'cancel'),
    ),
  'a request for a run is aborted although a stop has time for it': ({ from, to }) => {
    if (to.plan === null || to.plan !== from.plan) return false;
    const { stop, halt, gates } = to.plan;
    const at = (stop ?? halt)?.at;
    if (at === undefined || stop?.by === 'slice' || to.now >= at + stopBudgetMs) return false;
    return from.flight.some(
      ({ effect }) =>
        effect.type === 'create' &&
        !to.flight.some((one) => one.effect === effect || one.effect.id === effect.id) &&
        gates[effect.gate]?.end === null,
    );
  },
  'a run whose read failed, or requested a wait, is read too soon': ({ from, to }) => {
    const { failed } = from;
    if (failed === null || to.now >= failed.at + Math.max(1_000, failed.waitMs)) return false;
    const isNew = (id: string) => !from.flight.some(({ effect }) => effect.id === id);
    return to.flight.some(
      ({ effect }) =>
        effect.type === 'read' &&
        effect.run === failed.run &&
        isNew(effect.id) &&
        to.plan?.gates[effect.gate]?.lastReadBy === null,
    );
  },
  'a run does not begin with its request': ({ from, to }) =>
    Object.entries(to.plan?.gates ?? {}).some(([name, { run }]) => {
      const before = from.plan?.gates[name];
      return run !== null && before?.run === null && run.since !== before.key?.sentAt;
    }),
  'a version page that could not be read confirms a build': ({ from, to }) =>
    from.flight.some(
      ({ effect, result }) =>
        effect.type === 'page' &&
        (result?.[0] as { build?: unknown } | undefined)?.build === null &&
        !to.flight.some((one) => one.effect === effect) &&
        Object.entries(to.plan?.gates ?? {}).some(
          ([name, { pageReads }]) => pageReads > (from.plan?.gates[name]?.pageReads ?? 0),
        ),
    ),
  'two gates have one run': ({ to }) => {
    const ids = Object.values(to.plan?.gates ?? {}).map(
      ({ run, past }) => new Set([...(run === null ? [] : [run.id]), ...past.map((one) => one.run.id)]),
    );
    return ids.length > 1 && [...(ids[0] as Set<string>)].some((id) => ids[1]?.has(id));
  },
  'a run is passed over that the service has called new': ({ to }) =>
    Object.values(to.plan?.gates ?? {}).some(({ past }) =>
      past.some(({ run, mine }) => !mine && to.fresh.includes(run.id)),
    ),
  'a stop before a run ends as something else': (change) =>
    change.from.plan?.stop != null &&
    change.from.plan.stop.by !== 'slice' &&
    ended(change).some(
      ({ gate: { run }, end }) => run === null && end.by === null && end.skippedFor === null,
    ),
  'the version page confirms a run that goes on': (change) =>
    gatesOf(change).some(({ run, pageReads }) => pageReads > 0 && run?.outcome == null),
  'a process ends with an open gate, and without the end of a slice': ({ from, to }) =>
    from.plan !== null &&
    to.plan === null &&
    to.exited &&
    from.plan.stop?.by !== 'slice' &&
    Object.values(from.plan.gates).some(({ end }) => end === null),
  'the end of a slice ends a gate': (change) => ended(change).some(({ end }) => end.by === 'slice'),
  'work for a gate that goes on, after a stop': ({ to: { plan }, machine }) =>
    plan?.stop != null &&
    machine.todo(plan).some(({ type }) => ['reach', 'prepare', 'turn', 'read', 'page'].includes(type)),
};

const stopAt = ({ to: { plan } }: Change) => (plan?.stop ?? plan?.halt)?.at ?? 0;

/** The machine slept, and its last read is granted. */
const isAsleep = ({ to }: Change) =>
  Object.values(to.plan?.gates ?? {}).some(({ lastReadBy }) => lastReadBy !== null && to.now <= lastReadBy);

/** The things that must happen at least once in all modes together. */
export const sometimes: readonly string[] = [
  ...[
    'passed',
    'flaky',
    'failed',
    'timeout',
    'unobserved',
    'mismatch',
    'cancelled',
    'SIGINT',
    'fail-fast',
    'skipped',
    'started',
  ],
  ...['exit 0', 'exit 1', 'exit 3', 'exit 5', 'exit 7', 'exit 8', 'exit 130'],
];
