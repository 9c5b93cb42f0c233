/** A detached gate, as far as it is known without its key. `commit` and `context` name its commit status. */
export interface DetachedNames {
  id: string;
  /** `owner/name`. */
  repository: string;
  commit: string;
  context: string;
}

/** A detached gate, as a job hands it to the hub. */
export interface DetachedSave {
  /** Its state, which only a job with the same API key can read. */
  sealed: string;
  /** The runs whose deliveries start a job. */
  runs: readonly string[];
  /** The time until its timeout, in milliseconds. */
  endsInMs: number;
  /** Its commit status is set. */
  done: boolean;
  /** The job ends, and the gate goes on without one. */
  released: boolean;
}

/** A detached gate, as the hub keeps it, without its sealed state. Wall times of the hub, in milliseconds. Plain JSON. */
export interface DetachedGate extends DetachedNames {
  /** The branch on which the job runs that goes on with it. */
  ref: string;
  /** The pull request, whose newer gate replaces this one; null where none does. */
  pull: string | null;
  /** Grows from event to event of the pull request: the job of an older commit may start last. */
  order?: number | undefined;
  /** The beginning of the id: the same for every commit and in a re-run, and another one for a gate that tests something else. */
  kind?: string | undefined;
  registeredAt: number;
  runs: readonly string[];
  endsAt: number;
  done: boolean;
  /** The gate that has replaced it. */
  replacedBy: string | null;
  /** The job that goes on with it, by a random text that only that job has. `until` is 0 once the job has handed it over. */
  lease: { job: string; until: number } | null;
  /** Until then, that job may set the commit status. */
  decidesUntil: number;
  /** Deliveries that name a run count from this time on. */
  heardFrom: number;
  /** The time of a delivery that named one of its runs. */
  namedAt: number | null;
  /** The jobs that were started for it since a job has last handed it over, and the time of the last. */
  starts: { count: number; at: number };
  /** The starts that failed since a job has last come, and the time until the next one. */
  failed: { count: number; until: number };
}

/** A job renews its lease every minute. */
export const leaseMs = 3 * 60_000;
/** The time in which a job sets a commit status, and then that for a last request on its way. */
export const decideMs = 45_000;
const onItsWayMs = 15_000;
/** After this time without a job that goes on, another one is started. */
export const repeatMs = 10 * 60_000;
export const mostRepeats = 3;
/** A start that failed is repeated after this time, then after twice as long, up to `repeatMs`. */
const failedMs = 60_000;
const noneFailed = { count: 0, until: 0 };
/** A gate stays as long after its timeout. */
export const keptMs = 24 * 60 * 60_000;
/** A job saves at most so long after the read that made it save. */
const hearingMs = 5_000;

export type Refusal = 'unknown' | 'replaced' | 'leased' | 'done' | 'other';

/** Returns a gate that a job registers, which goes on with it. */
export function registered(
  names: DetachedNames & Pick<DetachedGate, 'ref' | 'pull' | 'order' | 'kind'>,
  { runs, endsInMs }: Pick<DetachedSave, 'runs' | 'endsInMs'>,
  job: string,
  now: number,
): DetachedGate {
  return {
    ...names,
    registeredAt: now,
    runs,
    endsAt: now + endsInMs,
    done: false,
    replacedBy: null,
    lease: { job, until: now + leaseMs },
    decidesUntil: 0,
    heardFrom: now,
    namedAt: null,
    starts: { count: 0, at: 0 },
    failed: noneFailed,
  };
}

export const isOpen = ({ done, replacedBy }: DetachedGate) => !done && replacedBy === null;

/** GitHub compares the names of repositories and of statuses without case. */
export const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const isSameStatus = (one: DetachedNames, other: DetachedNames) =>
  isSame(one.repository, other.repository) && isSame(one.context, other.context);

/** Returns whether different gates would set the same commit status: one would hide the verdict of the other. */
export const collides = (one: DetachedGate, other: DetachedGate): boolean =>
  isSameStatus(one, other) && one.commit === other.commit && one.kind !== other.kind;

/** Returns whether the second gate counts instead of the first: both decide the same commit status, or the same pull request. */
export function precedes(older: DetachedGate, newer: DetachedGate): boolean {
  const isSameGate = isSameStatus(older, newer) && older.kind === newer.kind;
  const isSamePull = older.pull !== null && older.pull === newer.pull;
  const [before, after] = [older.order ?? 0, newer.order ?? 0];
  const isOlder =
    older.commit !== newer.commit && before !== after
      ? before < after
      : older.registeredAt < newer.registeredAt ||
        (older.registeredAt === newer.registeredAt && older.id < newer.id);
  return isSameGate && (isSamePull || older.commit === newer.commit) && isOlder;
}

export const replaces = (older: DetachedGate, newer: DetachedGate) => isOpen(older) && precedes(older, newer);

