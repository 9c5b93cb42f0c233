import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { SeenBuild } from '../gate/deployed/reads.ts';
import type { KeyOrigin, KeyStep, KnownRun } from '../gate/events.ts';
import type { PlannedGate } from '../gate/plan/plan.ts';
import type { DiscardedRun, NamedGateReport, RunReport } from '../gate/result-types.ts';
import type { Redact } from '../redact.ts';

/** A key, with the run that a slice has started with it. Times in milliseconds since the epoch. */
export interface SavedKey {
  key: string;
  origin: KeyOrigin;
  retry?: number | undefined;
  /** A request with it may have arrived. */
  sent?: true;
  run?: KnownRun;
}

export interface SavedGate {
  /** The body of the first slice: git may be at another commit now. */
  body: TriggerBody | undefined;
  /** Null before the gate begins. */
  begunAt: number | null;
  /** The keys that are left, from the one of the last run on. */
  keys: SavedKey[];
  /** The runs that failed, of which the gate continues the retries. */
  failed: readonly RunReport[];
  discarded: DiscardedRun[];
  doubt: boolean;
  ended?: NamedGateReport;
}

/** The progress of a gate, or of several, over the slices so far: everything that the next one needs, and no secret. */
export interface SavedGates {
  /** Random: the same in all slices. */
  id: string;
  /** A hash of the service and the bodies. Another request does not go on with these gates. */
  request: string;
  /** The start of the first slice. */
  startedAt: number;
  /** The last timeout of a gate that has begun. */
  endsAt: number;
  /** A command has reported the verdict: only `--resume` reads it again. */
  reported?: true;
  gates: Record<string, SavedGate>;
  build?: SeenBuild;
}

export function hasSecret(body: TriggerBody | undefined, redact: Redact): boolean {
  const text = JSON.stringify(body) ?? '';
  return redact(text) !== text;
}

/** @param waits whether the gate first waits for its needs or a deployment: its timeout begins afterwards */
export function newGates<Gate extends PlannedGate>(
  { id, request, startedAt }: Pick<SavedGates, 'id' | 'request' | 'startedAt'>,
  gates: readonly Gate[],
  waits: (gate: Gate) => boolean,
  redact: Redact,
): SavedGates {
  const saved = gates.map((gate): [string, SavedGate] => [
    gate.name,
    {
      // A body that has a secret in it is not kept.
      body: hasSecret(gate.start?.body, redact) ? undefined : gate.start?.body,
      keys: savedKeys(gate.start?.keys ?? []),
      // A slice that is killed before it can save this must not lengthen the timeout.
      begunAt: waits(gate) ? null : startedAt,
      failed: [],
      discarded: [],
      doubt: false,
    },
  ]);
  const longest = Math.max(...gates.map(({ timeoutMs }) => timeoutMs));
  return { id, request, startedAt, endsAt: startedAt + longest, gates: Object.fromEntries(saved) };
}

/** A random key is known to the slices of this gate only, as one that the user gives. */
export const savedKeys = (keys: readonly KeyStep[]): SavedKey[] =>
  keys.map(({ key, origin, retry }) => ({
    key,
    origin: origin === 'random' ? 'user' : origin,
    ...(retry !== undefined && { retry }),
  }));

/** A slice that begins after the timeout still reads its run: it may have ended in time. */
const lastReadMs = 10_000;

const shifted = ({ startedAt, endedAt, ...run }: KnownRun, by: number): KnownRun => ({
  ...run,
  startedAt: startedAt - by,
  endedAt: endedAt && endedAt - by,
});

/** Returns the gate as the next slice runs it. */
export function goingOn<Gate extends PlannedGate>(gate: Gate, { gates }: SavedGates, clock: Clock): Gate {
  const saved = gates[gate.name];
  if (saved === undefined || gate.start === undefined) return gate;
  const { body = gate.start.body, begunAt, failed, discarded, doubt, ended } = saved;
  const limit = begunAt === null ? Number.POSITIVE_INFINITY : begunAt + gate.timeoutMs;
  // A run that ended unseen counts as ended at the timeout, not when somebody asks for its verdict, perhaps a day later.
  const unseenEnd = limit < clock.now() ? limit : undefined;
  const keys = saved.keys.map(({ run, ...key }) => ({
    ...key,
    how: 'from an earlier slice',
    run: run && shifted({ ...run, endedAt: run.endedAt ?? unseenEnd }, clock.now() - clock.monotonic()),
  }));
  const leastMs = keys.some(({ run }) => run !== undefined) ? lastReadMs : 0;
  // A clock that was set back does not lengthen the timeout.
  const leftMs = begunAt === null ? null : Math.min(gate.timeoutMs, limit - clock.now());
  return {
    ...gate,
    ended,
    start: { ...gate.start, body, keys },
    soFar: { failed, discarded, doubt },
    deadline: leftMs === null ? undefined : clock.monotonic() + Math.max(leftMs, leastMs),
  };
}

/** Counts the times from now on if the clock of this machine was set back behind the start: no slice must wait longer for that. */
export function inThisClock(state: SavedGates, now: number): SavedGates {
  const ahead = Math.max(0, state.startedAt - now);
  if (ahead === 0) return state;
  const gates = Object.entries(state.gates).map(([name, { begunAt, keys, ...gate }]): [string, SavedGate] => [
    name,
    {
      ...gate,
      begunAt: begunAt && begunAt - ahead,
      keys: keys.map((key) => (key.run === undefined ? key : { ...key, run: shifted(key.run, ahead) })),
    },
  ]);
  return { ...state, startedAt: now, endsAt: state.endsAt - ahead, gates: Object.fromEntries(gates) };
}

/** Returns the runs that go on, as far as they are known. */
export const liveRuns = ({ gates }: SavedGates): KnownRun[] =>
  Object.values(gates).flatMap(({ ended, keys }) =>
    ended === undefined ? keys.flatMap(({ run }) => run ?? []).slice(-1) : [],
  );
