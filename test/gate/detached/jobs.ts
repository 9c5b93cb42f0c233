import type { PlanState } from '../../../src/gate/state.ts';
import { commitIn, isOvertaken, requestsOf } from './requests.ts';
import {
  copy,
  type Job,
  type Machine,
  type Mode,
  onItsWayMs,
  requestMs,
  type Verdict,
  type Ways,
  type World,
} from './world.ts';

/** The plan of a job, as far as the rules read it. */
const planOf = ({ knows, live }: Job) =>
  ({
    gates: { a: { begunAt: 0, end: null, run: knows ? { live, outcome: null } : null } },
  }) as unknown as PlanState;

export function exit(world: World, job: Job, how: string): void {
  world.jobs = world.jobs.filter((one) => one !== job);
  world.events.push({ type: 'exit', how, job });
}

/** How a job goes from step to step. */
function movesOf(machine: Machine) {
  const advance = (world: World, job: Job, to = job.steps.slice(1)): void => {
    const [next = ''] = to;
    const isClosing = (machine.closing.ended as readonly string[]).includes(next) && job.verdict !== null;
    // The end of a gate has one limit.
    if (!isClosing || job.by === null) job.by = next === 'read' ? null : world.now + requestMs;
    job.steps = to;
    if (['handed over', 'decided', 'gave up'].includes(next)) exit(world, job, next);
  };
  const end = (world: World, job: Job, verdict: Verdict): void => {
    job.verdict = verdict;
    job.by = null;
    advance(world, job, [...machine.closing.ended, 'decided']);
  };
  const leave = (world: World, job: Job): void =>
    advance(world, job, [...machine.closing.waiting, 'handed over']);
  /** A request has failed, or was refused. */
  const fail = (world: World, job: Job, step: string, how = 'failed'): void => {
    if (job.collides) exit(world, job, 'refused for another gate');
    else if (step === 'check' && world.hub[job.id]?.replacedBy != null) exit(world, job, 'replaced');
    else if (['add', 'check', 'compare', 'pend'].includes(step))
      advance(world, job, ['give-up', 'give-up-done', 'gave up']);
    else if (step === 'create' || step === 'confirm') end(world, job, 'error');
    else if (step === 'replace') advance(world, job);
    else if (step.startsWith('give-up')) exit(world, job, 'gave up');
    else if (step === 'keep') {
      job.saves = false;
      advance(world, job);
    } else exit(world, job, how);
  };
  return { advance, end, leave, fail };
}

/** A job waits for its run. */
function readSteps(world: World, index: number, machine: Machine, { can, may }: Ways): void {
  const job = world.jobs[index] as Job;
  const of = (next: World) => next.jobs[index] as Job;
  const { advance, end } = movesOf(machine);
  const words = `${job.name}: read`;
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
}

/** A job sends a request. */
function requestSteps(world: World, index: number, mode: Mode, machine: Machine, { can, may }: Ways): void {
  const { advance, leave, fail } = movesOf(machine);
  const job = world.jobs[index] as Job;
  const [step = ''] = job.steps;
  const request = requestsOf(mode, machine).requests[step];
  const of = (next: World) => next.jobs[index] as Job;
  const send = (next: World) => request?.(next, of(next));
  const words = `${job.name}: ${step}`;
  const result = send(copy(world));
  if (result === 'busy') can(`${words} is busy for too long`, (next) => fail(next, of(next), step));
  if (result === 'refused')
    can(`${words} is refused`, (next) => {
      send(next);
      fail(next, of(next), step, `refused to ${step}`);
    });
  if (result === 'done')
    can(words, (next) => {
      send(next);
      const { isFirst, saves } = of(next);
      const leaves = step === 'keep' && isFirst && saves && machine.isUnderWay(planOf(of(next)));
      if (leaves) leave(next, of(next));
      else advance(next, of(next));
    });
  may('losses', `${words} fails`, (next) => fail(next, of(next), step));
  if (result === 'done' && step !== 'keep' && step !== 'fetch')
    may('losses', `${words}, response lost`, (next) => void send(next));
}

/** Everything that can happen to the next step of a job. */
export function jobSteps(world: World, index: number, mode: Mode, machine: Machine, ways: Ways): void {
  const { can, may } = ways;
  const { end, fail } = movesOf(machine);
  const job = world.jobs[index] as Job;
  const [step = ''] = job.steps;
  const of = (next: World) => next.jobs[index] as Job;
  const late = (next: World) => {
    if (step !== 'pend' && step !== 'set') return;
    const status = { commit: commitIn(mode, job.id), status: requestsOf(mode, machine).posted[step](job) };
    next.network.push({ until: next.now + onItsWayMs, status });
  };
  may('kills', `${job.name} is killed`, (next) => exit(next, of(next), 'killed'));
  if (step === 'pend' || step === 'set')
    may('kills', `${job.name} is killed during ${step}`, (next) => {
      late(next);
      exit(next, of(next), 'killed');
    });
  const isLate = job.by !== null && world.now >= job.by && step !== 'keep' && step !== 'replace';
  if (step === 'read') readSteps(world, index, machine, ways);
  else if (step === 'stop') can(`${job.name}: stop`, (next) => end(next, of(next), 'error'));
  else if (isLate)
    can(`${job.name}: ${step} takes too long`, (next) => {
      if (step === 'set') late(next);
      fail(next, of(next), step);
    });
  else if (step !== 'pend' || !isOvertaken(world, mode, job.id))
    requestSteps(world, index, mode, machine, ways);
}
