import { ceilings } from '../client/rate-limit.ts';
import { HttpError, type MismatchError, type StopCause, StoppedError } from '../errors.ts';
import { cancelAll, cancelLate, stopBudgetMs } from './cancel.ts';
import type { DeployedCheck } from './deployed/check.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { permitCreate } from './fleet/permit.ts';
import { type Fleet, fleetSlots, waitForCreateSlot } from './fleet/slots.ts';
import type { Policy } from './policy.ts';
import { endedAtFirstRead, firstProgress, type PollRules, stretchAfter } from './poll.ts';
import {
  type GateReport,
  type RunReport,
  reportGate,
  reportRun,
  reportStop,
  reportUncreated,
  seconds,
  unknownRun,
} from './report.ts';
import type { RunService } from './service.ts';
import { type DiscardedRun, type KeyStep, type RunJournal, type Start, startRun } from './start.ts';
import { named, subjectOf } from './subject.ts';
import { type WaitTools, waitForRuns } from './wait.ts';
import { type WatchedRun, watch } from './watched-run.ts';

export interface GateOptions {
  /** The run to create and wait for; alternatively, `runIds`. */
  start?: Start | undefined;
  runIds?: readonly string[] | undefined;
  /** Names for the runs of `runIds`, in the same order. The name of a run without one is its id. */
  names?: readonly string[] | undefined;
  policy: Policy;
  intervalMs: number;
  maxAttempts: number;
  timeoutMs: number;
  /** The place of the run among those of the gate, if an earlier one has failed. */
  retry?: Retry | undefined;
  /** The shortest wait between two reads that the service may request. */
  shortestMs: number;
  /** The gate's place in a fleet that shares the service's limits; ignored with a hub. */
  fleet?: Fleet | undefined;
  cancelOnInterrupt: boolean;
  cancelOnTimeout: boolean;
  /** Returns the reason of a cancellation for the service. */
  cancelReason(why: StopCause | 'timeout'): string | Promise<string>;
}

/** A retry of a gate. */
export interface Retry {
  /** From 1. */
  number: number;
  /** The end of the gate's timeout, which began with its first run, on the monotonic clock. */
  deadline: number;
}

export interface GateTools extends Omit<WaitTools, 'signal'> {
  /** Calls the listener when a person or the CI stops the gate. Returns a function that removes the listener. */
  onStop(listener: (cause: StopCause) => void): () => void;
  journal?: RunJournal | undefined;
  /** Throws if the run belongs to another gate of this process. */
  claim?: ((runId: string) => void) | undefined;
  /** Checks which build is deployed. */
  deployed?: DeployedCheck | undefined;
}

type StoppableTools = GateTools & WaitTools;

/** A run of a gate, judged, and the data for a retry. */
export interface Attempt {
  report: GateReport;
  /** Earlier runs of the gate, which had failed at their first read. */
  failed: RunReport[];
  /** The keys that are left. */
  keys: readonly KeyStep[];
  /** The end of the gate's timeout, on the monotonic clock. */
  deadline: number;
  /** The retry was not started: its turn would have come after the timeout. */
  late?: boolean | undefined;
}

/** The state at the end of the wait. */
interface Waited extends Pick<Attempt, 'late'> {
  runs: readonly WatchedRun[];
  /** Earlier runs of the gate, which had failed at their first read. */
  failed: readonly WatchedRun[];
  keys: readonly KeyStep[];
  deadline: number;
  discarded: readonly DiscardedRun[];
  /** A run that may have been created before the gate was stopped. */
  lost?: RunReport;
  /** The report of a gate that created no run, because the expected build was not deployed. */
  uncreated?: GateReport;
}

const nothingStarted: Waited = { runs: [], discarded: [], failed: [], keys: [], deadline: 0 };

/** Creates a run if `start` is set, waits for all runs and judges them. Throws if no run could be created. */
export const runGate = async (options: GateOptions, tools: GateTools): Promise<GateReport> =>
  (await runAttempt(options, tools)).report;

