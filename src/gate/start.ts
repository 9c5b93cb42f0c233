import { ceilings } from '../client/rate-limit.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import {
  RungateError,
  type Say,
  type StoppedError,
  sayId,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts';
import { type CreatedRun, type CreateTools, type Creation, createRun, type StartTimes } from './create.ts';
import type { KeyStep, KnownRun } from './events.ts';
import { turnToCreate } from './fleet/turns.ts';
import { judge, type Policy } from './policy.ts';
import type { RunOutcome } from './poll.ts';
import type { DiscardedRun, StartedRun } from './result-types.ts';
import { subjectOf } from './watched-run.ts';

export interface Start {
  body: TriggerBody;
  /**
   * Used in order. The next one is used only if the run of the last one had ended before its first status read, or for a retry.
   */
  keys: readonly KeyStep[];
  /** The ids of the runs that the gate has judged. None of them is the run of a retry. */
  judged?: readonly string[] | undefined;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  /** Waits until a run can be created, with its own limit. After the first time it returns at once. */
  ready?(signal: AbortSignal): Promise<void>;
  /**
   * Creates what a run needs, within the gate's timeout. After the first time it returns at once.
   * @param turn waits for the turn of a request that creates something; false: it comes too late
   */
  prepare?(turn: () => Promise<boolean>, signal: AbortSignal): Promise<void>;
}

export interface Candidate {
  step: KeyStep;
  run: CreatedRun;
  /** Whether an earlier request with the same key started it. */
  reattached: boolean;
  /** Whether another job may have started it. If it has ended before its first clear read, it cannot pass the gate. */
  doubtful: boolean;
  /** The number of failed runs of this gate that this start found before it. */
  earlier: number;
  /** How long the rate limit delayed the requests of this start, in milliseconds. */
  limitedMs: number;
}

export interface StartTools extends CreateTools {
  policy: Policy;
  /** Names options in errors; default: by their ids. */
  say?: Say | undefined;
  /** Throws if the run belongs to another gate of this process. */
  claim?: ((runId: string) => void) | undefined;
  /**
   * Reads the run or waits for it. Returns the outcome of a doubtful run that had ended before its first clear status read, or
   * null. The default reads a doubtful run once.
   */
  endedEarly?(candidate: Candidate): Promise<RunOutcome | null>;
}

/** A run that was started or found again. */
export type StartedCandidate = { kind: 'started' } & Before & Candidate;

interface Before {
  discarded: DiscardedRun[];
  /** The runs that had failed at their first read, and of which this start continues the retries. */
  failed: DiscardedRun[];
  /** A discarded run failed and may have been this gate's, so a pass is flaky. */
  doubt: boolean;
}

/** `none`: no run was created. `unknown`: one may have been. `late`: its turn in a limit came too late. */
export type Started = StartedCandidate | ({ kind: 'none' | 'unknown' | 'late'; step: KeyStep } & Before);

export function reportStarted(
  body: TriggerBody,
  { run, step, reattached, discarded }: StartedCandidate,
): StartedRun {
  const { runId, appUrl, response = null } = run;
  return {
    schemaVersion: 1,
    runId,
    ...subjectOf(body),
    appUrl,
    idempotencyKey: step.key,
    reattached,
    response,
    ...(discarded.length > 0 && { discarded }),
  };
}

/** The limit for the first read of a run without `--wait`, including retries, in milliseconds. */
const firstReadTimeoutMs = 60_000;
/** The wait between the first reads of a run without `--wait`, while they do not show whether it has ended. */
const unclearMs = 10_000;

async function readIfDoubtful(
  { run, doubtful }: Candidate,
  deadline: number,
  { service, clock, signal }: StartTools,
): Promise<RunOutcome | null> {
  if (!doubtful || signal.aborted) return null;
  try {
    const limitTimeoutMs = Math.max(firstReadTimeoutMs, deadline - clock.monotonic());
    const options = { signal, timeoutMs: firstReadTimeoutMs, limitTimeoutMs };
    return await service.readEnd(run.runId, options, () => clock.sleep(unclearMs, signal));
  } catch (error) {
    if (!signal.aborted) throw error;
    return null;
  }
}

/** Nothing is sent for it: an earlier slice has its response. */
const created = ({ runId, appUrl, startedAt }: KnownRun): CreatedRun => ({
  kind: 'created',
  runId,
  appUrl,
  replayed: false,
  sentAt: startedAt,
  requests: 0,
  limitedMs: 0,
  response: null,
  responseText: '',
});

function candidateOf(step: KeyStep, run: CreatedRun, earlier: number, limitedMs: number): Candidate {
  const { origin } = step;
  const { replayed, requests } = run;
  // Only a lost request of this call can have used a random key.
  const repeated = replayed === true && !(origin === 'random' && requests > 1);
  return {
    step,
    run,
    earlier,
    limitedMs,
    reattached:
      step.run?.reattached ?? (repeated || (replayed === null && ['earlier', 'journal'].includes(origin))),
    doubtful: origin !== 'user' && replayed !== false && (origin !== 'random' || repeated),
  };
}

/** Returns the error of a start whose create would have come too late, perhaps since it discarded runs first. */
export function lateError(timeoutMs: number, hub: boolean, discarded: readonly DiscardedRun[]): TimeoutError {
  const timeout = `the timeout of ${formatDuration(timeoutMs)}`;
  if (discarded.length > 0)
    return new TimeoutError(
      `no new run was created after the discarded one: too little is left of ${timeout}`,
      {
        hint: 'set a longer timeout',
      },
    );
  return new TimeoutError(
    hub
      ? `no run was created: the hub did not grant it within ${timeout}`
      : `no run was created: its turn in the limit of ${ceilings.creates} a minute comes too late for ${timeout}`,
    { hint: 'set a longer timeout, or start fewer gates at the same time' },
  );
}

