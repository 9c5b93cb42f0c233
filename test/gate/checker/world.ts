import type { decide as Decide, Event } from '../../../src/gate/decide.ts';
import { newKey } from '../../../src/gate/keys.ts';
import { newGate } from '../../../src/gate/plan/fresh.ts';
import { newRun, type ReadFailure, type Reading } from '../../../src/gate/reads.ts';
import { outlivesAbort } from '../../../src/gate/runner.ts';
import type {
  durable as Durable,
  ErrorData,
  GateRules,
  GateState,
  PlanState,
} from '../../../src/gate/state.ts';
import { type Effect, isOver, type todo as Todo } from '../../../src/gate/todo.ts';
import { gateRulesOf } from '../rules.ts';

/** The functions that are explored: those of the source, or a mutant's. */
export interface Machine {
  decide: typeof Decide;
  todo: typeof Todo;
  durable: typeof Durable;
}

/** The things that can happen in a world, and how often. */
export interface Mode {
  attempts: number;
  rules?: Partial<GateRules>;
  /** Whether the service reports replays, ignores keys, forgets them once a run has ended, or returns one run for every key. */
  keys: 'reported' | 'silent' | 'ignored' | 'forgotten' | 'one-run';
  /** Whether the CI system counts re-runs. */
  counts?: boolean;
  /** Whether a re-run finds the disk of the job before it. */
  sameDisk?: boolean;
  page?: boolean;
  /** Whether the build was deployed before the first step. */
  deployed?: boolean;
  environment?: boolean;
  gates?: number;
  needs?: boolean;
  failFast?: boolean;
  /** Whether the first key is random, as outside CI. */
  random?: boolean;
  /** Whether a run of an earlier job that the service keeps has passed. */
  old?: boolean;
  given?: boolean;
  /** Whether another command has started the run. */
  existing?: boolean;
  /** Whether a hub grants requests that create runs, and how often it wakes the gate. */
  hub?: boolean;
  wakes?: number;
  kills?: number;
  stops?: readonly ('SIGINT' | 'SIGTERM' | 'slice')[];
  jumps?: number;
  /** Whether a command goes on with gates that have ended, and whether their end is reported before. */
  again?: boolean;
  reports?: boolean;
  losses?: number;
  /** Whether reads fail, and how. */
  failures?: number;
  depth: number;
}

interface ServiceRun {
  id: string;
  key: string;
  state: 'running' | 'passed' | 'failed' | 'cancelled';
  /** The job whose request created it. */
  by: number;
  gate: string;
}

/** An effect under way. `result`: what it will report; null while the request is on its way to the service. */
interface Flight {
  effect: Effect;
  result: readonly Event[] | null;
}

export interface World {
  now: number;
  plan: PlanState | null;
  disk: PlanState | null;
  attempt: number;
  runs: ServiceRun[];
  flight: Flight[];
  /** Requests of killed processes that may still arrive. */
  network: { key: string; gate: string; by: number }[];
  /** Runs that this job has seen in progress. */
  seenLive: string[];
  left: { kills: number; stops: string[]; jumps: number; losses: number; failures: number; wakes: number };
  /** Whether the environment exists. */
  environment: boolean;
  build: 'expected' | 'other';
  /** The last answer to a read, if it was a failure: of which run, its time, and the wait that it asks for. */
  failed: { run: string; at: number; waitMs: number } | null;
  /** The last process ended by itself. */
  exited: boolean;
  /** A request that creates a run was aborted, or its process was killed, before its end was known. */
  unsure: boolean;
  /** Runs that the service has called new to this job. */
  fresh: string[];
  /** A process has reported the end of all gates. */
  reported: boolean;
  /** A process has read another build while a run went on. */
  sawOther: boolean;
  /** The machine has slept during a wait, and nothing was read since. */
  slept: boolean;
  /** A read did not find the run. */
  missed: boolean;
  /** An answer has reached the process after which no later read can be better. */
  final: boolean;
}

export const interval = 10_000;
export const timeout = 30_000;
/** Longer than the time for the first clear read. */
const longWait = 70_000;

const usual = gateRulesOf({ intervalMs: interval, timeoutMs: timeout, cancelOnTimeout: false });

