import { hash } from 'node:crypto';
import type { DetachedGate } from '../../../src/gate/detached/entry.ts';
import { explore, type Found } from '../checker/check.ts';
import { gateIn } from './requests.ts';
import { type Happened, type Machine, type Mode, type Status, start, stepsOf, type World } from './world.ts';

interface Change {
  from: World;
  to: World;
  mode: Mode;
  machine: Machine;
}

const gateOf = ({ mode }: Change, id: string) => gateIn(mode, id);
const happened = <Type extends Happened['type']>({ to }: Change, type: Type) =>
  to.events.filter((event): event is Extract<Happened, { type: Type }> => event.type === type);

/** The gates of the same commit that the hub has accepted after this one. */
const newerOf = (change: Change, id: string) => {
  const { accepted } = change.from;
  const after = accepted.includes(id) ? accepted.slice(accepted.indexOf(id) + 1) : [];
  return after.filter(
    (other) => other !== id && gateOf(change, other)?.commit === gateOf(change, id)?.commit,
  );
};

/** The statuses that gates which the hub has accepted have set on their own commits. */
const ownStatuses = (change: Change) =>
  happened(change, 'status').flatMap(({ commit, status }) =>
    status.by !== null && status.kind !== 'replace' ? [{ commit, id: status.by, status }] : [],
  );

/** A newer gate of the commit has set its pending status, which this one hides. */
const hides = (change: Change, id: string) =>
  newerOf(change, id).some((newer) => change.from.pended.includes(newer));

const states = {
  passed: 'success',
  failed: 'failure',
  cancelled: 'failure',
  timeout: 'error',
  error: 'error',
};
const isPending = (status: Status | undefined) => status?.state === 'pending';

/** Returns the gate that takes the place of one at the hub. */
function lastOf({ hub }: World, id: string): string {
  const by = hub[id]?.replacedBy ?? null;
  return by === null ? id : lastOf({ hub } as World, by);
}

/** Returns whether a job goes on with a gate, or will be started. */
function goesOn({ hub, jobs, starting, now }: World, id: string, machine: Machine): boolean {
  if (starting.includes(id) || jobs.some((job) => job.id === id)) return true;
  const gate = hub[id];
  if (gate === undefined) return false;
  const { starts, endsAt, lease } = gate;
  if (lease !== null && now < lease.until) return true;
  const at = machine.startAt(gate);
  if (at !== null) return at <= Math.max(now, endsAt) + machine.repeatMs;
  return starts.count > machine.mostRepeats && starts.at >= endsAt;
}

