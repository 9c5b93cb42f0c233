import { cancelReason } from '../ci/provider.ts';
import { nextStep } from '../ci/reports/wording.ts';
import type { Caller } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import { RungateError, redactError, type Say, type StopCause, type StopListener } from '../errors.ts';
import { type OpenDeployed, openDeployed } from '../gate/deployed/open.ts';
import type { Emit, RunJournal } from '../gate/events.ts';
import { type HubOptions, type OpenHub, openHub } from '../gate/fleet/open-hub.ts';
import { shortestWaitMs } from '../gate/limits.ts';
import {
  flatReport,
  knownRuns,
  oneGate,
  type PlanEvent,
  type PlanResult,
  severalGates,
  unnamed,
  unstartedGates,
} from '../gate/plan/plan.ts';
import { runPlan } from '../gate/plan/run-plan.ts';
import type { PlanStore } from '../gate/plan/saved.ts';
import { type Started, type StartedGate, startedOf } from '../gate/plan/started.ts';
import type { Policy } from '../gate/policy.ts';
import { redactReport, reportUncreated } from '../gate/report.ts';
import type { GateReport, GatesReport } from '../gate/result-types.ts';
import { type RunService, runService } from '../gate/service.ts';
import type { Start } from '../gate/start.ts';
import { openPreviews, type PreviewGate } from '../preview/open.ts';
import type { Redact } from '../redact.ts';
import { awaitEach, type EndEvent, emitTo, journalReporter, type Reporter } from './reporter.ts';

type PreviewTools = Parameters<typeof openPreviews>[0];
type DeployedOptions = Omit<Parameters<typeof openDeployed>[0], 'clock' | 'emit' | 'redact' | 'say'>;

/** How to reach the service and the hub. The functions are called once, before anything is sent, and may throw. */
export interface OpenOptions {
  connect(): Promise<Caller>;
  /** Returns null without a hub. */
  hub(): Promise<Omit<HubOptions, 'clock' | 'say'> | null>;
  clock: Clock;
  random: () => number;
  onStop(listener: StopListener): () => void;
  redact: Redact;
  /** Names options in errors as the caller does. */
  say: Say;
}