function freshGate(mode: Mode, attempt: number, name: string): GateState {
  const counts = mode.counts !== false;
  const trust =
    mode.given === true
      ? 'given'
      : mode.random === true
        ? 'random'
        : counts && attempt === 1
          ? 'job'
          : 'shared';
  const gate = newGate({
    needs: mode.needs === true && name === 'b' ? ['a'] : [],
    advisory: false,
    rules: { ...usual, ...mode.rules },
    attempt: counts ? attempt : null,
    reached: mode.environment !== true,
    key: mode.existing === true ? null : newKey(`key-${name}`, trust),
    spare: `spare-${name}-${attempt}`,
    environment: mode.environment === true ? 'env' : null,
  });
  return mode.existing === true ? { ...gate, run: newRun('R-old', { since: 0, due: 0 }) } : gate;
}

export function freshPlan(mode: Mode, attempt: number): PlanState {
  const names = ['a', 'b'].slice(0, mode.gates ?? 1);
  return {
    version: 1,
    failFast: mode.failFast === true,
    gates: Object.fromEntries(names.map((name) => [name, freshGate(mode, attempt, name)])),
    page:
      mode.page === true
        ? {
            agreed: mode.deployed === true ? 3 : 0,
            other: false,
            until: null,
            due: 0,
            error: null,
            timeoutMs: interval,
          }
        : null,
    environments: mode.environment === true ? { env: { step: 'wanted', error: null } } : {},
    hub: mode.hub === true,
    sliced: false,
    reported: false,
    stop: null,
    halt: null,
  };
}

export const start = (mode: Mode): World => ({
  now: 0,
  plan: null,
  disk: null,
  attempt: 0,
  runs:
    mode.old === true || mode.existing === true
      ? [{ id: 'R-old', key: 'old', state: mode.old === true ? 'passed' : 'running', by: 0, gate: 'a' }]
      : [],
  flight: [],
  network: [],
  seenLive: [],
  left: {
    kills: mode.kills ?? 0,
    stops: [...(mode.stops ?? [])],
    jumps: mode.jumps ?? 0,
    losses: mode.losses ?? 0,
    failures: mode.failures ?? 0,
    wakes: mode.wakes ?? 0,
  },
  environment: false,
  build: mode.page === true && mode.deployed !== true ? 'other' : 'expected',
  failed: null,
  exited: false,
  unsure: false,
  fresh: [],
  reported: false,
  sawOther: false,
  slept: false,
  missed: false,
  final: false,
});

export type Step = readonly [words: string, world: World];

/** Returns a world that can be changed. A plan never is: the machine returns a new one. */
const copy = (world: World): World => ({
  ...world,
  runs: world.runs.map((run) => ({ ...run })),
  flight: world.flight.map((one) => ({ ...one })),
  network: [...world.network],
  left: { ...world.left, stops: [...world.left.stops] },
});

/** Returns everything that can happen next. */
export function stepsOf(world: World, mode: Mode, machine: Machine): Step[] {
  const out: Step[] = [...serviceSteps(world, mode)];
  if (world.plan === null) return [...out, ...startSteps(world, mode, machine)];
  out.push(...processSteps(world, mode, machine, world.plan));
  return out;
}

function serviceSteps(world: World, mode: Mode): Step[] {
  const out: Step[] = [];
  for (const [index, run] of world.runs.entries()) {
    if (run.state !== 'running') continue;
    for (const state of ['passed', 'failed'] as const) {
      const next = copy(world);
      (next.runs[index] as ServiceRun).state = state;
      out.push([`${run.id} ${state}`, next]);
    }
  }
  for (const [index, request] of world.network.entries()) {
    const next = copy(world);
    next.network.splice(index, 1);
    arrive(next, mode, request);
    out.push([`the request of job ${request.by} arrives late`, next]);
  }
  if (mode.page === true && (world.build === 'expected') === world.runs.length > 0) {
    const next = copy(world);
    next.build = world.build === 'expected' ? 'other' : 'expected';
    out.push([`the ${next.build} build is deployed`, next]);
  }
  return out;
}

/** The service acts on a request that creates a run. */
function arrive(world: World, mode: Mode, { key, gate, by }: World['network'][number]): [string, boolean] {
  const known = world.runs.find((run) => {
    if (mode.keys === 'ignored') return false;
    if (mode.keys === 'one-run') return true;
    return run.key === key && (mode.keys !== 'forgotten' || run.state === 'running');
  });
  if (known !== undefined) return [known.id, true];
  const id = `R${world.runs.length}`;
  world.runs.push({ id, key, state: 'running', by, gate });
  return [id, false];
}