/** Whether an earlier slice has created a run of the gate, or may have. */
export const goesOn = ({ start }: { start?: Pick<Start, 'keys'> | undefined }) =>
  start?.keys.some(({ run, sent }) => run !== undefined || sent === true) === true;

/** Whether something other than the end of a slice has stopped the gate. */
const isStopped = ({ aborted, reason }: AbortSignal) =>
  aborted && (reason as StoppedError).signal !== 'slice';

/** Returns the error of a gate that has no time left to look for the run that an earlier slice may have created. */
export const lostError = (timeoutMs: number, key: string) =>
  new TimeoutError(
    `the timeout of ${formatDuration(timeoutMs)} was reached before the run was found: one may exist with the idempotency key ${key}`,
    { hint: 'look for it on the page of the project' },
  );

/** A run of this gate cannot have ended so soon after it was created, in milliseconds. */
const soonestMs = 5_000;

/**
 * Starts a run, or attaches to one that this job left in progress before its re-run.
 *
 * A doubtful run that had ended before its first clear status read can fail the gate, but never pass it. Under a key that only
 * this re-run of the job could have used, a verdict that fails the gate is the gate's. In every other case the run is discarded, and the
 * next key is used. If it had failed, and the run of its retry has not ended, it was an earlier run of this gate.
 */
export async function startOrAttach(start: Start, times: StartTimes, tools: StartTools): Promise<Started> {
  const last: LastKey = {};
  try {
    return await startWithKeys(start, times, tools, last);
  } catch (error) {
    if (error instanceof RungateError)
      error.word(tools.say).facts = {
        ...error.facts,
        idempotencyKey: last.key,
        ...(last.hasRun && { runMayExist: true }),
      };
    throw error;
  }
}

/** The key in use, and whether a run of it may go on. */
interface LastKey {
  key?: string;
  hasRun?: boolean;
}

/** @param last changes in place */
async function startWithKeys(
  start: Start,
  times: StartTimes,
  tools: StartTools,
  last: LastKey,
): Promise<Started> {
  const { body, idPointer, judged = [] } = start;
  const { clock, emit, claim, policy, say = sayId, signal } = tools;
  const before: Before = { discarded: [], failed: [], doubt: false };
  let [mayRetry, limitedMs] = [true, 0];
  const discardFailed = () => {
    for (const run of before.failed) emit?.({ type: 'discarded', ...run });
    before.discarded.push(...before.failed);
    before.failed = [];
  };
  const { endedEarly = (run) => readIfDoubtful(run, times.deadline, tools) } = tools;
  for (const step of start.keys) {
    const { key: idempotencyKey, retry = 0, origin, run: known } = step;
    if (retry > 0 && !mayRetry) continue;
    if (retry === 0) discardFailed();
    // A stop cancels the run that an earlier slice may have created, so it looks for it.
    const isSought = () => step.sent === true && isStopped(signal);
    if (known === undefined && !(await turnToCreate(times.latest, tools)) && !isSought()) {
      discardFailed();
      return { kind: signal.aborted ? 'none' : 'late', step, ...before };
    }
    last.key = idempotencyKey;
    let creation: Creation;
    if (known === undefined) {
      emit?.({ type: 'triggering', step, body });
      creation = await createRun({ body, idPointer, idempotencyKey, sent: step.sent }, times, tools);
    } else creation = created(known);
    if (creation.kind !== 'created') return { kind: creation.kind, step, ...before };
    const { runId, appUrl, sentAt } = creation;
    last.hasRun = true;
    limitedMs += creation.limitedMs;
    const candidate = candidateOf(step, creation, before.failed.length, limitedMs);
    const { reattached, doubtful } = candidate;
    emit?.({ type: 'received', step, run: { runId, appUrl, reattached, startedAt: sentAt }, own: !doubtful });
    claim?.(runId);
    // A service that ignores the keys returns the same run for each. It is not read again, since its state may be stale.
    if ([...judged, ...[...before.discarded, ...before.failed].map((run) => run.runId)].includes(runId)) {
      emit?.({ type: 'settled', runId });
      if (signal.aborted) return { kind: 'none', step, ...before };
      mayRetry = false;
      last.hasRun = false;
      continue;
    }
    emit?.({ type: 'created', runId, appUrl, reattached: reattached || known !== undefined });
    const outcome = await endedEarly(candidate);
    const isOwnKey = origin !== 'earlier';
    if (outcome === null || (isOwnKey && judge(outcome.verdict, policy).action === 'fail'))
      return { kind: 'started', ...before, ...candidate };
    last.hasRun = false;
    emit?.({ type: 'settled', runId });
    const { verdict } = outcome;
    const reason = isOwnKey
      ? `another job with the same idempotency key may have started it; give each such job its own ${say('idempotencySalt')}`
      : 'this job may have started it before its re-run';
    before.failed.push({ runId, appUrl, idempotencyKey, verdict, reason });
    const late = clock.monotonic() - creation.sentAt > soonestMs;
    if (!isOwnKey && late && (verdict === 'failed' || verdict === 'blocked')) {
      before.doubt = true;
      emit?.({ type: 'doubt' });
    }
    mayRetry = verdict === 'failed';
    if (!mayRetry) discardFailed();
  }
  discardFailed();
  throw new UnexpectedResponseError(
    'the service returns a run that has already ended for every idempotency key, even for a random one',
    { field: 'runId', expected: 'a new run', received: 'a run that has ended' },
  );
}
