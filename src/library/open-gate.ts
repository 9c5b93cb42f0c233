import { cancelReason } from '../ci/provider.ts';
import { nextStep } from '../ci/reports/wording.ts';
import type { Caller } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import { type NameOf, RungateError, redactError, type StopCause, type StopListener } from '../errors.ts';
import { type OpenDeployed, openDeployed } from '../gate/deployed/open.ts';
import type { Emit } from '../gate/events.ts';
import { type HubOptions, type OpenHub, openHub } from '../gate/fleet/open-hub.ts';
import { shortestWaitMs } from '../gate/limits.ts';
import {
  flatReport,
  knownRuns,
  oneGate,
  type PlanEvent,
  type PlannedGate,
  type PlanResult,
  type StartingGate,
  severalGates,
  unnamed,
  unstartedGates,
} from '../gate/plan/plan.ts';
import { runPlan } from '../gate/plan/run-plan.ts';
import type { PlanStore } from '../gate/plan/saved.ts';
import { type Started, type StartedGate, startedOf } from '../gate/plan/started.ts';
import { redactReport, reportUncreated } from '../gate/report.ts';
import type { GateReport, GatesReport } from '../gate/result-types.ts';
import { type RunService, runService } from '../gate/service.ts';
import { openPreviews } from '../preview/open.ts';
import type { Redact } from '../redact.ts';
import { awaitEach, type EndEvent, emitTo, journalReporter, type Reporter } from './reporter.ts';

type PreviewTools = Parameters<typeof openPreviews>[0];
type DeployedOptions = Omit<Parameters<typeof openDeployed>[0], 'clock' | 'emit' | 'redact' | 'nameOf'>;

/** How to reach the service and the hub. The functions are called once, before anything is sent, and may throw. */
export interface OpenOptions {
  connect(): Promise<Caller>;
  /** Returns null without a hub. */
  hub(): Promise<Omit<HubOptions, 'clock' | 'nameOf'> | null>;
  clock: Clock;
  random: () => number;
  onStop(listener: StopListener): () => void;
  redact: Redact;
  /** Names options in errors as the caller does. */
  nameOf: NameOf;
}

export interface OpenGateOptions extends OpenOptions {
  /** One gate that is `unnamed`, or several. */
  gates: readonly PlannedGate[];
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
export async function openHubOf({ hub, clock, nameOf }: OpenOptions): Promise<OpenHub | undefined> {
  const options = await hub();
  return options === null ? undefined : openHub({ ...options, clock, nameOf });
}

async function openBuildCheck({ gates, deployed, clock, redact, nameOf }: OpenGateOptions, emit: Emit) {
  const commits = new Set(gates.map(({ start }) => start?.body.commitSha ?? undefined));
  const options = await deployed(commits.size === 1 ? [...commits][0] : undefined);
  if (options === null) return undefined;
  return openDeployed({ ...options, clock, redact, nameOf, emit });
}

async function openPreviewsOf(options: OpenGateOptions, caller: Caller, emit: Emit) {
  const { gates, connection, clock, nameOf, onStop } = options;
  if (gates.every(({ start }) => start?.preview === undefined)) return undefined;
  return openPreviews({ ...(await connection()), caller, clock, nameOf, onStop, emit });
}

/** Runs the gates. `use` gets the result while the connections are open. */
async function runOpened<Used>(
  options: OpenGateOptions,
  reporters: readonly Reporter[],
  use: (result: PlanResult, service: RunService, emit: (event: PlanEvent) => void) => Promise<Used>,
): Promise<Used> {
  const { gates, redact, local, clock } = options;
  const caller = await options.connect();
  const service = runService(caller, clock.now);
  let page: OpenDeployed | undefined;
  let hub: OpenHub | undefined;
  let previews: ReturnType<typeof openPreviews> | undefined;
  // A reporter may keep and change what it receives.
  const emit = (event: PlanEvent) => emitTo(reporters, event, redact);
  try {
    hub = await openHubOf(options);
    await awaitEach(reporters, { type: 'begin' });
    page = await openBuildCheck(options, emit);
    previews = await openPreviewsOf(options, caller, emit);
    const plan = {
      ...options,
      gates: previews === undefined ? gates : gates.map(previews.attach),
      cancelReason: (why: StopCause | 'timeout' | 'orphaned') =>
        options.cancelReason ?? cancelReason(why, options.env),
      shortestMs: shortestWaitMs(local),
    };
    const tools = { ...options, service, page: page?.page, linkHub: hub?.link, emit };
    return await use(await runPlan(plan, tools), service, emit);
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
    const result = await runOpened(options, reporters, async (ended) => ended);
    previews = result.parts?.previews;
    report = single === undefined ? severalGates(result) : oneGate(result);
  } catch (cause) {
    if (!(cause instanceof RungateError)) throw cause;
    error = redactError(cause, redact);
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

/** A gate that only starts a run looks whether it has ended, and cancels nothing. */
const startsOnly = {
  failFast: false,
  deployed: async () => null,
  connection: async () => ({}),
  local: false,
  cancelOnInterrupt: false,
  cancelOnTimeout: false,
  env: {},
};
/** The wait between the reads of a run that do not show whether it has ended. */
const unclearMs = 10_000;

/** After a stop it still finds the run that it has started. `use` is called before the journal is done with the run. */
export async function openStart(
  options: OpenOptions,
  gate: StartingGate,
  others: readonly Reporter[],
  use: (started: StartedGate, service: RunService) => Promise<void>,
): Promise<Started> {
  const { policy, timeoutMs } = gate.rules;
  const rules = { policy, timeoutMs, intervalMs: unclearMs, maxAttempts: Number.POSITIVE_INFINITY };
  const gates = [{ ...gate, rules, waits: false }];
  const journal = journalReporter(gates);
  return runOpened(
    { ...options, ...startsOnly, gates },
    [journal.reporter, ...others],
    async (result, service, emit) => {
      const started = startedOf(gate.start.body, result);
      if (started.kind === 'started') {
        await use(started, service);
        emit({ type: 'settled', runId: started.run.runId });
      }
      journal.settle();
      return started;
    },
  );
}