function startSteps(world: World, mode: Mode, machine: Machine): Step[] {
  const out: Step[] = [];
  // Another process reads at once.
  const failed = world.failed && { run: world.failed.run, at: world.now - 1_000, waitMs: 0 };
  if (world.left.jumps > 0 && world.attempt > 0) {
    const next = copy(world);
    next.left.jumps -= 1;
    next.now += 3_600_000;
    out.push(['an hour passes', next]);
  }
  const isOver =
    mode.again !== true &&
    world.exited &&
    Object.values(world.disk?.gates ?? {}).every(({ end }) => end !== null);
  if (world.disk !== null && !isOver && world.attempt > 0) {
    const next = { ...copy(world), failed };
    const attempt = mode.counts === false ? null : world.attempt;
    const resumed = { type: 'resumed', attempt, behindMs: 0, isReported: world.reported } as const;
    run(next, machine, next.disk as PlanState, resumed);
    out.push([`job ${world.attempt} goes on`, next]);
  }
  if (world.attempt < mode.attempts) {
    const next = { ...copy(world), failed };
    next.attempt += 1;
    next.seenLive = [];
    next.fresh = [];
    const attempt = mode.counts === false ? null : next.attempt;
    if (mode.sameDisk === true && world.disk !== null && !isOver)
      run(next, machine, next.disk as PlanState, { type: 'resumed', attempt, behindMs: 0 });
    else {
      next.disk = null;
      Object.assign(next, { sawOther: false, reported: false });
      run(next, machine, freshPlan(mode, next.attempt), { type: 'time' });
    }
    out.push([`job ${next.attempt} starts`, next]);
  }
  return out;
}

/** Applies an event in the process, and saves what must be saved. */
function run(world: World, { decide, durable }: Machine, plan: PlanState, event: Event): void {
  const isUnderWay = Object.values(plan.gates).some((gate) => gate.run !== null && gate.end === null);
  if (event.type === 'page' && event.build === 'other' && isUnderWay) world.sawOther = true;
  world.plan = decide(plan, event, world.now);
  if (world.disk === null || durable(world.plan) !== durable(world.disk)) world.disk = world.plan;
}

