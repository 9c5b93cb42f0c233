import { exitCodes } from '../../../src/exit.ts';
import * as entries from '../../../src/gate/detached/entry.ts';
import type { CommitStatus } from '../../../src/gate/detached/github.ts';
import * as steps from '../../../src/gate/detached/steps.ts';
import { isUnderWay } from '../../../src/gate/plan/saved.ts';
import type { PlanState } from '../../../src/gate/state.ts';

/** What is explored: the source, or a mutant of it. */
export const source = { ...entries, ...steps, isUnderWay };
export type Machine = typeof source;
type Gate = entries.DetachedGate;

/** How often each thing can happen. */
interface Chances {
  /** Requests that fail, whose response is lost, or that do nothing. */
  losses?: number;
  kills?: number;
  deliveries?: number;
  /** Hubs that lose all gates. */
  restarts?: number;
  /** Other programs that set the commit status. */
  strangers?: number;
  /** Scheduled jobs, and jobs that are started again by hand. */
  schedules?: number;
  replays?: number;
  /** Requests that take long, and saves that arrive late. */
  delays?: number;
}

/** The gates of one commit status, in the order of their first jobs, and all that can happen. */
export interface Mode extends Chances {
  gates: readonly { commit: string; pull: string | null; order: number }[];
  outcomes: readonly ('passed' | 'failed')[];
  /** Whether the hub can start jobs, and whether none of them comes. */
  startsJobs?: boolean;
  noneComes?: boolean;
  depth: number;
}

type Verdict = 'passed' | 'failed' | 'cancelled' | 'timeout' | 'error';

export interface Job {
  id: string;
  /** The text by which the hub knows it. */
  name: string;
  isFirst: boolean;
  steps: string[];
  /** The time at which the request or the end of the gate has taken too long; null while it waits for the run. */
  by: number | null;
  /** It has told the hub of the run, and has seen it in progress. */
  begun: boolean;
  knows: boolean;
  live: boolean;
  /** The hub has kept each state so far. */
  saves: boolean;
  /** Whether a newer gate had replaced it before its pending status. */
  isReplaced: boolean;
  older: readonly string[];
  replaced: { id: string; knows: boolean }[];
  verdict: Verdict | null;
}

export interface Status extends CommitStatus {
  by: string | null;
  kind: 'pend' | 'set' | 'give-up' | 'replace' | 'stranger';
  verdict: Verdict | null;
}

export type Happened =
  | { type: 'status'; commit: string; status: Status }
  | { type: 'created'; id: string; job: Job }
  | { type: 'started'; id: string }
  | { type: 'cancelled'; id: string; by: string }
  | { type: 'exit'; how: string; job: Job };

export interface World {
  now: number;
  hub: Record<string, Gate>;
  /** What only jobs read: whether the gate has begun, and whether its run is known. */
  sealed: Record<string, { begun: boolean; knows: boolean }>;
  wakes: Record<string, number>;
  /** Gates that the hub has accepted, and those whose pending status has been set, in their order. */
  accepted: string[];
  pended: string[];
  isLost: boolean;
  /** The latest status of each commit. */
  statuses: Record<string, Status>;
  runs: Record<string, 'running' | 'passed' | 'failed' | 'cancelled'>;
  deadlines: Record<string, number>;
  jobs: Job[];
  count: number;
  /** Jobs that GitHub is about to start. */
  starting: string[];
  /** Requests that jobs have given up. */
  network: { until: number; status?: { commit: string; status: Status }; save?: Job }[];
  begun: number;
  left: Required<Chances>;
  /** What the last step has done. */
  events: Happened[];
}

export const timeoutMs = 60 * 60_000;
const requestMs = 45_000;
const onItsWayMs = 15_000;

export const start = (mode: Mode): World => ({
  now: 1_000_000,
  hub: {},
  sealed: {},
  wakes: {},
  accepted: [],
  pended: [],
  isLost: false,
  statuses: {},
  runs: {},
  deadlines: {},
  jobs: [],
  count: 0,
  starting: [],
  network: [],
  begun: 0,
  left: {
    ...{ losses: 0, kills: 0, deliveries: 0, restarts: 0, strangers: 0, schedules: 0, replays: 0, delays: 0 },
    ...mode,
  },
  events: [],
});

export type Step = readonly [words: string, next: World];
type Result = 'done' | 'refused' | 'busy';

const copy = (world: World): World => structuredClone({ ...world, events: [] });

