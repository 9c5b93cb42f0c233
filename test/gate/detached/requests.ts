import { exitCodes } from '../../../src/exit.ts';
import type { DetachedGate as Gate, Refusal } from '../../../src/gate/detached/entry.ts';
import { type Job, type Machine, type Mode, type Status, timeoutMs, type World } from './world.ts';

export type Result = 'done' | 'refused' | 'busy';

function ask(world: World, id: string, rule: (gate: Gate) => Gate | Refusal): Result {
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

export function save(world: World, job: Job, machine: Machine, own = {}): Result {
  const { id, name, begun, knows } = job;
  const result = ask(world, id, (gate) => machine.saved(gate, saveOf(world, job, own), name, world.now));
  if (result === 'done') world.sealed[id] = { begun, knows };
  return result;
}

export function post(world: World, commit: string, status: Status): void {
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

export const gateIn = ({ gates }: Mode, id: string) => gates[Number(id.slice(-1)) - 1];
export const commitIn = (mode: Mode, id: string): string => gateIn(mode, id)?.commit ?? '';

/** The requests of a job, each with what it does where it arrives. */
export function requestsOf(mode: Mode, machine: Machine) {
  const commitOf = (id: string) => commitIn(mode, id);
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
      const { commit = '', pull = null, order = 0, kind } = gateIn(mode, job.id) ?? {};
      const names = {
        id: job.id,
        repository: 'acme/shop',
        commit,
        context: 'rungate',
        ref: 'main',
        pull,
        order,
        kind,
      };
      world.hub[job.id] = machine.registered(names, saveOf(world, job), job.name, world.now);
      world.sealed[job.id] = { begun: false, knows: false };
      return 'done';
    },
    check(world, job) {
      const gate = world.hub[job.id];
      if (gate === undefined) return 'refused';
      const gates = Object.values(world.hub);
      job.collides = gates.some((other) => machine.collides(other, gate));
      if (job.collides) {
        delete world.hub[job.id];
        return 'refused';
      }
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
    compare(world, job) {
      const latest = world.statuses[commitOf(job.id)] ?? null;
      job.collides = machine.isOfOther(latest, gateIn(mode, job.id)?.kind ?? '');
      if (!job.collides) return 'done';
      const gate = world.hub[job.id];
      if (gate !== undefined) gate.done = true;
      return 'refused';
    },
    pend(world, job) {
      job.isReplaced = world.hub[job.id]?.replacedBy !== null;
      return posting('pend')(world, job);
    },
    confirm: (world, job) => save(world, job, machine),
    replace(world, job) {
      for (const { id, knows } of job.replaced) {
        if (commitOf(id) === commitOf(job.id)) continue;
        const latest = world.statuses[commitOf(id)];
        if (latest?.state === 'pending' && latest.by === id)
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
      const all = gate === undefined ? [] : Object.values(world.hub).filter((one) => !machine.isOpen(one));
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
  return { requests, posted };
}

/** A newer gate of the commit is over. Assumed: no request takes longer than a gate. */
export function isOvertaken({ hub, accepted, statuses }: World, mode: Mode, id: string): boolean {
  const commit = commitIn(mode, id);
  const { by, kind } = statuses[commit] ?? {};
  const newer = accepted.slice(accepted.indexOf(id) + 1).filter((other) => commitIn(mode, other) === commit);
  return newer.some((other) => hub[other]?.done === true || (by === other && kind !== 'pend'));
}