function processSteps(world: World, mode: Mode, machine: Machine, plan: PlanState): Step[] {
  const out: Step[] = [];
  const effects = machine.todo(plan);
  const isOn = ({ id }: Effect) => world.flight.some(({ effect }) => effect.id === id);
  // The request that creates an environment goes on, so that it can be deleted.
  const isGone = ({ id, type }: Effect) => type !== 'prepare' && !effects.some((effect) => effect.id === id);
  // The runner aborts what is gone before it starts anything, or waits.
  const isBehind = world.flight.some(({ effect }) => isGone(effect));
  const after = (
    words: string,
    events: readonly Event[],
    change: (next: World) => void = () => {},
    work?: Effect,
  ) => {
    const next = copy(world);
    change(next);
    for (const event of events) {
      const now = next.plan as PlanState;
      const isWanted = work === undefined || machine.todo(now).some(({ id }) => id === work.id);
      if (isWanted || outlivesAbort(event)) run(next, machine, now, event);
    }
    out.push([words, next]);
  };
  const waiting = effects.filter((effect) => !isOn(effect));
  if (world.flight.length === 0 && isOver(plan)) {
    const next = copy(world);
    next.disk = next.plan;
    next.plan = null;
    next.exited = true;
    // A run that could not be observed has no end that is reported.
    const isEnd = ({ end }: GateState) => end !== null && end.verdict !== 'unobserved';
    next.reported = mode.reports === true && Object.values(plan.gates).every(isEnd);
    out.push(['exits', next]);
    return out;
  }
  for (const effect of isBehind ? [] : waiting) {
    if ('at' in effect && effect.at > world.now) continue;
    if (effect.type !== 'timer') out.push(...startEffect(world, mode, machine, plan, effect));
  }
  for (const [index, { effect, result }] of world.flight.entries()) {
    const remove = (next: World) => void next.flight.splice(index, 1);
    if (isGone(effect)) {
      const next = copy(world);
      remove(next);
      next.unsure ||= effect.type === 'create';
      if (effect.type === 'create' && result === null)
        next.network.push({ key: effect.key, gate: effect.gate, by: next.attempt });
      out.push([`${effect.id} is aborted`, next]);
    }
    // The response may come before the abort.
    if (result !== null && (!isGone(effect) || result.some(outlivesAbort)))
      after(
        `response to ${effect.id}: ${result.map(wordsOf).join(', ')}`,
        result,
        (next) => {
          remove(next);
          for (const event of result) observe(next, event, mode);
        },
        effect,
      );
  }
  for (const [index, { effect, result }] of world.flight.entries()) {
    const isWanted = effects.some(({ id }) => id === effect.id);
    if (result === null && effect.type === 'create' && isWanted)
      out.push(...createSteps(world, mode, effect, index, machine));
    if (result === null && effect.type === 'prepare') out.push(...prepareSteps(world, effect, index));
  }
  const times = effects.flatMap((effect) => ('at' in effect && effect.at > world.now ? [effect.at] : []));
  const isReady = (effect: Effect) =>
    effect.type !== 'timer' && (!('at' in effect) || effect.at <= world.now);
  // The runner starts what it can before it waits.
  if (times.length > 0 && !isBehind && !waiting.some(isReady)) {
    const at = Math.min(...times);
    after(`${(at - world.now) / 1000} s pass`, [{ type: 'time' }], (next) => {
      next.now = at;
    });
  }
  for (const { id } of world.left.wakes > 0 ? world.runs : [])
    after(`the hub wakes ${id}`, [{ type: 'woken', run: id }], (next) => {
      next.left.wakes -= 1;
    });
  if (world.left.jumps > 0 && !isBehind && !waiting.some(isReady)) {
    const sleep = (next: World) => {
      next.left.jumps -= 1;
      next.now += 3_600_000;
      const isLate = ({ run: of, deadline }: GateState) =>
        of !== null && of.outcome === null && (of.readBy ?? deadline ?? 0) < next.now;
      next.slept = Object.values(plan.gates).some(isLate);
    };
    after('the machine sleeps for an hour', [{ type: 'time' }], sleep);
    for (const [index, { effect, result }] of world.flight.entries()) {
      // The time of a stop is up after an hour, and nothing is waited for before it is too late.
      if (result === null || plan.stop !== null || !effects.some(({ id }) => id === effect.id)) continue;
      if (result.some(({ type }) => type === 'too-late')) continue;
      after(`the machine sleeps for an hour, then the response to ${effect.id}`, result, (next) => {
        sleep(next);
        next.flight.splice(index, 1);
        for (const event of result) observe(next, event, mode);
      });
    }
  }
  for (const [index, by] of world.left.stops.entries())
    after(
      `stop by ${by}`,
      [{ type: 'stop', by: by as 'SIGINT' }],
      (next) => void next.left.stops.splice(index, 1),
    );
  if (world.left.kills > 0) {
    const next = copy(world);
    next.left.kills -= 1;
    next.unsure ||= next.flight.some(({ effect }) => effect.type === 'create');
    for (const { effect, result } of next.flight)
      if (effect.type === 'create' && result === null)
        next.network.push({ key: effect.key, gate: effect.gate, by: next.attempt });
    next.plan = null;
    next.exited = false;
    next.flight = [];
    out.push(['killed', next]);
  }
  return out;
}

const isFinal = (result: Event, { jumps = 0, existing }: Mode, { missed, now }: World) =>
  (result.type === 'read-failed' &&
    result.why === 'missing' &&
    (jumps > 0 || (missed && (existing === true || now > 60_000)))) ||
  (result.type === 'read-failed' && result.why.startsWith('foreign') && existing === true) ||
  (result.type === 'read-failed' && (result.why === 'final' || result.why === 'ended')) ||
  result.type === 'create-failed' ||
  (result.type === 'environment' && result.step === 'failed');

const wordsOf = (event: Event) =>
  event.type === 'read' ? event.reading.state : event.type === 'created' ? event.run : event.type;

/** The statuses that the service shows. */
const counts = { failed: 0, blocked: 0, appUrl: null };
export const running = {
  kind: 'running',
  known: true,
  state: 'in_progress',
  retryAfterSeconds: null,
  ...counts,
} as const;
export const ended = { kind: 'ended', state: 'completed', ...counts } as const;
const readings = {
  running,
  passed: ended,
  failed: { ...ended, failed: 1 },
  cancelled: { ...ended, state: 'cancelled' },
} as const;
export const pause = { retryAfterMs: null, random: 0 };
const ways: readonly ReadFailure[] = [
  'outage',
  'address',
  'missing',
  'final',
  'foreign',
  'foreign-404',
  'limit',
];
const failure: ErrorData = {
  code: 'http_error',
  message: 'the service failed',
  status: 503,
  method: null,
  path: null,
  details: null,
  hint: null,
  body: null,
  exitCode: 5,
};

