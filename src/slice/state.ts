import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { SeenBuild } from '../gate/deployed/reads.ts';
import type { KeyChain, KnownRun } from '../gate/events.ts';
import type { PlannedGate } from '../gate/plan/plan.ts';
import type { DiscardedRun, NamedGateReport, RunReport } from '../gate/result-types.ts';

export interface SavedGate {
  /** The body of the first slice: git may be at another commit now. */
  body: TriggerBody | undefined;
  /** Null before the gate begins. */
  begunAt: number | null;
  timeoutMs: number;
  /** At the key of the last run, whose times are in milliseconds since the epoch; undefined for existing runs. */
  chain?: KeyChain | undefined;
  /** The runs that failed, of which the gate continues the retries. */
  failed: readonly RunReport[];
  discarded: DiscardedRun[];
  ended?: NamedGateReport | undefined;
}

/** The progress of a gate, or of several, over the slices so far. */
export interface SavedGates {
  /** Random: the same in all slices. */
  id: string;
  /** The start of the first slice. */
  startedAt: number;
  /** The time of the last change. */
  savedAt: number;
  /** The last timeout of a gate that has begun. */
  endsAt: number;
  /** Set once a command has reported the end, to the ids of the runs that went on after a timeout; null for an unknown id. */
  reported?: readonly (string | null)[];
  gates: Record<string, SavedGate>;
  build?: SeenBuild;
}

export function newGates(gates: readonly PlannedGate[], startedAt: number): SavedGates {
  const saved = gates.map(({ name, needs, start, timeoutMs }): [string, SavedGate] => [
    name,
    {
      body: start?.body,
      chain: start && savedChain(start.chain),
      begunAt: needs.length > 0 ? null : startedAt,
      timeoutMs,
      failed: [],
      discarded: [],
    },
  ]);
  const longest = Math.max(...gates.map(({ timeoutMs }) => timeoutMs));
  const id = crypto.randomUUID().slice(0, 8);
  return { id, startedAt, savedAt: startedAt, endsAt: startedAt + longest, gates: Object.fromEntries(saved) };
}

/** A random key is known to the slices of this gate only, as one that the user gives. */
export function savedChain(chain: KeyChain): KeyChain {
  const saved = structuredClone(chain);
  if (saved.link.trust === 'random') saved.link.trust = 'given';
  return saved;
}

/** Returns a copy of the chain, with its run changed if it has one. */
function withRun(chain: KeyChain, change: (run: KnownRun) => KnownRun): KeyChain {
  const copy = structuredClone(chain);
  if (copy.link.run !== undefined) copy.link.run = change(copy.link.run);
  return copy;
}

/** A slice that begins after the timeout still reads its run: it may have ended in time. */
const lastReadMs = 10_000;

const shifted = ({ startedAt, endedAt, missingSince, ...run }: KnownRun, by: number): KnownRun => ({
  ...run,
  startedAt: startedAt - by,
  endedAt: endedAt && endedAt - by,
  missingSince: missingSince && missingSince - by,
});

/** Returns the gate as the next slice runs it. */
export function goingOn<Gate extends PlannedGate>(gate: Gate, { gates }: SavedGates, clock: Clock): Gate {
  const saved = gates[gate.name];
  if (saved?.chain === undefined || gate.start === undefined) return gate;
  const { body = gate.start.body, begunAt, failed, discarded, ended } = saved;
  const limit = begunAt === null ? Number.POSITIVE_INFINITY : begunAt + gate.timeoutMs;
  // A run that ended unseen counts as ended at the timeout, not when somebody asks for its verdict, perhaps a day later.
  const unseenEnd = limit < clock.now() ? limit : undefined;
  const chain = withRun(saved.chain, (run) =>
    shifted({ ...run, endedAt: run.endedAt ?? unseenEnd }, clock.now() - clock.monotonic()),
  );
  const leastMs = chain.link.run === undefined ? 0 : lastReadMs;
  const leftMs = begunAt === null ? null : limit - clock.now();
  return {
    ...gate,
    ended,
    start: { ...gate.start, body, chain },
    soFar: { failed, discarded },
    deadline: leftMs === null ? undefined : clock.monotonic() + Math.max(leftMs, leastMs),
  };
}

/** Returns whether a gate has reached its timeout, and its last read is not over. */
export const isOverdue = ({ gates }: SavedGates, now: number): boolean =>
  Object.values(gates).some(
    ({ begunAt, timeoutMs, ended }) => ended === undefined && begunAt !== null && now >= begunAt + timeoutMs,
  );

/**
 * Returns the state as the next slice begins with it. A gate that did not fail reads its run again: only the service says that it
 * passed. If the clock was set back, the times are counted from now on, since no slice must wait longer for that.
 */
export function continued<State extends SavedGates>(state: State, now: number): State {
  const ahead = Math.max(0, state.savedAt - now);
  const gates = Object.entries(state.gates).map(([name, gate]): [string, SavedGate] => [
    name,
    {
      ...gate,
      ended: gate.ended?.result === 'fail' ? gate.ended : undefined,
      begunAt: gate.begunAt && gate.begunAt - ahead,
      chain: gate.chain && withRun(gate.chain, (run) => shifted(run, ahead)),
    },
  ]);
  const { startedAt, endsAt } = state;
  return {
    ...state,
    startedAt: startedAt - ahead,
    endsAt: endsAt - ahead,
    savedAt: now,
    gates: Object.fromEntries(gates),
  };
}

/** Returns the runs that go on, as far as they are known. */
export const liveRuns = ({ gates }: SavedGates): KnownRun[] =>
  Object.values(gates).flatMap(({ ended, chain }) => (ended === undefined ? (chain?.link.run ?? []) : []));
