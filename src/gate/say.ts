import type { NameOf } from '../errors.ts';
import type { Event } from './decide.ts';
import type { LiveGate } from './effect-tools.ts';
import type { Emit } from './events.ts';
import { hasRetryLeft } from './keys.ts';
import { endedUnseen } from './reads.ts';
import type { DiscardedRun } from './result-types.ts';
import { type GateState, type PastRun, type RunState, retriesIn } from './state.ts';
import { named, subjectOf, type WatchedRun, watch } from './watched-run.ts';

export interface SayTools {
  gateOf(name: string): LiveGate;
  /** Returns the monotonic time of a wall time in the state. */
  monotonic(at: number): number;
  now(): number;
  /** The runs as the live view shows them, by id. */
  watched: Map<string, WatchedRun>;
  nameOf: NameOf;
}

export function discardedRun({ run, trust, verdict }: PastRun, nameOf: NameOf): DiscardedRun {
  const reason =
    trust === 'shared'
      ? 'this job may have started it before the re-run'
      : `another job with the same idempotency key may have started it; give each such job its own ${nameOf('idempotencySalt')}`;
  return { runId: run.id, appUrl: run.appUrl, idempotencyKey: run.key ?? '', verdict, reason };
}

/** Tells reporters what an event has changed in a gate. */
export function sayGate(
  event: Event,
  name: string,
  before: GateState,
  after: GateState,
  tools: SayTools,
): void {
  const live = tools.gateOf(name);
  const { emit } = live;
  sayRequest(before, after, live);
  if (event.type === 'created' && event.gate === name) sayCreated(event, before, after, live, tools);
  const runs = [...after.past.map(({ run }) => run), ...(after.run === null ? [] : [after.run])];
  for (const run of runs) {
    const earlier = [before.run, ...before.past.map((past) => past.run)].find((old) => old?.id === run.id);
    if (earlier !== undefined && earlier !== null) sayRun(event, earlier, run, after, live, tools);
  }
  for (const past of after.past.slice(before.past.length)) sayLeft(past, after, emit, tools);
  if (before.end === null && after.end !== null) sayEnd(after, emit);
}

function sayRequest({ key: before }: GateState, state: GateState, { gate, emit }: LiveGate): void {
  const { key: after } = state;
  const known = before?.key === after?.key ? (before?.requests ?? 0) : 0;
  if (after === null || known !== 0 || after.requests !== 1 || gate.start === undefined) return;
  emit({ type: 'triggering', key: after.key, past: state.past, body: gate.start.body });
}

function sayCreated(
  { run: runId, appUrl, replayed }: Extract<Event, { type: 'created' }>,
  before: GateState,
  { run, past, rules }: GateState,
  { gate, emit, hub }: LiveGate,
  { monotonic, watched }: SayTools,
): void {
  const { key } = before;
  if (key === null || gate.start === undefined) return;
  const reattached = run === null ? replayed : run.reattached;
  const startedAt = monotonic(run?.since ?? key.sentAt ?? 0);
  emit({ type: 'received', key: key.key, runId });
  if (run?.id !== runId) {
    emit({ type: 'settled', runId });
    return;
  }
  emit({ type: 'created', runId, appUrl, reattached });
  const shown = shownRun(gate, run, past, startedAt);
  watched.set(runId, shown);
  if (!rules.waits) return;
  emit({ type: 'watch', runs: [shown] });
  void hub?.watch([runId]);
}

/**
 * Tells reporters of the runs that earlier commands started.
 * @param states those of one gate
 */
export function sayKnown(
  states: readonly GateState[],
  { gate, emit, hub }: LiveGate,
  { watched, monotonic }: SayTools,
): void {
  const runs = states.flatMap(({ run, past }, index) =>
    run === null ? [] : [shownRun(gate, run, past, monotonic(run.since), index)],
  );
  for (const run of runs) watched.set(run.runId, run);
  emit({ type: 'watch', runs });
  void hub?.watch(runs.map(({ runId }) => runId));
}

/** Returns a run as the live view shows it. `index`: among the existing runs of the gate. */
function shownRun(
  { start, names }: LiveGate['gate'],
  { id, appUrl }: RunState,
  past: readonly PastRun[],
  startedAt: number,
  index = 0,
): WatchedRun {
  return watch(id, startedAt, {
    subject: start === undefined ? named(names?.[index]) : subjectOf(start.body),
    appUrl,
    retry: retriesIn(past),
  });
}

function sayRun(
  event: Event,
  before: RunState,
  run: RunState,
  gate: GateState,
  live: LiveGate,
  { watched, monotonic, now }: SayTools,
): void {
  const { emit } = live;
  const runId = run.id;
  const shown = watched.get(runId);
  if (shown !== undefined) update(shown, run, monotonic);
  // The reads of a run that is only started are nobody's concern.
  if (!gate.rules.waits) return;
  const isLast = run.outcome !== null;
  const nextMs = isLast ? null : run.due - now();
  if (event.type === 'read' && event.run === runId && before.reads !== run.reads) {
    const { state, failed, blocked } = event.reading;
    const isUnknown = event.reading.kind === 'running' && !event.reading.known;
    const wasUnknown = before.unknown;
    if (isUnknown && !wasUnknown) emit({ type: 'unknown-state', runId, state: String(state) });
    const { appUrl, reads: attempts, readWoken: woken } = run;
    emit({ type: 'read', runId, state, failed, blocked, appUrl, attempts, nextMs, woken });
  }
  if (event.type === 'read-failed' && event.run === runId && event.why !== 'cut' && live.error !== null)
    emit({ type: 'trouble', runId, error: live.error, attempts: run.reads, nextMs });
  const hasEnded = (one: RunState) => one.outcome?.ended === true;
  const isCancelled = run.cancel === 'accepted' && before.cancel !== 'accepted';
  if ((hasEnded(run) && !hasEnded(before)) || (isCancelled && gate.run?.outcome === null))
    emit({ type: 'settled', runId });
}

function update(shown: WatchedRun, run: RunState, monotonic: (at: number) => number): void {
  shown.attempts = run.reads;
  shown.seen = run.seen;
  shown.hasTrouble = run.trouble !== null;
  shown.due = monotonic(run.due);
  shown.appUrl = run.appUrl;
  shown.verdict = run.outcome?.verdict ?? null;
  shown.endedAt = run.endedAt === null ? null : monotonic(run.endedAt);
  shown.woken = run.woken;
}

/** The gate has left a run: it is retried, or was passed over. */
function sayLeft(past: PastRun, { rules, past: all }: GateState, emit: Emit, { nameOf }: SayTools): void {
  if (!past.mine) {
    if (!rules.waits) emit({ type: 'settled', runId: past.run.id });
    emit({ type: 'discarded', ...discardedRun(past, nameOf) });
    return;
  }
  const { id: runId, seen } = past.run;
  const { failed = null, blocked = null } = seen ?? {};
  emit({ type: 'next-run', runId, failed, blocked, retry: retriesIn(all), retries: rules.retries });
}

const noTime = {
  type: 'note',
  message: 'the run failed, and the timeout leaves no time for a retry',
} as const;

function sayEnd(gate: GateState, emit: Emit): void {
  const { run, past, error, end } = gate;
  const isFailed =
    run === null
      ? error === 'late' && retriesIn(past) > 0
      : run.outcome?.verdict === 'failed' && !endedUnseen(run) && end?.by === null && hasRetryLeft(gate);
  if (isFailed) emit(noTime);
}