function ask(world: World, id: string, rule: (gate: Gate) => Gate | entries.Refusal): Result {
  const gate = world.hub[id];
  const after = gate === undefined ? 'unknown' : rule(gate);
  if (typeof after === 'string') return 'refused';
  world.hub[id] = after;
  return 'done';
}

const saveOf = (world: World, { id, knows }: Job, own: { done?: boolean; released?: boolean } = {}) => ({
  sealed: '',
  runs: knows ? [id] : [],
  endsInMs: Math.max(0, (world.deadlines[id] ?? 0) - world.now),
  done: false,
  released: false,
  ...own,
});

function save(world: World, job: Job, machine: Machine, own = {}): Result {
  const { id, name, begun, knows } = job;
  const result = ask(world, id, (gate) => machine.saved(gate, saveOf(world, job, own), name, world.now));
  if (result === 'done') world.sealed[id] = { begun, knows };
  return result;
}

function post(world: World, commit: string, status: Status): void {
  world.statuses[commit] = status;
  world.events.push({ type: 'status', commit, status });
  if (status.kind === 'pend' && status.by !== null) world.pended = [...new Set([...world.pended, status.by])];
}

const ends = {
  passed: ['pass', exitCodes.ok],
  failed: ['fail', exitCodes.failed],
  cancelled: ['fail', exitCodes.cancelled],
  timeout: ['fail', exitCodes.timeout],
  error: ['fail', exitCodes.service],
} as const;

const endOf = ({ verdict }: Job): readonly [result: string, exitCode: number] => ends[verdict ?? 'error'];

/** The plan of a job, as far as the rules read it. */
const planOf = ({ knows, live }: Job) =>
  ({
    gates: { a: { begunAt: 0, end: null, run: knows ? { live, outcome: null } : null } },
  }) as unknown as PlanState;

/** The requests of a job, each with what it does where it arrives. */
function requestsOf(mode: Mode, machine: Machine) {
  const commitOf = (id: string) => mode.gates[Number(id) - 1]?.commit ?? '';
  const statusOf = (job: Job, kind: Status['kind'], state: Status['state'], id = job.id): Status => ({
    ...{ state, kind, by: job.id, verdict: job.verdict },
    description: machine.describedAs('', id),
  });
  const replace = (world: World, older: Gate, by: string): Result => {
    const after = machine.replaced(older, by, world.now);
    if (after !== null) world.hub[older.id] = after;
    return after === null ? 'busy' : 'done';
  };
  const posted = {
    pend: (job: Job) => statusOf(job, 'pend', 'pending'),
    set: (job: Job) => statusOf(job, 'set', machine.stateOf(...endOf(job))),
    'give-up': (job: Job) => statusOf(job, 'give-up', 'error'),
  };
  type Request = (world: World, job: Job) => Result;
  const posting =
    (kind: keyof typeof posted): Request =>
    (world, job) => {
      post(world, commitOf(job.id), posted[kind](job));
      return 'done';
    };
  const requests: Record<string, Request> = {
    add(world, job) {
      const kept = world.hub[job.id];
      if (kept !== undefined)
        return kept.lease?.job === job.name || kept.replacedBy !== null ? 'done' : 'refused';
      const { commit = '', pull = null, order = 0 } = mode.gates[Number(job.id) - 1] ?? {};
      const names = {
        id: job.id,
        repository: 'acme/shop',
        commit,
        context: 'rungate',
        ref: 'main',
        pull,
        order,
      };
      world.hub[job.id] = machine.registered(names, saveOf(world, job), job.name, world.now);
      world.sealed[job.id] = { begun: false, knows: false };
      return 'done';
    },
    check(world, job) {
      const gate = world.hub[job.id];
      if (gate === undefined) return 'refused';
      const gates = Object.values(world.hub);
      const newer = gates.find((other) => machine.replaces(gate, other));
      if (newer !== undefined && replace(world, gate, newer.id) === 'busy') return 'busy';
      if (world.hub[job.id]?.replacedBy !== null) return 'refused';
      for (const older of gates)
        if (machine.replaces(older, gate) && replace(world, older, job.id) === 'busy') return 'busy';
      const past = Object.values(world.hub).filter(({ replacedBy }) => replacedBy === job.id);
      job.replaced = past.map(({ id }) => ({ id, knows: world.sealed[id]?.knows === true }));
      world.accepted = [...new Set([...world.accepted, job.id])];
      return 'done';
    },
    pend(world, job) {
      job.isReplaced = world.hub[job.id]?.replacedBy !== null;
      return posting('pend')(world, job);
    },
    confirm: (world, job) => save(world, job, machine),
    replace(world, job) {
      for (const { id, knows } of job.replaced) {
        if (commitOf(id) === commitOf(job.id)) continue;
        post(world, commitOf(id), statusOf(job, 'replace', 'error', id));
        if (!knows || world.runs[id] !== 'running') continue;
        world.runs[id] = 'cancelled';
        world.events.push({ type: 'cancelled', id, by: job.id });
      }
      return 'done';
    },
    keep(world, job) {
      job.begun = true;
      if (job.saves && save(world, job, machine) !== 'done') job.saves = false;
      return 'done';
    },
    create(world, job) {
      const isNew = world.runs[job.id] !== 'running';
      world.runs[job.id] = 'running';
      job.knows = true;
      if (isNew) world.events.push({ type: 'created', id: job.id, job });
      return 'done';
    },
    fetch(world, job) {
      const result = ask(world, job.id, (gate) => machine.fetched(gate, job.name, world.now));
      if (result !== 'done') return result;
      Object.assign(job, world.sealed[job.id]);
      job.steps = job.knows ? ['fetch', 'read'] : ['fetch', 'keep', 'create', 'keep', 'read'];
      if (!job.begun) job.steps = ['fetch', 'stop'];
      else if (!job.knows)
        world.deadlines[job.id] = Math.max(world.deadlines[job.id] ?? 0, world.now + timeoutMs);
      return 'done';
    },
    release: (world, job) => save(world, job, machine, { released: true }),
    decide(world, job) {
      const result = ask(world, job.id, (gate) => machine.deciding(gate, job.name, world.now));
      const gate = world.hub[job.id];
      const all = gate === undefined ? [] : Object.values(world.hub);
      const older = all.filter((one) => one.commit === gate?.commit && machine.precedes(one, gate));
      job.older = older.map(({ id }) => id);
      return result;
    },
    look(world, job) {
      const { id, older } = job;
      if (machine.isOf(world.statuses[commitOf(id)] ?? null, [id, ...older])) return 'done';
      save(world, job, machine, { done: true });
      return 'refused';
    },
    set: posting('set'),
    finish: (world, job) => save(world, job, machine, { done: true }),
    'give-up': posting('give-up'),
    'give-up-done'(world, job) {
      save(world, job, machine, { done: true });
      return 'done';
    },
  };
  return { requests, posted, commitOf };
}