/** Does the work of `runGate` for one run of a gate with retries. */
export async function runAttempt(options: GateOptions, tools: GateTools): Promise<Attempt> {
  const { clock, journal, deployed, emit } = tools;
  const aborter = new AbortController();
  const stopped: { by: StopCause | null; at: number } = { by: null, at: 0 };
  const unsubscribe = tools.onStop((by) => {
    Object.assign(stopped, { by, at: clock.monotonic() });
    emit?.({ type: 'stopping', by });
    aborter.abort(new StoppedError(by));
  });
  const { signal } = aborter;
  const stoppable: StoppableTools = { ...tools, service: withDeployed(tools, signal), signal };
  try {
    const { start } = options;
    const waited =
      start === undefined
        ? await waitForExisting(options, stoppable)
        : await createAndWait(start, options, stoppable);
    const { runs, discarded, lost, uncreated, failed, keys, deadline, late } = waited;
    for (const { runId, progress } of runs) if (progress.seen?.kind === 'ended') journal?.settled(runId);

    const unfinished = runs.filter((run) => run.outcome === null);
    if (runs.length > 0 && unfinished.length === 0) await confirmDeployed(stoppable);
    for (const run of runs) {
      if (run.outcome !== null && deployed !== undefined)
        run.outcome = deployed.judge(run.outcome, options.policy);
    }
    const judged = (report: GateReport): Attempt => ({
      report,
      failed: failed.map((run) => reportRun(run, options.policy, clock.monotonic())),
      keys,
      deadline,
      late,
    });
    const report = (): GateReport => ({
      ...(uncreated ?? reportGate(runs, options.policy, clock.monotonic(), discarded)),
      ...(deployed !== undefined && { deployed: deployed.report() }),
    });
    if (stopped.by !== null && (runs.some((run) => run.outcome === null) || runs.length === 0)) {
      const leftMs = stopped.at + stopBudgetMs - clock.monotonic();
      const cancellation =
        options.cancelOnInterrupt || stopped.by === 'fail-fast'
          ? await cancelAll(unfinished, await options.cancelReason(stopped.by), leftMs, tools)
          : 'none';
      // The service accepted the cancellation, so the post step does not repeat it.
      if (cancellation === 'requested') for (const { runId } of unfinished) journal?.settled(runId);
      if (lost === undefined) return judged(reportStop(report(), stopped.by, cancellation));
      return judged({ ...reportStop(report(), stopped.by, 'failed'), runs: [lost] });
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

/** Returns the gate's place in its fleet; with a hub it has none, since the hub schedules the requests. */
const fleetOf = ({ fleet }: GateOptions, hub: HubLink | undefined) => (hub === undefined ? fleet : undefined);

/** Returns the rules of a wait that begins now. */
function pollRules(options: GateOptions, { clock, hub }: GateTools): PollRules {
  const { start, timeoutMs, retry } = options;
  const fleet = fleetOf(options, hub);
  const now = clock.monotonic();
  return {
    ...options,
    deadline: retry?.deadline ?? now + timeoutMs,
    triggered: start !== undefined,
    hub: hub !== undefined,
    // Slots go by the wall clock, which the gates of a fleet share.
    slots: fleet && fleetSlots(fleet, ceilings.reads, clock.now() - now),
  };
}

/** Reads the version page with each status read. */
function withDeployed({ service, deployed }: GateTools, signal: AbortSignal): RunService {
  if (deployed === undefined) return service;
  return {
    ...service,
    async read(runId, options) {
      const observed = deployed.observe(signal);
      // The status read may fail first.
      observed.catch(() => {});
      try {
        return await service.read(runId, options);
      } finally {
        await observed;
      }
    },
  };
}

/** Reads the version page after the runs have their outcomes. */
async function confirmDeployed({ deployed, signal }: StoppableTools): Promise<void> {
  try {
    await deployed?.confirm(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Waits until the expected build is deployed, or until the gate is stopped. */
async function untilDeployed({ deployed, signal }: StoppableTools): Promise<MismatchError | null> {
  try {
    return (await deployed?.untilDeployed(signal)) ?? null;
  } catch (error) {
    if (!signal.aborted) throw error;
    return null;
  }
}

async function waitForExisting(options: GateOptions, tools: StoppableTools): Promise<Waited> {
  const { runIds = [], names = [] } = options;
  const now = tools.clock.monotonic();
  const runs = runIds.map((runId, at) => watch(runId, now, { subject: named(names[at]) }));
  await waitForRuns(runs, pollRules(options, tools), tools);
  return { ...nothingStarted, runs };
}

async function createAndWait(start: Start, options: GateOptions, tools: StoppableTools): Promise<Waited> {
  const { clock, signal } = tools;
  const subject = subjectOf(start.body);
  const arrivedAt = clock.monotonic();
  const error = await untilDeployed(tools);
  if (error !== null) {
    const elapsedSeconds = seconds(clock.monotonic() - arrivedAt);
    const uncreated = reportUncreated({ ...subject, elapsedSeconds }, error, options.policy);
    return { ...nothingStarted, uncreated };
  }
  if (signal.aborted) return nothingStarted;
  const { retry, timeoutMs } = options;
  // The timeout begins with the first run, after the turn of its create.
  const deadline = retry?.deadline ?? Number.POSITIVE_INFINITY;
  const leftMs = () => Math.min(timeoutMs, deadline - clock.monotonic());
  const fleet = fleetOf(options, tools.hub);
  const inTime =
    (fleet === undefined || (await waitForCreateSlot(fleet, timeoutMs, deadline, tools))) &&
    leftMs() > 0 &&
    (await permitCreate(leftMs(), tools, deadline));
  if (signal.aborted) return nothingStarted;
  if (!inTime || leftMs() <= 0) return { ...nothingStarted, late: true };
  const startedAt = clock.monotonic();
  const rules = pollRules(options, tools);
  let runs: WatchedRun[] = [];
  let failed: WatchedRun[] = [];
  let limitedMs = 0;
  const started = await startRun(start, leftMs(), {
    ...tools,
    emit(event) {
      if (event.type === 'retry' && event.error instanceof HttpError && event.error.status === 429)
        limitedMs += event.waitMs;
      tools.emit?.(event);
    },
    async endedAtFirstRead({ step, run: created, reattached, doubtful }) {
      const { runId, appUrl } = created;
      if (step.retry === undefined) failed = [];
      // Slots spread the reads of a gate already.
      const stretch = rules.slots === undefined ? stretchAfter(limitedMs, options.intervalMs) : 1;
      const run = watch(runId, clock.monotonic(), {
        subject,
        progress: firstProgress(stretch),
        startedAt,
        appUrl,
        idempotencyKey: step.key,
        reattached,
        retry: (retry?.number ?? 0) + failed.length,
      });
      runs = [run];
      await waitForRuns(runs, rules, tools);
      if (!doubtful || !endedAtFirstRead(run)) return false;
      runs = [];
      const hasFailed = run.outcome?.verdict === 'failed';
      if (hasFailed) failed.push(run);
      return hasFailed ? 'failed' : true;
    },
  });
  const { kind, step, discarded } = started;
  const continued = failed.filter(({ runId }) => started.failed.some((run) => run.runId === runId));
  const keys = start.keys.slice(start.keys.indexOf(step) + 1);
  const waited: Waited = { runs, discarded, failed: continued, keys, deadline: rules.deadline };
  if (kind !== 'unknown') return waited;
  // The key finds the run again.
  const elapsedSeconds = seconds(clock.monotonic() - startedAt);
  return { ...waited, lost: unknownRun({ ...subject, idempotencyKey: step.key, elapsedSeconds }) };
}
