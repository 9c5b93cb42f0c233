import { formatDuration } from '../duration.ts';
import { type RungateError, type Say, type StopCause, StoppedError, TimeoutError } from '../errors.ts';
import { cancelAll, cancelLate, stopBudgetMs } from './cancel.ts';
import type { KeyChain } from './events.ts';
import { doneBefore, turnToCreate } from './fleet/turns.ts';
import type { Rules } from './limits.ts';
import type { Policy } from './policy.ts';
import { endedAtFirstRead, firstProgress, type PollRules, type RunOutcome, stretchAfter } from './poll.ts';
import { reportGate, reportStop, reportUncreated, seconds, timeOf, unknownRun } from './report.ts';
import type { DiscardedRun, GateReport, RunReport } from './result-types.ts';
import type { RunService } from './service.ts';
import { goesOn, lateError, lostError, type Start, startOrAttach } from './start.ts';
import { type WaitTools, waitForRuns } from './wait.ts';
import { named, subjectOf, type WatchedRun, watch } from './watched-run.ts';

export interface RunOptions extends Rules {
  /** The run to create and wait for; alternatively, `runIds`. */
  start?: Start | undefined;
  runIds?: readonly string[] | undefined;
  /** Names for the runs of `runIds`, in the same order. The name of a run without one is its id. */
  names?: readonly string[] | undefined;
  /** The number of the retry: of runs of the gate that have failed so far; default 0. */
  retry?: number | undefined;
  /** The end of the gate's timeout on the monotonic clock, if it has begun with an earlier run or in an earlier slice. */
  deadline?: number | undefined;
  /** The shortest wait between two reads that the service may request. */
  shortestMs: number;
  /** Whether a stop cancels the runs; `SIGINT`: only Ctrl-C does. The end of a slice never cancels. */
  cancelOnInterrupt: boolean | 'SIGINT';
  cancelOnTimeout: boolean;
  cancelReason(why: StopCause | 'timeout'): string | Promise<string>;
}

export interface GateTools extends Omit<WaitTools, 'signal'> {
  /** Calls the listener when a person or the CI stops the gate. Returns a function that removes the listener. */
  onStop(listener: (cause: StopCause) => void): () => void;
  /** Names options in errors; default: by their ids. */
  say?: Say | undefined;
  /** Throws if the run belongs to another gate of this process. */
  claim?: ((runId: string) => void) | undefined;
  hooks?: GateHooks | undefined;
}

type StoppableTools = GateTools & WaitTools;

/** A run of a gate, judged, and the data for a retry. */
export interface JudgedRun {
  report: GateReport;
  /** The chain of keys at the run's own; undefined if it has none. */
  chain?: KeyChain | undefined;
  /** The end of the gate's timeout, on the monotonic clock. */
  deadline: number;
  /** A discarded run failed and may have been the gate's own, so a pass is flaky. */
  doubt: boolean;
  /** The retry was not started: its turn would have come too late. */
  late?: boolean | undefined;
}

interface Waited extends Omit<JudgedRun, 'report'> {
  runs: readonly WatchedRun[];
  discarded: readonly DiscardedRun[];
  /** A run that may have been created before the gate was stopped. */
  lost?: RunReport;
  /** The report of a gate that created no run: the expected build was not deployed, or its turn came too late. */
  uncreated?: GateReport;
}

const nothingStarted: Waited = { runs: [], discarded: [], deadline: 0, doubt: false };

