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
import type { KeyChain, KeyStep, KnownRun } from './events.ts';
import { turnToCreate } from './fleet/turns.ts';
import { judge, type Policy } from './policy.ts';
import type { RunOutcome } from './poll.ts';
import type { DiscardedRun, StartedRun } from './result-types.ts';
import { subjectOf } from './watched-run.ts';

export interface Start {
  body: TriggerBody;
  /** The next key is used only if the run of the last one had ended before its first status read, or for a retry. */
  chain: KeyChain;
  /** The ids of the runs that the gate has judged or discarded. None of them is a new run. */
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
export type StartedCandidate = Walked &
  Candidate & {
    kind: 'started';
    /** An earlier run of the gate failed, or may have, so a pass is flaky. */
    doubt: boolean;
  };

/** The link of the last key, and the runs that were discarded before it. */
interface Walked {
  chain: KeyChain;
  discarded: DiscardedRun[];
}

/** `none`: no run was created. `unknown`: one may have been. `late`: its turn in a limit came too late. */
export type Started = StartedCandidate | (Walked & { kind: 'none' | 'unknown' | 'late' });

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

/** Whether the run of a link that this job may have used before is the retry of one that was discarded, as far as their number tells. */
const isRetry = ({ link, failures, retries }: KeyChain) =>
  link.trust === 'shared' && failures % (1 + retries) > 0;

function candidateOf(chain: KeyChain, run: CreatedRun, limitedMs: number): Candidate {
  const { link, at, attempt, retries } = chain;
  const { trust, open = false } = link;
  const { replayed, requests } = run;
  // Only a lost request of this call can have used a random key.
  const repeated = replayed === true && !(trust === 'random' && requests > 1);
  // A service that does not say so probably repeats the response if the job has used so many keys before its re-run.
  const isUsed = trust === 'shared' && at < ((attempt ?? 2) - 1) * (1 + retries);
  return {
    step: link,
    run,
    limitedMs,
    reattached:
      link.run?.reattached ?? (repeated || (replayed === null && (open || isUsed || isRetry(chain)))),
    doubtful: trust !== 'given' && replayed !== false && (trust !== 'random' || repeated),
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
export const goesOn = ({ start }: { start?: Pick<Start, 'chain'> | undefined }) =>
  start?.chain.link.run !== undefined || start?.chain.link.sent === true;

/** Whether something other than the end of a slice has stopped the gate. */
const isStopped = ({ aborted, reason }: AbortSignal) =>
  aborted && (reason as StoppedError).signal !== 'slice';

/** Returns the error of a gate that has no time left to look for the run that an earlier slice may have created. */
export const lostError = (timeoutMs: number, key: string) =>
  new TimeoutError(
    `the timeout of ${formatDuration(timeoutMs)} was reached before the run was found: one may exist with the idempotency key ${key}`,
    { hint: 'look for it on the page of the project' },
  );

/**
 * Starts a run, or attaches to one that this job left in progress before its re-run.
 *
 * A doubtful run that had ended before its first clear status read can fail the gate, but never pass it. Under a key that the job
 * cannot have used before its re-run, a verdict that fails the gate is the gate's. In every other case the run is discarded, and
 * the next key is used.
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

/** Returns the run of a key. @param last changes in place */
async function createWith(
  step: KeyStep,
  { body, idPointer }: Start,
  times: StartTimes,
  tools: StartTools,
  last: LastKey,
): Promise<Creation | { kind: 'late' }> {
  const { key: idempotencyKey, sent, run } = step;
  const { emit, signal } = tools;
  if (run === undefined && !(await turnToCreate(times.latest, tools))) {
    // A stop cancels the run that an earlier slice may have created, so it looks for it.
    const isSought = sent === true && isStopped(signal);
    if (!isSought) return { kind: signal.aborted ? 'none' : 'late' };
  }
  last.key = idempotencyKey;
  if (run !== undefined) return created(run);
  emit?.({ type: 'triggering', step, body });
  return createRun({ body, idPointer, idempotencyKey, sent }, times, tools);
}

function discardedRun(
  { step: { key, trust }, run: { runId, appUrl } }: Candidate,
  { verdict }: RunOutcome,
  say: Say,
): DiscardedRun {
  const reason =
    trust === 'shared'
      ? 'this job may have started it before its re-run'
      : `another job with the same idempotency key may have started it; give each such job its own ${say('idempotencySalt')}`;
  return { runId, appUrl, idempotencyKey: key, verdict, reason };
}

/** @param last changes in place */
async function startWithKeys(
  start: Start,
  times: StartTimes,
  tools: StartTools,
  last: LastKey,
): Promise<Started> {
  const { judged = [] } = start;
  const { clock, emit, claim, policy, say = sayId, signal } = tools;
  const { endedEarly = (run) => readIfDoubtful(run, times.deadline, tools) } = tools;
  const discarded: DiscardedRun[] = [];
  let limitedMs = 0;
  for (let chain: KeyChain | null = start.chain; chain !== null; ) {
    const { link }: KeyChain = chain;
    const creation = await createWith(link, start, times, tools, last);
    if (creation.kind !== 'created') return { kind: creation.kind, chain, discarded };
    const { runId, appUrl, sentAt } = creation;
    last.hasRun = true;
    limitedMs += creation.limitedMs;
    const candidate = candidateOf(chain, creation, limitedMs);
    const { reattached, doubtful } = candidate;
    emit?.({
      type: 'received',
      step: link,
      run: { runId, appUrl, reattached, startedAt: sentAt },
      own: !doubtful,
    });
    claim?.(runId);
    const { passOver, useSpare } = await import('./chain.ts');
    // A service that ignores the keys returns the same run for each. It is not read again, since its state may be stale.
    if ([...judged, ...discarded.map((run) => run.runId)].includes(runId)) {
      emit?.({ type: 'settled', runId });
      if (signal.aborted) return { kind: 'none', chain, discarded };
      last.hasRun = false;
      chain = useSpare(chain);
      if (chain !== null) emit?.({ type: 'link', chain });
      continue;
    }
    emit?.({ type: 'created', runId, appUrl, reattached: reattached || link.run !== undefined });
    const outcome = await endedEarly(candidate);
    if (outcome === null || (link.trust === 'job' && judge(outcome.verdict, policy).action === 'fail'))
      return {
        kind: 'started',
        chain,
        discarded,
        doubt: chain.doubt || (reattached && isRetry(chain)),
        ...candidate,
      };
    last.hasRun = false;
    emit?.({ type: 'settled', runId });
    const passed = discardedRun(candidate, outcome, say);
    discarded.push(passed);
    emit?.({ type: 'discarded', ...passed });
    chain = passOver(chain, runId, outcome, clock.monotonic() - sentAt);
    if (chain !== null) emit?.({ type: 'link', chain, passed });
  }
  throw new UnexpectedResponseError(
    'the service returns a run that has already ended for every idempotency key, even for a random one',
    { field: 'runId', expected: 'a new run', received: 'a run that has ended' },
  );
}