/** Returns what can happen in a world. */
export function stepsOf(world: World, mode: Mode, machine: Machine): Step[] {
  const out: Step[] = [];
  const { requests, posted, commitOf } = requestsOf(mode, machine);
  const can = (words: string, change: (next: World) => void) => {
    const next = copy(world);
    change(next);
    out.push([words, next]);
  };
  const may = (left: keyof Chances, words: string, change: (next: World) => void) => {
    if (world.left[left] === 0) return;
    can(words, (next) => {
      next.left[left] -= 1;
      change(next);
    });
  };
  const exit = (next: World, job: Job, how: string) => {
    next.jobs = next.jobs.filter((one) => one !== job);
    next.events.push({ type: 'exit', how, job });
  };
  /** Goes to the next step of a job. */
  const advance = (next: World, job: Job, to = job.steps.slice(1)) => {
    const isClosing =
      (machine.closing.ended as readonly string[]).includes(to[0] ?? '') && job.verdict !== null;
    if (!isClosing || job.by === null) job.by = to[0] === 'read' ? null : next.now + requestMs;
    job.steps = to;
    const [end = ''] = to;
    if (['handed over', 'decided', 'gave up'].includes(end)) exit(next, job, end);
  };
  const end = (next: World, job: Job, verdict: Verdict) => {
    job.verdict = verdict;
    job.by = null;
    advance(next, job, [...machine.closing.ended, 'decided']);
  };
  const leave = (next: World, job: Job) => advance(next, job, [...machine.closing.waiting, 'handed over']);
  const fail = (next: World, job: Job, step: string, how = 'failed') => {
    if (step === 'check' && world.hub[job.id]?.replacedBy != null) exit(next, job, 'replaced');
    else if (['add', 'check', 'pend'].includes(step))
      advance(next, job, ['give-up', 'give-up-done', 'gave up']);
    else if (step === 'create' || step === 'confirm') end(next, job, 'error');
    else if (step === 'replace') advance(next, job);
    else if (step.startsWith('give-up')) exit(next, job, 'gave up');
    else if (step === 'keep') {
      job.saves = false;
      advance(next, job);
    } else exit(next, job, how);
  };
  const late = (next: World, job: Job, step: string) => {
    if (step !== 'pend' && step !== 'set') return;
    const status = { commit: commitOf(job.id), status: posted[step](job) };
    next.network.push({ until: next.now + onItsWayMs, status });
  };

  for (const [index, job] of world.jobs.entries()) {
    const [step = ''] = job.steps;
    const of = (next: World) => next.jobs[index] as Job;
    const isLate = job.by !== null && world.now >= job.by;
    const words = `${job.name}: ${step}`;
    if (isLate && step !== 'keep' && step !== 'replace')
      can(`${words} takes too long`, (next) => {
        if (step === 'set') late(next, of(next), step);
        fail(next, of(next), step);
      });
    else if (step === 'read') {
      const run = world.runs[job.id] ?? 'running';
      const isOver = world.now >= (world.deadlines[job.id] ?? 0);
      if (run !== 'running' || isOver)
        can(`${words}: ${run}`, (next) => end(next, of(next), run === 'running' ? 'timeout' : run));
      else if (job.saves)
        can(`${words}: running`, (next) => {
          of(next).live = true;
          advance(next, of(next), ['keep', 'read']);
          if (!job.isFirst) of(next).steps = ['keep', ...machine.closing.waiting, 'handed over'];
        });
      may('losses', `${words} fails`, (next) => end(next, of(next), 'error'));
      if (job.saves)
        may('delays', `${job.name}: its save is delayed`, (next) => {
          next.network.push({ until: next.now + onItsWayMs, save: structuredClone(job) });
        });
    } else if (step === 'stop') can(words, (next) => end(next, of(next), 'error'));
    else {
      const send = (next: World) => (requests[step] as (typeof requests)[string])(next, of(next));
      if (step === 'pend' && isOvertaken(world, job.id, commitOf)) continue;
      const next = copy(world);
      const result = send(next);
      const after = of(next);
      if (result === 'refused') fail(next, after, step, `refused to ${step}`);
      const leaves = step === 'keep' && after.isFirst && after.saves && machine.isUnderWay(planOf(after));
      if (result === 'done') leaves ? leave(next, after) : advance(next, after);
      if (result !== 'busy') out.push([result === 'done' ? words : `${words} is refused`, next]);
      else can(`${words} is busy for too long`, (other) => fail(other, of(other), step));
      may('losses', `${words} fails`, (other) => fail(other, of(other), step));
      if (result === 'done' && step !== 'keep' && step !== 'fetch')
        may('losses', `${words}, response lost`, (other) => void send(other));
    }
    may('kills', `${job.name} is killed`, (next) => exit(next, of(next), 'killed'));
    if (step === 'pend' || step === 'set')
      may('kills', `${job.name} is killed during ${step}`, (next) => {
        late(next, job, step);
        exit(next, of(next), 'killed');
      });
  }
  worldSteps(world, mode, machine, { can, may, commitOf });
  return out;
}

