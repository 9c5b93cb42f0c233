import type { CiContext } from '../../ci/context.ts';
import { detectCi } from '../../ci/provider.ts';
import { formatDuration } from '../../duration.ts';
import { RungateError, type StopListener, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { StartingGate } from '../../gate/plan/plan.ts';
import { goingOn, isOverdue, type PlanStore, type SavedPlan, savePlan } from '../../gate/plan/saved.ts';
import type { RunReport } from '../../gate/result-types.ts';
import type { Io } from '../../host/io.ts';
import type { OpenOptions } from '../../library/open-gate.ts';
import type { EndEvent, Reporter } from '../../library/reporter.ts';
import { type Flags, flagName, rows } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { isLocal, parseApiUrl, receiver } from '../../transport/address.ts';
import { gateStops } from '../ci-context.ts';
import { missingApiUrl } from '../connect.ts';
import type { Context } from '../context.ts';
import { selfName } from '../init/first-steps.ts';
import { announce, type Chosen, choose } from './choose.ts';
import { keepAtHub } from './detach.ts';
import { newEntry } from './entry.ts';
import type { Keeping, Kept } from './keeping.ts';
import { openStore, type ResumedGate, type StoredGate, UnwritableError } from './store.ts';

const shortestSliceMs = 5_000;
/** How often a slice that is over looks whether the last read of a gate is. */
const overdueMs = 1_000;

/** Keeps the state here and where it is kept. If it cannot be written any more, the command says so, and goes on to the end of the gate. */
async function keeper({ output }: Context, keeping: Keeping): Promise<Kept> {
  const { state, problem: known } = keeping.chosen;
  let problem: RungateError | null = null;
  let changes = Promise.resolve();
  const giveUp = async (error: unknown) => {
    if (!(error instanceof RungateError)) throw error;
    problem = error;
    await output.warn(`${output.excerpt(error.message)}: this command waits until the gate ends`);
  };
  if (known !== undefined) await giveUp(known);
  return {
    problem: () => problem,
    settled: () => changes,
    save(edit: (state: SavedPlan) => void): Promise<void> {
      edit(state);
      changes = changes.then(() => (problem === null ? keeping.write(edit).catch(giveUp) : undefined));
      return changes;
    },
  };
}

/** Returns a function that adds a listener for the stop by a signal or by the end of the slice, which `end` waits for. */
function stopper(
  io: Io,
  end: (signal: AbortSignal, stop: StopListener) => Promise<void>,
): OpenOptions['onStop'] {
  const listeners = new Set<StopListener>();
  const done = new AbortController();
  let forget = () => {};
  const stop: StopListener = (cause, orphaned) => {
    if (done.signal.aborted) return;
    done.abort();
    for (const listener of listeners) listener(cause, orphaned);
  };
  return (listener) => {
    if (listeners.size === 0) {
      forget = gateStops(io)(stop);
      end(done.signal, stop).catch(() => {});
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      done.abort();
      forget();
    };
  };
}

/** Returns the gates as they go on, with what is left of their times: the timeout includes every wait. */
function continuing({ state }: Chosen, planned: readonly StartingGate<Settings>[], { clock }: Io) {
  const now = clock.now();
  // The clock may have been set back since.
  const leftOf = (ms: number, timeoutMs: number, since: number) =>
    Math.max(0, Math.min(ms, timeoutMs) - Math.max(0, now - since));
  const longest = Math.max(...planned.map(({ rules }) => rules.timeoutMs));
  const gates = planned.map((gate) => {
    const going = goingOn(gate, state);
    const { name, rules, start } = going;
    const { preview } = start;
    if (preview === undefined) return going;
    const begunAt = state.plan?.gates[name]?.begunAt ?? now;
    const readyTimeoutMs = leftOf(preview.readyTimeoutMs, rules.timeoutMs, begunAt);
    return { ...going, start: { ...start, preview: { ...preview, readyTimeoutMs } } };
  });
  return {
    gates,
    /** Returns the reads of the version page so far, and how long the wait for the build may still take. */
    waitForBuild: (ms: number) => ({
      seen: state.build,
      timeoutMs: leftOf(ms, longest, state.startedAt),
    }),
  };
}

/** Chooses the gate of a slice, and stores it here. @throws UsageError or ConfigError */
async function keepHere(
  context: Context,
  ci: CiContext,
  planned: readonly StartingGate<Settings>[],
): Promise<Keeping> {
  const { io, flags, settings } = context;
  const { slice: sliceMs = 0 } = flags;
  if (sliceMs < shortestSliceMs && !isLocal(settings.apiUrl?.value ?? ''))
    throw new UsageError(`--slice is too short: ${formatDuration(sliceMs)}`, {
      hint: 'use 5 s or more, preferably 45 s',
    });
  const { clock } = io;
  const ends = clock.monotonic() + sliceMs;
  const store = openStore(io, ci);
  const chosen = await choose(context, store, newEntry(context, ci, planned));
  const { id } = chosen.state;
  return {
    chosen,
    stopCancels: 'SIGINT',
    write: (edit) =>
      store.change(({ gates }) => {
        const gate = gates[id];
        if (gate === undefined) throw new UnwritableError(`the state of gate ${id} has been removed`);
        edit(gate);
      }),
    leaves: (signal) => clock.sleep(Math.max(0, ends - clock.monotonic()), signal),
  };
}

/**
 * Chooses and stores a gate that may go on after this command. Returns its gates, as they are planned or as they go on after earlier
 * commands, and the parts that attach it to them.
 * @throws UsageError or ConfigError
 */
export async function openSlice(
  context: Context,
  planned: readonly StartingGate<Settings>[],
  resumed: ResumedGate | undefined,
) {
  const { io, flags, settings, nameOf } = context;
  const { clock } = io;
  const ci = detectCi(io.env);
  const began = clock.monotonic();
  const epoch = clock.now() - began;
  // As for the plan: if the clock jumps during a slice, its times must stay comparable.
  const now = () => Math.floor(epoch + clock.monotonic());
  const { apiUrl } = settings;
  if (apiUrl === undefined) throw missingApiUrl(io);
  // A URL with a secret in it is refused before it is stored.
  parseApiUrl(apiUrl.value, receiver('service', nameOf), flags.insecureHttp);
  const keeping = flags.detach
    ? await keepAtHub(context, ci, planned, resumed)
    : await keepHere(context, ci, planned);
  const { chosen } = keeping;
  await announce(context, chosen);
  const { state } = chosen;
  const kept = await keeper(context, keeping);
  const { redact } = context.output;
  const planStore: PlanStore = {
    plan: state.plan,
    behindMs: Math.max(0, state.savedAt - clock.now()),
    isReported: state.reported !== undefined,
    epoch,
    async save(plan, build) {
      await kept.save((saved) => {
        savePlan(saved, plan, redact, now());
        const other = build?.other ?? saved.build?.other ?? null;
        if (build !== undefined) saved.build = { ...build, other, error: null };
      });
      if (kept.problem() === null) keeping.written?.(plan);
    },
  };

  return {
    store: planStore,
    ...continuing(chosen, planned, io),
    onStop: stopper(io, async (signal, stop) => {
      await keeping.leaves(signal, kept);
      // The next slice would only begin its last read again.
      while (isOverdue(state, now())) await clock.sleep(overdueMs, signal);
      await kept.settled();
      if (kept.problem() === null) stop('slice');
    }),
    ...reporters(context, keeping, kept, flags),
    stopCancels: keeping.stopCancels,
    failed: () => keeping.failed?.(),
    close: () => keeping.close?.(),
  };
}

/**
 * Returns the reporters that put the command that goes on into the result, before it is printed and written, and that keep the
 * state up to date afterwards.
 */
function reporters(
  { io }: Context,
  keeping: Keeping,
  { save, problem }: Kept,
  flags: Flags,
): { record: Reporter; reported: Reporter } {
  const { state } = keeping.chosen;
  const { cancelOnInterrupt: cancels = keeping.stopCancels } = flags;
  return {
    record: {
      begin: () => keeping.begin?.(),
      read: ({ runId, nextMs }) => (nextMs === null ? undefined : keeping.read?.(runId)),
      async end(event) {
        // Reports and receipts are about all slices.
        event.startedAt = state.startedAt;
        if (!goesOnAfter(event, state, cancels)) return;
        const error = problem();
        // No other command will know what this one has seen.
        if (error !== null && event.report.result === 'waiting') throw error;
        if (error !== null) return;
        event.report.startedAt = new Date(state.startedAt).toISOString();
        event.report.next = [...selfName(io).split(' '), 'gate', flagName(rows.resume), state.id];
        event.report.hint =
          'the gate has neither passed nor failed: run the command in "next", unchanged, and do not start another run';
        await keeping.left?.(event);
      },
    },
    reported: {
      async end(event) {
        if (goesOnAfter(event, state, cancels)) return;
        if (keeping.ended !== undefined) return keeping.ended(event, leftRuns(event));
        // A result whose reader has gone is not reported, and a run that could not be observed may go on.
        if (!io.out.open || isUnobserved(event)) return;
        await save((saved) => {
          saved.reported = leftRuns(event);
        });
      },
    },
  };
}

/** The exit codes that report no end. */
const unobservedCodes: readonly number[] = [exitCodes.service, exitCodes.credentials, exitCodes.unreachable];

const isUnobservedRun = ({ verdict }: RunReport) => verdict === 'unobserved';

/** Returns whether a run exists, or may exist, whose end is unknown. The same command looks for it again. */
const isUnobserved = (event: EndEvent) =>
  (event.error !== null && unobservedCodes.includes(event.exitCode)) ||
  event.runs().runs.some(isUnobservedRun);

/** Returns the ids of the runs that may go on, as after a timeout; null for one that was not found. */
const leftRuns = (event: EndEvent) =>
  event.runs().runs.flatMap(({ runId, idempotencyKey, state, cancellation }) => {
    const mayGoOn = state !== 'completed' && state !== 'cancelled' && cancellation !== 'requested';
    return mayGoOn && (runId ?? idempotencyKey) !== null ? [runId] : [];
  });

/** Returns whether runs go on after this end. Ctrl-C is the end of the gate, unless nothing was cancelled. */
function goesOnAfter(
  { error, report }: EndEvent,
  { reported }: StoredGate,
  cancelsOn: boolean | 'SIGINT',
): boolean {
  const { result, interruptedBy, cancellation } = report;
  if (error !== null || interruptedBy === undefined) return false;
  if (result === 'waiting') return true;
  // A gate whose end was reported before the stop has no other one.
  if (reported !== undefined) return false;
  const cancels = cancelsOn === 'SIGINT' ? interruptedBy === 'SIGINT' : cancelsOn;
  return cancels ? cancellation === 'failed' : true;
}