/** Keeps what the invariants need of an event. */
function observe(world: World, event: Event, mode: Mode): void {
  if (event.type === 'read' && event.reading.kind === 'running' && event.reading.known)
    world.seenLive = [...new Set([...world.seenLive, event.run])];
  if (event.type === 'created' && event.replayed === false) world.fresh = [...world.fresh, event.run];
  world.final ||= isFinal(event, mode, world);
  world.missed ||= event.type === 'read-failed' && event.why === 'missing';
  if (event.type === 'read') world.failed = null;
  if (event.type === 'read-failed' && event.why !== 'cut')
    world.failed = { run: event.run, at: world.now, waitMs: event.retryAfterMs ?? 0 };
}

function startEffect(world: World, mode: Mode, machine: Machine, plan: PlanState, effect: Effect): Step[] {
  const fly = (words: string, result: Event, change: (next: World) => void = () => {}): Step => {
    const next = copy(world);
    change(next);
    if (effect.type === 'read') next.slept = false;
    next.flight.push({ effect, result: [result] });
    return [words, next];
  };
  switch (effect.type) {
    case 'create': {
      const next = copy(world);
      run(next, machine, plan, { type: 'sending', gate: effect.gate });
      next.flight.push({ effect, result: null });
      return [[`sends ${effect.id}`, next]];
    }
    case 'read': {
      const { gate, run: id } = effect;
      const state = world.runs.find((one) => one.id === id)?.state ?? 'running';
      const begin = (next: World) =>
        run(next, machine, next.plan as PlanState, { type: 'reading', gate, run: id });
      const good = (reading: Reading): Event => ({ type: 'read', gate, run: id, reading, ...pause });
      const out = [fly(`reads ${id}: ${state}`, good(readings[state]), begin)];
      if (mode.hub === true) out.push(fly('its read would come too late', { type: 'too-late', gate }));
      if (world.left.failures === 0) return out;
      const spend = (next: World) => {
        next.left.failures -= 1;
        begin(next);
      };
      const fails = (why: ReadFailure, retryAfterMs: number | null = null): Step => {
        const failed: Event = {
          type: 'read-failed',
          gate,
          run: id,
          why,
          error: failure,
          random: 0,
          retryAfterMs,
        };
        return fly(
          `read of ${id} fails: ${why}${retryAfterMs === null ? '' : ', Retry-After'}`,
          failed,
          spend,
        );
      };
      const isCut = (plan.gates[gate]?.deadline ?? 0) <= world.now + interval;
      out.push(...ways.map((why) => fails(why)), fails('later', interval));
      if (mode.rules?.waits === false) out.push(fails('limit', longWait));
      if (isCut) out.push(fails('cut'));
      out.push(fly(`reads ${id}: unknown`, good({ ...readings.running, known: false }), spend));
      if (state !== 'running') out.push(fails('ended'));
      return out;
    }
    case 'page': {
      const read = { type: 'page', error: null, confirms: effect.confirms } as const;
      const out = [fly(`the page shows the ${world.build} build`, { ...read, build: world.build })];
      if (world.left.failures === 0) return out;
      const spend = (next: World) => {
        next.left.failures -= 1;
      };
      out.push(
        fly(
          'the page cannot be read',
          { ...read, build: null, error: { ...failure, message: 'the page failed' } },
          spend,
        ),
      );
      if (world.build === 'expected')
        out.push(fly('the page shows a newer expected build', { ...read, build: 'first' }, spend));
      return out;
    }
    case 'reach': {
      const { gate } = effect;
      return [
        fly('the deployment responds', { type: 'reached', gate, error: null }),
        fly('the deployment does not respond', {
          type: 'reached',
          gate,
          error: { ...failure, message: 'the deployment failed' },
        }),
      ];
    }
    case 'prepare': {
      const next = copy(world);
      run(next, machine, plan, { type: 'environment', key: effect.key, step: 'creating', error: null });
      next.flight.push({ effect, result: null });
      return [['sends the request for the environment', next]];
    }
    case 'turn': {
      const { gate } = effect;
      const granted = fly('creating the run has its turn', { type: 'granted', gate });
      if (mode.hub !== true) return [granted];
      const waits = copy(world);
      waits.flight.push({ effect, result: null });
      const late = fly('its turn would come too late', { type: 'too-late', gate });
      return [granted, late, ['the hub never grants it', waits]];
    }
    case 'remove':
      // The request that creates the environment ends first.
      if (world.flight.some((one) => one.effect.type === 'prepare')) return [];
      return removeSteps(world, effect.key, fly);
    case 'cancel': {
      const cancelled = (ok: boolean): Event => ({
        type: 'cancelled',
        gate: effect.gate,
        run: effect.run,
        ok,
      });
      const stop = (next: World) => {
        const found = next.runs.find(({ id }) => id === effect.run);
        if (found?.state === 'running') found.state = 'cancelled';
      };
      return [
        fly(`cancels ${effect.run}`, cancelled(true), stop),
        fly(`cancel of ${effect.run} fails`, cancelled(false)),
      ];
    }
    case 'timer':
      return [];
  }
}