/** Returns the gate as it is replaced; null while its job may be setting the commit status. */
export function replaced(gate: DetachedGate, by: string, now: number): DetachedGate | null {
  if (now < gate.decidesUntil) return null;
  return { ...gate, replacedBy: by, lease: null };
}

const isLeased = ({ lease }: DetachedGate, now: number) => lease !== null && now < lease.until;

/** Lets a job go on with a gate. */
export function fetched(gate: DetachedGate, job: string, now: number): DetachedGate | Refusal {
  if (gate.replacedBy !== null) return 'replaced';
  // Its commit status may be that of a newer gate by now, which has not replaced it.
  if (gate.done) return 'done';
  if (isLeased(gate, now) && gate.lease?.job !== job) return 'leased';
  return { ...gate, lease: { job, until: now + leaseMs }, heardFrom: now, failed: noneFailed };
}

/** A lease that has expired lasts until another job comes. */
const isHolder = ({ lease }: DetachedGate, job: string) => lease?.job === job && lease.until > 0;

/** Keeps what a job that goes on with the gate hands over. */
export function saved(
  gate: DetachedGate,
  { runs, endsInMs, done, released }: DetachedSave,
  job: string,
  now: number,
): DetachedGate | Refusal {
  if (gate.replacedBy !== null) return 'replaced';
  // The response to the first request was lost. A delivery may have come since.
  if (released && gate.lease?.job === job && gate.lease.until === 0) return gate;
  if (!isHolder(gate, job)) return 'leased';
  // A late request of the job opens nothing again, and lets no newer gate begin.
  if (gate.done) return gate;
  const decidesUntil = done || released ? 0 : gate.decidesUntil;
  const kept = { ...gate, runs, endsAt: now + endsInMs, done, decidesUntil };
  // A delivery may have come between the last read and the save after it.
  const heardFrom = released ? gate.heardFrom : Math.max(gate.heardFrom, now - hearingMs);
  if (!released) return { ...kept, lease: { job, until: now + leaseMs }, heardFrom };
  const namedAt = gate.namedAt !== null && gate.namedAt >= heardFrom ? gate.namedAt : null;
  // After the timeout, a job that hands over could not set the commit status: the repeats go on.
  const starts = endsInMs > 0 ? { count: 0, at: 0 } : gate.starts;
  return { ...kept, lease: { job, until: 0 }, heardFrom, namedAt, starts };
}

/** Lets the job that goes on with the gate set the commit status: no newer gate begins meanwhile. */
export function deciding(gate: DetachedGate, job: string, now: number): DetachedGate | Refusal {
  if (gate.replacedBy !== null) return 'replaced';
  if (!isHolder(gate, job)) return 'leased';
  return { ...gate, lease: { job, until: now + leaseMs }, decidesUntil: now + decideMs + onItsWayMs };
}

/** Returns the time at which a job is to be started for the gate, or null. */
export function startAt(gate: DetachedGate): number | null {
  if (!isOpen(gate)) return null;
  const { lease, endsAt, namedAt, starts, failed } = gate;
  const free = Math.max(lease?.until ?? 0, failed.until);
  // A job that ended without a word may not have started a run: no delivery would come.
  const lostAt = lease !== null && lease.until > 0 ? lease.until : endsAt;
  if (starts.count === 0) return Math.max(free, Math.min(namedAt ?? endsAt, lostAt, endsAt));
  if (starts.count <= mostRepeats) return Math.max(free, starts.at + repeatMs);
  // Its timeout is another reason.
  return starts.at < endsAt ? Math.max(free, endsAt) : null;
}

export const started = (gate: DetachedGate, now: number): DetachedGate => ({
  ...gate,
  // The repeats count again once its timeout has come.
  starts: {
    count: now >= gate.endsAt && gate.starts.at < gate.endsAt ? 1 : gate.starts.count + 1,
    at: now,
  },
});

/** Returns the gate after a start that failed, which does not count. @param before the gate before that start */
export const startFailed = (gate: DetachedGate, before: DetachedGate, now: number): DetachedGate => ({
  ...gate,
  starts: before.starts,
  failed: {
    count: gate.failed.count + 1,
    until: now + Math.min(failedMs * 2 ** gate.failed.count, repeatMs),
  },
});

/** Returns the gate after a delivery that named one of its runs. */
export const named = (gate: DetachedGate, at: number): DetachedGate =>
  at < gate.heardFrom || gate.namedAt !== null ? gate : { ...gate, namedAt: at };

/** Returns whether a gate can be continued by any job: it is open, and no job goes on with it. */
export const isPending = (gate: DetachedGate, now: number): boolean => isOpen(gate) && !isLeased(gate, now);

export const isForgotten = ({ endsAt }: DetachedGate, now: number): boolean => now >= endsAt + keptMs;