/** A newer gate of the commit is decided. Assumed: no request takes longer than a gate. */
function isOvertaken({ statuses, accepted }: World, id: string, commitOf: (id: string) => string): boolean {
  const { kind, by } = statuses[commitOf(id)] ?? {};
  return kind === 'set' && by !== id && accepted.indexOf(by ?? '') > accepted.indexOf(id);
}

interface Ways {
  commitOf(id: string): string;
  can(words: string, change: (next: World) => void): void;
  may(left: keyof Chances, words: string, change: (next: World) => void): void;
}

function begin(world: World, id: string, isFirst: boolean, steps: string[]): void {
  world.count += 1;
  const usual = { begun: false, knows: false, live: false, saves: true, isReplaced: false };
  const name = `job ${world.count} of gate ${id}`;
  const by = world.now + requestMs;
  world.jobs.push({ id, name, isFirst, steps, by, ...usual, replaced: [], older: [], verdict: null });
}

const resume = (world: World, id: string) => begin(world, id, false, ['fetch']);

/** Whatever is no step of a job. */
function worldSteps(world: World, mode: Mode, machine: Machine, { can, may, commitOf }: Ways): void {
  const { now, hub, runs } = world;
  if (world.begun < mode.gates.length)
    can('a gate begins', (next) => {
      next.begun += 1;
      const id = String(next.begun);
      next.deadlines[id] = now + timeoutMs;
      const opening = machine.opening.flatMap((step) => (step === 'register' ? ['add', 'check'] : [step]));
      begin(next, id, true, [...opening, 'keep', 'create', 'keep', 'read']);
    });
  for (const [id, run] of Object.entries(runs)) {
    if (run === 'running')
      for (const outcome of mode.outcomes)
        can(`the run of gate ${id} ${outcome}`, (next) => {
          next.runs[id] = outcome;
        });
    else if (world.wakes[id] !== now)
      may('deliveries', `a delivery names the run of gate ${id}`, (next) => {
        next.wakes[id] = now;
      });
  }
  let isDue = false;
  for (const kept of Object.values(hub)) {
    const gate = machine.named(kept, Math.max(0, ...kept.runs.map((id) => world.wakes[id] ?? 0)));
    if (machine.isForgotten(gate, now)) {
      can(`the hub forgets gate ${gate.id}`, (next) => {
        delete next.hub[gate.id];
      });
      isDue = true;
      continue;
    }
    const at = mode.startsJobs === false ? null : machine.startAt(gate);
    if (machine.isPending(gate, now))
      may('schedules', `a schedule finds gate ${gate.id}`, (next) => resume(next, gate.id));
    if (at === null || at > now) continue;
    isDue = true;
    const claimed = machine.started(gate, now);
    can(`the hub starts a job of gate ${gate.id}`, (next) => {
      next.hub[gate.id] = claimed;
      if (mode.noneComes !== true) next.starting.push(gate.id);
      next.events.push({ type: 'started', id: gate.id });
    });
    may('losses', `the hub cannot start a job of gate ${gate.id}`, (next) => {
      next.hub[gate.id] = machine.startFailed(claimed, gate, now);
    });
  }
  for (const [index, id] of world.starting.entries()) {
    const take = (next: World) => void next.starting.splice(index, 1);
    can(`a job goes on with gate ${id}`, (next) => {
      take(next);
      resume(next, id);
    });
    may('losses', `the job of gate ${id} never starts`, take);
  }
  for (const id of world.accepted)
    may('replays', `a job of gate ${id} is started by hand`, (next) => resume(next, id));
  may('restarts', 'the hub loses all gates', (next) => {
    Object.assign(next, { hub: {}, sealed: {}, wakes: {}, isLost: true });
  });
  const isSetting = world.jobs.some(({ steps: [step] }) => step === 'set');
  for (const commit of isSetting ? [] : Object.keys(world.statuses))
    may('strangers', 'somebody else sets the status', (next) => {
      post(next, commit, { state: 'success', description: '', by: null, kind: 'stranger', verdict: null });
    });
  for (const [index, { status, save: saving }] of world.network.entries())
    can('a late request arrives', (next) => {
      next.network.splice(index, 1);
      const isLost = status?.status.kind === 'pend' && isOvertaken(world, status.status.by ?? '', commitOf);
      if (status !== undefined && !isLost) post(next, status.commit, status.status);
      if (saving !== undefined) save(next, saving, machine);
    });
  if (isDue || world.jobs.some(({ by }) => by !== null && by <= now)) return;
  passTime(world, machine, { can, may });
}