/** A request that creates a run, on its way: it arrives, is refused, or its response is lost. */
function createSteps(
  world: World,
  mode: Mode,
  effect: Extract<Effect, { type: 'create' }>,
  index: number,
  machine: Machine,
): Step[] {
  const { gate, key } = effect;
  const result = (words: string, change: (next: World) => readonly Event[]): Step => {
    const next = copy(world);
    (next.flight[index] as Flight).result = change(next);
    return [words, next];
  };
  const request = { key, gate, by: world.attempt };
  const error = { ...failure, message: 'the request failed' };
  const failed: Event = { type: 'create-failed', gate, key, error };
  const out = [
    result(`${effect.id} arrives`, (next) => {
      const [id, isKnown] = arrive(next, mode, request);
      const replayed = mode.keys === 'reported' || mode.keys === 'one-run' ? isKnown : null;
      return [{ type: 'created', gate, key, run: id, appUrl: null, replayed, limitedMs: 0 }];
    }),
  ];
  if (world.left.losses === 0) return out;
  const spend = (next: World) => {
    next.left.losses -= 1;
  };
  out.push(
    result(`${effect.id} is refused`, (next) => {
      spend(next);
      return [{ type: 'refused', gate, key }, failed];
    }),
    result(`${effect.id} arrives, response lost`, (next) => {
      spend(next);
      arrive(next, mode, request);
      return [failed];
    }),
  );
  const again = (words: string, change: (next: World) => void): Step[] => {
    const next = copy(world);
    spend(next);
    change(next);
    const plan = next.plan as PlanState;
    if (!machine.todo(plan).some(({ id }) => id === effect.id)) return [];
    run(next, machine, plan, { type: 'sending', gate });
    return [[`${effect.id} ${words}, sent again`, next]];
  };
  return [
    ...out,
    ...again('arrives, response lost', (next) => void arrive(next, mode, request)),
    ...again('is refused', (next) =>
      run(next, machine, next.plan as PlanState, { type: 'refused', gate, key }),
    ),
  ];
}

/** The end of an environment whose gates have ended. */
function removeSteps(
  world: World,
  key: string,
  fly: (words: string, event: Event, change?: (next: World) => void) => Step,
): Step[] {
  const told = (step: 'deleted' | 'kept' | 'none', error: ErrorData | null = null): Event => ({
    ...{ type: 'environment', key, step, error },
  });
  if (!world.environment) return [fly('finds no environment', told('none'))];
  return [
    fly('deletes the environment', told('deleted'), (next) => {
      next.environment = false;
    }),
    fly('cannot delete the environment', told('kept', failure)),
  ];
}

/** The request for the environment on its way. */
function prepareSteps(world: World, { key }: Extract<Effect, { type: 'prepare' }>, index: number): Step[] {
  const ready: Event = { type: 'environment', key, step: 'ready', error: null };
  const create = (words: string, event: Event): Step => {
    const next = copy(world);
    next.environment = true;
    (next.flight[index] as Flight).result = [event];
    return [words, next];
  };
  return [
    create('creates the environment', ready),
    create('creates the environment, response lost', { ...ready, step: 'failed', error: failure }),
  ];
}