/** Creates a run if `start` is set, waits for all runs and judges them. Throws if no run could be created. */
export async function runOnce(options: RunOptions, tools: GateTools): Promise<JudgedRun> {
  const { clock, emit, hooks } = tools;
  const aborter = new AbortController();
  const stopped: { by: StopCause | null; at: number } = { by: null, at: 0 };
  const unsubscribe = tools.onStop((by) => {
    Object.assign(stopped, { by, at: clock.monotonic() });
    aborter.abort(new StoppedError(by));
  });
  const { signal } = aborter;
  const stoppable: StoppableTools = { ...tools, service: withHooks(tools, signal), signal };
  try {
    const { start } = options;
    const waited =
      start === undefined
        ? await waitForExisting(options, stoppable)
        : await createAndWait(start, options, stoppable);
    const { runs, discarded, lost, uncreated, chain, deadline, doubt, late } = waited;
    for (const { runId, progress } of runs)
      if (progress.seen?.kind === 'ended') emit?.({ type: 'settled', runId });

    const unfinished = runs.filter((run) => run.outcome === null);
    if (runs.length > 0 && unfinished.length === 0) await unlessAborted(signal, hooks?.afterVerdicts(signal));
    for (const run of runs) {
      if (run.outcome !== null && hooks !== undefined) run.outcome = hooks.judge(run.outcome, options.policy);
    }
    const judged = (report: GateReport): JudgedRun => ({ report, chain, deadline, doubt, late });
    const report = (): GateReport => ({
      ...(uncreated ?? reportGate(runs, options.policy, clock)),
      ...(discarded.length > 0 && { discarded: [...discarded] }),
      ...hooks?.report(),
    });
    if (stopped.by !== null && (runs.some((run) => run.outcome === null) || runs.length === 0)) {
      const leftMs = stopped.at + stopBudgetMs - clock.monotonic();
      const cancellation = isCancelling(stopped.by, options.cancelOnInterrupt)
        ? await cancelAll(unfinished, await options.cancelReason(stopped.by), leftMs, tools)
        : 'none';
      // The service accepted the cancellation, so the post step does not repeat it.
      if (cancellation === 'requested')
        for (const { runId } of unfinished) emit?.({ type: 'settled', runId });
      if (lost === undefined) return judged(reportStop(report(), stopped.by, cancellation));
      const unsure = stopped.by === 'slice' ? 'none' : 'failed';
      return judged(reportStop({ ...report(), runs: [lost] }, stopped.by, unsure));
    }
    if (options.cancelOnTimeout) {
      const timedOut = runs.filter((run) => run.outcome?.limit === true);
      if (timedOut.length > 0) await cancelLate(timedOut, await options.cancelReason('timeout'), stoppable);
    }
    return judged(report());
  } finally {
    unsubscribe();
  }
}

function isCancelling(by: StopCause, onInterrupt: RunOptions['cancelOnInterrupt']): boolean {
  if (by === 'slice') return false;
  return by === 'fail-fast' || onInterrupt === true || onInterrupt === by;
}

function pollRules(options: RunOptions, { clock, hub }: GateTools): PollRules {
  const { timeoutMs, deadline } = options;
  return {
    ...options,
    deadline: deadline ?? clock.monotonic() + timeoutMs,
    createdAt: null,
    hub: hub !== undefined,
  };
}

function withHooks({ service, hooks }: GateTools, signal: AbortSignal): RunService {
  if (hooks === undefined) return service;
  return {
    ...service,
    async read(runId, options) {
      const done = hooks.withRead(signal);
      // The status read may fail first.
      done.catch(() => {});
      try {
        return await service.read(runId, options);
      } finally {
        await done;
      }
    },
  };
}

