import * as entries from '../../../src/gate/detached/entry.ts';
import type { CommitStatus } from '../../../src/gate/detached/github.ts';
import * as steps from '../../../src/gate/detached/steps.ts';
import { isUnderWay } from '../../../src/gate/plan/saved.ts';
import { jobSteps } from './jobs.ts';
import { isOvertaken, post, save } from './requests.ts';

/** The explored functions: the source, or a mutant of it. */
export const source = { ...entries, ...steps, isUnderWay };
export type Machine = typeof source;

/** How often each thing can happen. */
export interface Chances {
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

/** The gates of one commit status, in the order of their first jobs, and everything that can happen. */
export interface Mode extends Chances {
  /** `kind`: gates that differ in it test something else. */
  gates: readonly { commit: string; pull: string | null; order: number; kind?: string }[];
  outcomes: readonly ('passed' | 'failed')[];
  /** Whether the hub can start jobs, and whether none of them comes. */
  startsJobs?: boolean;
  noneComes?: boolean;
  depth: number;
}

export type Verdict = 'passed' | 'failed' | 'cancelled' | 'timeout' | 'error';

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
  /** Whether a newer gate had replaced it before its pending status, or another one has the commit status. */
  isReplaced: boolean;
  collides: boolean;
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
  hub: Record<string, entries.DetachedGate>;
  /** Facts that only jobs read: whether the gate has begun, and whether its run is known. */
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
  /** The effects of the last step. */
  events: Happened[];
}

export const timeoutMs = 60 * 60_000;
/** A job waits so long for a request, which may arrive later still. */
export const requestMs = 45_000;
export const onItsWayMs = 15_000;

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

export const copy = (world: World): World => structuredClone({ ...world, events: [] });

/** Returns what can happen in a world. */
export function stepsOf(world: World, mode: Mode, machine: Machine): Step[] {
  const out: Step[] = [];
  const can: Ways['can'] = (words, change) => {
    const next = copy(world);
    change(next);
    out.push([words, next]);
  };
  const may: Ways['may'] = (left, words, change) => {
    if (world.left[left] === 0) return;
    can(words, (next) => {
      next.left[left] -= 1;
      change(next);
    });
  };
  for (const index of world.jobs.keys()) jobSteps(world, index, mode, machine, { can, may });
  worldSteps(world, mode, machine, { can, may });
  return out;
}

/** Adds steps. `may`: one that there are only so many of. */
export interface Ways {
  can(words: string, change: (next: World) => void): void;
  may(left: keyof Chances, words: string, change: (next: World) => void): void;
}

function begin(world: World, id: string, isFirst: boolean, steps: string[]): void {
  world.count += 1;
  const usual = { begun: false, knows: false, live: false, saves: true, isReplaced: false, collides: false };
  const name = `job ${world.count} of gate ${id}`;
  const by = world.now + requestMs;
  world.jobs.push({ id, name, isFirst, steps, by, ...usual, replaced: [], older: [], verdict: null });
}

const resume = (world: World, id: string) => begin(world, id, false, ['fetch']);

/** Everything that is not a step of a job. */
function worldSteps(world: World, mode: Mode, machine: Machine, { can, may }: Ways): void {
  const { now, hub, runs } = world;
  if (world.begun < mode.gates.length)
    can('a gate begins', (next) => {
      next.begun += 1;
      const id = `${mode.gates[world.begun]?.kind ?? ''}${next.begun}`;
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
      const isLost = status?.status.kind === 'pend' && isOvertaken(world, mode, status.status.by ?? '');
      if (status !== undefined && !isLost) post(next, status.commit, status.status);
      if (saving !== undefined) save(next, saving, machine);
    });
  if (isDue || world.jobs.some(({ by }) => by !== null && by <= now)) return;
  passTime(world, machine, { can, may });
}

/** Lets the time pass until something can happen only then. */
function passTime(world: World, machine: Machine, { can, may }: Ways): void {
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