/** The things that must never happen, each with a function that says whether a step does it. */
export const invariants: Readonly<Record<string, (change: Change) => boolean>> = {
  'a success without a verdict that passes, which its job has read': (change) =>
    ownStatuses(change).some(
      ({ id, status: { state, verdict, kind } }) =>
        state === 'success' && (kind !== 'set' || verdict !== 'passed' || change.to.runs[id] !== 'passed'),
    ),
  'a commit status that is not that of the verdict': (change) =>
    ownStatuses(change).some(
      ({ status: { state, verdict, kind } }) => kind === 'set' && state !== states[verdict ?? 'error'],
    ),
  'a commit status that does not name its gate': (change) =>
    ownStatuses(change).some(
      ({ id, status }) => !change.machine.isOf(status, [id]) || change.machine.isOf(status, ['0']),
    ),
  'a success of a gate after the pending status of a newer one': (change) =>
    ownStatuses(change).some(({ id, status }) => status.state === 'success' && hides(change, id)),
  'a gate decides after the pending status of a newer one': (change) =>
    ownStatuses(change).some(({ id, status: { kind } }) => kind === 'set' && hides(change, id)),
  'a gate decides nothing although no newer gate and nobody else has set its status': (change) =>
    happened(change, 'exit').some(({ how, job }) => {
      const { accepted, statuses } = change.from;
      const by = statuses[gateOf(change, job.id)?.commit ?? '']?.by;
      const isOwn = by != null && accepted.includes(by) && accepted.indexOf(by) <= accepted.indexOf(job.id);
      return (
        how === 'refused to look' &&
        isOwn &&
        change.from.left.losses === change.to.left.losses &&
        !change.to.isLost
      );
    }),
  'a gate hides the commit status of a different one': (change) =>
    ownStatuses(change).some(({ commit, id, status: { kind } }) => {
      const { by = null, kind: before } = change.from.statuses[commit] ?? {};
      if (before === 'give-up') return false;
      return kind !== 'give-up' && by !== null && gateOf(change, by)?.kind !== gateOf(change, id)?.kind;
    }),
  'a commit status of somebody else is changed': (change) =>
    ownStatuses(change).some(
      ({ commit, id, status: { kind } }) =>
        kind === 'set' &&
        change.from.statuses[commit]?.by !== id &&
        change.from.network.length === change.to.network.length &&
        !change.from.accepted.includes(change.from.statuses[commit]?.by ?? '') &&
        change.from.statuses[commit]?.kind !== 'give-up',
    ),
  'a run is created before the hub has its gate, or before its pending status': (change) =>
    happened(change, 'created').some(({ id }) => {
      const { accepted, pended, statuses } = change.from;
      const latest = statuses[gateOf(change, id)?.commit ?? ''];
      return (
        !accepted.includes(id) ||
        !pended.includes(id) ||
        (latest?.by === id && !isPending(latest) && latest.kind !== 'set')
      );
    }),
  'a run is created while an older success stands': (change) =>
    happened(change, 'created').some(({ id }) => {
      const { accepted, statuses } = change.from;
      const { state, by } = statuses[gateOf(change, id)?.commit ?? ''] ?? {};
      return state === 'success' && by != null && accepted.indexOf(by) < accepted.indexOf(id);
    }),
  'a run is created by a gate that was replaced before its pending status': (change) =>
    happened(change, 'created').some(({ job }) => job.isReplaced),
  'a pending status that nothing decides': (change) => {
    const { to, mode, machine } = change;
    if (to.isLost || mode.startsJobs === false) return false;
    return Object.entries(to.statuses).some(([commit, status]) => {
      if (!isPending(status) || status.by === null) return false;
      const last = lastOf(to, status.by);
      if (gateOf(change, last)?.commit !== commit) return false;
      const gate = to.hub[last];
      const isForgotten = gate === undefined || to.now >= gate.endsAt + machine.keptMs;
      return (
        !goesOn(to, last, machine) && !(isForgotten && to.now >= (to.deadlines[last] ?? 0) + machine.keptMs)
      );
    });
  },
  'two jobs set the commit status of one gate': ({ to }) => {
    const ids = to.jobs.flatMap(({ id, steps: [step] }) => (step === 'look' || step === 'set' ? [id] : []));
    return new Set(ids).size < ids.length;
  },
  'two jobs hold a gate': ({ to }) => {
    const held = to.jobs.filter(({ steps: [step], saves }) => saves && step === 'read').map(({ id }) => id);
    return new Set(held).size < held.length;
  },
  'a run is cancelled whose gate no newer commit of the pull request has replaced': (change) =>
    happened(change, 'cancelled').some(({ id, by }) => {
      const [older, newer] = [gateOf(change, id), gateOf(change, by)];
      const isSame = older?.pull !== null && older?.pull === newer?.pull && older?.commit !== newer?.commit;
      return !isSame || change.to.hub[id]?.replacedBy !== by;
    }),
  'a gate is replaced by one of another pull request or merge group': (change) =>
    Object.values(change.to.hub).some(({ id, replacedBy }) => {
      const [older, newer] = [gateOf(change, id), gateOf(change, replacedBy ?? id)];
      return older?.commit !== newer?.commit && (older?.pull === null || older?.pull !== newer?.pull);
    }),
  'a gate is open, or replaced by an older one, although the hub has accepted a newer one': (change) =>
    Object.values(change.to.hub).some((gate) => {
      const { hub, accepted } = change.to;
      const by = hub[gate.replacedBy ?? ''];
      const isFirst = ({ registeredAt, id, commit, order = 0 }: DetachedGate) =>
        commit === gate.commit
          ? registeredAt < gate.registeredAt || (registeredAt === gate.registeredAt && id < gate.id)
          : order < (gate.order ?? 0);
      if (by !== undefined && isFirst(by)) return true;
      const { commit, pull } = gate;
      const newer = accepted.slice(accepted.indexOf(gate.id) + 1).flatMap((id) => hub[id] ?? []);
      const isOpen = accepted.includes(gate.id) && !gate.done && gate.replacedBy === null;
      return isOpen && newer.some((one) => one.commit === commit || (pull !== null && one.pull === pull));
    }),
  'a job ends before its run was seen in progress, or without handing its gate over': (change) =>
    happened(change, 'exit').some(
      ({ how, job }) =>
        how === 'handed over' && (!job.live || (change.to.hub[job.id]?.lease?.until ?? 0) > 0),
    ),
  'a job is started for a gate that is decided, replaced or held': (change) =>
    happened(change, 'started').some(({ id }) => {
      const gate = change.from.hub[id];
      return (
        gate?.done || gate?.replacedBy !== null || (gate.lease !== null && change.from.now < gate.lease.until)
      );
    }),
  'a gate goes on at the hub after its commit status was set': (change) =>
    happened(change, 'exit').some(
      ({ how, job }) => how === 'decided' && change.to.hub[job.id]?.done === false,
    ),
  'a decided gate is opened again': ({ from, to }) =>
    Object.values(from.hub).some(({ id, done }) => done && to.hub[id]?.done === false),
  'the status of a decided gate is replaced': (change) =>
    happened(change, 'status').some(
      ({ commit, status: { kind, by } }) =>
        kind === 'replace' &&
        Object.values(change.to.hub).some(
          (gate) => gate.done && gate.replacedBy === by && gate.commit === commit,
        ),
    ),
  'a job fails that has handed its gate over': (change) =>
    happened(change, 'exit').some(
      ({ how, job }) => how === 'refused to release' && change.to.hub[job.id]?.lease?.job === job.name,
    ),
  'a job is started again too early': (change) =>
    happened(change, 'started').some(({ id }) => {
      const { starts, endsAt } = change.from.hub[id] as DetachedGate;
      const { now } = change.from;
      return now < starts.at + change.machine.repeatMs && !(starts.at < endsAt && now >= endsAt);
    }),
  'more jobs than the repeats allow': ({ to, machine }) =>
    Object.values(to.hub).some(({ starts }) => starts.count > machine.mostRepeats + 1),
  'the commit of a replaced gate stays pending although nothing was lost': (change) =>
    happened(change, 'exit').some(({ how, job }) => {
      if (!job.isFirst || how !== 'handed over' || change.to.left.losses < (change.mode.losses ?? 0))
        return false;
      const { statuses, pended } = change.to;
      return job.replaced.some(({ id }) => {
        const { commit = '' } = gateOf(change, id) ?? {};
        const isEarlier = pended.includes(id) && pended.indexOf(id) < pended.indexOf(job.id);
        return (
          isEarlier &&
          statuses[commit]?.by === id &&
          isPending(statuses[commit]) &&
          commit !== gateOf(change, job.id)?.commit
        );
      });
    }),
};