/** Lets the time pass until something can happen only then. */
function passTime(world: World, machine: Machine, { can, may }: Pick<Ways, 'can' | 'may'>): void {
  const { now, hub, jobs, network, runs, starting } = world;
  const isHeld = (id: string) => jobs.some((job) => job.id === id && job.saves && job.steps[0] === 'read');
  const waits = ({ id, saves, steps: [step] }: Job) => step === 'read' && runs[id] === 'running' && !saves;
  const isSlow = starting.length > 0 || !jobs.every(waits);
  const moments = [
    ...Object.values(hub).flatMap((gate) => [
      ...(isHeld(gate.id) ? [] : [gate.lease?.until ?? 0]),
      ...[gate.decidesUntil, machine.startAt(gate) ?? 0, gate.endsAt + machine.keptMs],
    ]),
    ...jobs.map(({ by, id }) => by ?? world.deadlines[id] ?? 0),
    ...network.map(({ until }) => until),
  ].filter((at) => at > now);
  if (moments.length === 0) return;
  const next = Math.min(...moments);
  const pass = isSlow ? (words: string, change: (after: World) => void) => may('delays', words, change) : can;
  pass(`${(next - now) / 1_000} s pass`, (after) => {
    after.now = next;
    after.network = after.network.filter(({ until }) => until > next);
    for (const job of after.jobs)
      if (job.saves && job.steps[0] === 'read' && save(after, job, machine) !== 'done') job.saves = false;
  });
}