export interface OpenGateOptions extends OpenOptions {
  /** One gate that is `unnamed`, or several. */
  gates: readonly PreviewGate[];
  failFast: boolean;
  /** Keeps the state of gates that may go on in another command. */
  store?: PlanStore | undefined;
  /** Null without a check. `commit` is that of the runs that are created, if it is the same for all. */
  deployed(commit: string | undefined): Promise<DeployedOptions | null>;
  /** How to reach preview deployments. */
  connection(): Promise<Pick<PreviewTools, 'caPem' | 'proxyEnv' | 'onExchange'>>;
  /** Whether the service is on this machine, which has no shortest interval. */
  local: boolean;
  cancelOnInterrupt: boolean | 'SIGINT';
  cancelOnTimeout: boolean;
  /** The reason of a cancellation; default: the cause, with the job in `env`. */
  cancelReason?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** Returns undefined without a hub. */
export async function openHubOf({ hub, clock, say }: OpenOptions): Promise<OpenHub | undefined> {
  const options = await hub();
  return options === null ? undefined : openHub({ ...options, clock, say });
}

async function openBuildCheck({ gates, deployed, clock, redact, say }: OpenGateOptions, emit: Emit) {
  const commits = new Set(gates.map(({ start }) => start?.body.commitSha ?? undefined));
  const options = await deployed(commits.size === 1 ? [...commits][0] : undefined);
  if (options === null) return undefined;
  return openDeployed({ ...options, clock, redact, say, emit });
}

async function openPreviewsOf(options: OpenGateOptions, caller: Caller, emit: Emit) {
  const { gates, connection, clock, say, onStop } = options;
  if (gates.every(({ preview }) => preview === undefined)) return undefined;
  return openPreviews({ ...(await connection()), caller, clock, say, onStop, emit });
}

const reasonIn =
  (options: Pick<OpenGateOptions, 'cancelReason' | 'env'>) =>
  async (why: StopCause | 'timeout' | 'orphaned') =>
    options.cancelReason ?? cancelReason(why, options.env);

async function runOpened(options: OpenGateOptions, reporters: readonly Reporter[]): Promise<PlanResult> {
  const { gates, failFast, redact, say, local, clock, random, onStop, cancelOnInterrupt, cancelOnTimeout } =
    options;
  const caller = await options.connect();
  let page: OpenDeployed | undefined;
  let hub: OpenHub | undefined;
  let previews: ReturnType<typeof openPreviews> | undefined;
  const emit = (event: PlanEvent) => emitTo(reporters, event, redact);
  try {
    hub = await openHubOf(options);
    await awaitEach(reporters, { type: 'begin' });
    page = await openBuildCheck(options, emit);
    previews = await openPreviewsOf(options, caller, emit);
    return await runPlan(
      {
        gates: previews === undefined ? gates : gates.map(previews.attach),
        failFast,
        cancelOnInterrupt,
        cancelOnTimeout,
        cancelReason: reasonIn(options),
        shortestMs: shortestWaitMs(local),
      },
      {
        service: runService(caller, clock.now),
        clock,
        random,
        say,
        onStop,
        page: page?.page,
        store: options.store,
        ...(hub !== undefined && { linkHub: hub.link }),
        // A reporter may keep and change what it receives.
        emit,
      },
    );
  } finally {
    await previews?.end();
    await page?.close();
    await hub?.close();
    emitTo(reporters, { type: 'close' }, redact);
    await caller.close();
  }
}

/** @throws RungateError if nothing could be started, after the reporters have received the end */
export async function openGate(options: OpenGateOptions, others: readonly Reporter[]): Promise<EndEvent> {
  const { gates, clock, redact } = options;
  const journal = journalReporter(gates);
  const reporters = [journal.reporter, ...others];
  const startedAt = clock.now();
  const single = gates.find(({ name }) => name === unnamed);
  let report: GateReport | GatesReport;
  let error: RungateError | null = null;
  let previews: GateReport['previews'];
  try {
    const result = await runOpened(options, reporters);
    previews = result.parts?.previews;
    report = single === undefined ? severalGates(result) : oneGate(result);
  } catch (cause) {
    if (!(cause instanceof RungateError)) throw cause;
    error = redactError(cause.word(options.say), redact);
    report = single === undefined ? unstartedGates(gates, cause) : reportUncreated(knownRuns(single), cause);
    if (previews !== undefined) report.previews = previews;
  }
  const runs = () =>
    redactReport(
      single === undefined ? flatReport(report as GatesReport, gates) : (report as GateReport),
      redact,
    );
  const hint = nextStep(runs());
  const end: EndEvent = {
    type: 'end',
    report: { ...redactReport(report, redact), ...(hint !== null && { hint }) },
    runs,
    error,
    startedAt,
    exitCode: report.exitCode,
    receipt: null,
  };
  await awaitEach(reporters, end);
  journal.settle();
  if (error !== null) throw error;
  return end;
}

interface OpenStartOptions extends OpenOptions {
  start: Start;
  journal: RunJournal | undefined;
  policy: Policy;
  timeoutMs: number;
}

/** The wait between the reads of a run that do not show whether it has ended. */
const unclearMs = 10_000;

/** After a stop it still finds the run that it has started. `use` is called before the journal is done with the run. */
export async function openStart(
  options: OpenStartOptions,
  others: readonly Reporter[],
  use: (started: StartedGate, service: RunService) => Promise<void>,
): Promise<Started> {
  const { start, journal, policy, timeoutMs, clock, random, say, onStop, redact } = options;
  const rules = { policy, timeoutMs, intervalMs: unclearMs, maxAttempts: Number.POSITIVE_INFINITY };
  const gate = { name: unnamed, needs: [], advisory: false, start, journal, waits: false, rules };
  const recorded = journalReporter([gate]);
  const reporters = [recorded.reporter, ...others];
  const emit = (event: PlanEvent) => emitTo(reporters, event, redact);
  const caller = await options.connect();
  const service = runService(caller, clock.now);
  let hub: OpenHub | undefined;
  try {
    hub = await openHubOf(options);
    const tools = {
      service,
      clock,
      random,
      say,
      onStop,
      emit,
      ...(hub !== undefined && { linkHub: hub.link }),
    };
    const result = await runPlan({ ...startsOnly, gates: [gate] }, tools);
    const started = startedOf(start.body, result);
    if (started.kind === 'started') {
      await use(started, service);
      emit({ type: 'settled', runId: started.run.runId });
    }
    recorded.settle();
    return started;
  } finally {
    await hub?.close();
    emitTo(reporters, { type: 'close' }, redact);
    await caller.close();
  }
}

/** A gate that only starts a run cancels nothing. */
const startsOnly = {
  failFast: false,
  cancelOnInterrupt: false,
  cancelOnTimeout: false,
  cancelReason: (why: StopCause | 'timeout') => why,
  shortestMs: shortestWaitMs(false),
};