/** Returns what a step has brought about. */
function* newIn(from: World, to: World) {
  for (const event of to.events) {
    if (event.type === 'status') yield `${event.status.kind} ${event.status.state}`;
    if (event.type === 'cancelled') yield 'cancelled';
    if (event.type === 'started') yield to.hub[event.id]?.starts.count === 1 ? 'started' : 'started again';
    if (event.type === 'exit') yield event.how;
  }
  if (Object.keys(to.hub).length < Object.keys(from.hub).length) yield to.isLost ? 'lost' : 'forgotten';
}

/** The things that must happen at least once in all modes together. */
export const sometimes: readonly string[] = [
  ...[
    'set success',
    'set failure',
    'set error',
    'replace error',
    'give-up error',
    'cancelled',
    'handed over',
  ],
  ...[
    'decided',
    'refused to fetch',
    'refused to decide',
    'refused to look',
    'replaced',
    'refused for another gate',
    'gave up',
    'started',
    'started again',
    'forgotten',
    'lost',
  ],
];

/** Explores the worlds of a mode. */
export function check(mode: Mode, machine: Machine, most?: number): Found {
  const rules = Object.entries(invariants);
  return explore<World>(
    {
      first: start(mode),
      depth: mode.depth,
      stepsOf: (world) => stepsOf(world, mode, machine),
      keyOf: ({ events: _, ...world }) => hash('sha1', JSON.stringify(world), 'base64'),
      brokenBy: (from, to) => rules.find(([, isBroken]) => isBroken({ from, to, mode, machine }))?.[0],
      newIn,
    },
    most,
  );
}