async function unlessAborted<T>(signal: AbortSignal, work: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

async function waitForExisting(options: RunOptions, tools: StoppableTools): Promise<Waited> {
  const { runIds = [], names = [] } = options;
  const now = tools.clock.monotonic();
  const runs = runIds.map((runId, index) => watch(runId, now, { subject: named(names[index]) }));
  await waitForRuns(runs, pollRules(options, tools), tools);
  return { ...nothingStarted, runs };
}

async function createAndWait(start: Start, options: RunOptions, tools: StoppableTools): Promise<Waited> {
  const { clock, signal, hub } = tools;
  const { retry = 0, timeoutMs, intervalMs, policy } = options;
  const isKnown = goesOn({ start });
  const subject = subjectOf(start.body);
  const arrivedAt = clock.monotonic();
  const elapsed = () => ({ ...subject, elapsedSeconds: seconds(clock.monotonic() - arrivedAt) });
  const uncreated = (error: RungateError, idempotencyKey: string | null = null): GateReport =>
    reportUncreated([{ ...elapsed(), endedAt: timeOf(clock.monotonic(), clock), idempotencyKey }], error);
  // An earlier slice has created it, or tried to, when the expected build was deployed.
  const refusal = isKnown ? null : await unlessAborted(signal, tools.hooks?.beforeCreate(signal));
  if (refusal) return { ...nothingStarted, uncreated: uncreated(refusal) };
  if (!isKnown && !signal.aborted) await unlessAborted(signal, start.ready?.(signal));
  const rules = pollRules(options, tools);
  const { deadline } = rules;
  // A run that is created with less than an interval left would be read once, too early, or never.
  const latest = timeoutMs > intervalMs ? deadline - intervalMs : deadline;
  const late = ({ link: { key, sent }, doubt }: KeyChain, discarded: readonly DiscardedRun[]): Waited => {
    const left = { ...nothingStarted, discarded, doubt };
    if (retry > 0) return { ...left, late: true };
    const error = sent ? lostError(timeoutMs, key) : lateError(timeoutMs, hub !== undefined, discarded);
    return { ...left, uncreated: uncreated(error, sent ? key : null) };
  };
  if (!isKnown && !signal.aborted && start.prepare !== undefined) {
    const prepare = start.prepare.bind(start);
    const turn = () => turnToCreate(latest, tools);
    const inTime = await unlessAborted(
      signal,
      doneBefore(latest, (either) => prepare(turn, either), tools),
    );
    if (inTime === false) {
      const error = new TimeoutError(
        `no run was created: preparing its environment took longer than the timeout of ${formatDuration(timeoutMs)}`,
        { hint: 'set a longer timeout' },
      );
      return { ...nothingStarted, uncreated: uncreated(error) };
    }
  }
  if (signal.aborted && !isKnown) return nothingStarted;
  const watched = new Map<string, WatchedRun>();
  const started = await startOrAttach(
    start,
    { latest, deadline },
    {
      ...tools,
      policy,
      accepted: retry > 0,
      async endedEarly({ step, run: { runId, appUrl, sentAt }, reattached, doubtful, limitedMs }) {
        const { attempts = 0, foreign = 0, missingSince = null, endedAt = null } = step.run ?? {};
        const run = watch(runId, clock.monotonic(), {
          subject,
          progress: {
            ...firstProgress(stretchAfter(limitedMs, intervalMs)),
            attempts,
            foreign,
            missingSince,
          },
          startedAt: sentAt,
          endedAt,
          appUrl,
          idempotencyKey: step.key,
          reattached,
          retry,
        });
        watched.set(runId, run);
        await waitForRuns([run], { ...rules, createdAt: sentAt }, tools);
        return doubtful && endedAtFirstRead(run) ? run.outcome : null;
      },
    },
  );
  const { kind, chain, discarded } = started;
  if (kind === 'late') return late(chain, discarded);
  const waited: Waited = {
    discarded,
    doubt: kind === 'started' ? started.doubt : chain.doubt,
    deadline,
    runs: kind === 'started' ? [watched.get(started.run.runId) ?? []].flat() : [],
    chain,
  };
  // The key finds the run again.
  return kind === 'unknown'
    ? { ...waited, lost: unknownRun({ ...elapsed(), idempotencyKey: chain.link.key }) }
    : waited;
}

/** A feature that takes part in a gate: the points at which the gate calls it. After an abort, a hook may throw the signal's reason. */
export interface GateHooks {
  /** Before the run is created. Returns the error of a gate that must not create one, or null. */
  beforeCreate(signal: AbortSignal): Promise<RungateError | null>;
  /** With each status read. Several reads at once may share the work. */
  withRead(signal: AbortSignal): Promise<void>;
  /** When the runs have their outcomes. */
  afterVerdicts(signal: AbortSignal): Promise<void>;
  /** Returns the outcome of a run, given its own one; null if a stop prevented the work after the verdicts. */
  judge(outcome: RunOutcome, policy: Policy): RunOutcome | null;
  report(): Partial<GateReport>;
  /** Returns the hooks for another run of the gate, which may delay its creation for `leftMs` at most. */
  again(leftMs: number): GateHooks;
  /** Returns the hooks of one of several gates, which share the work before the run is created and with the reads. */
  ofGate(): GateHooks;
}
