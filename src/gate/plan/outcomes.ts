import { formatDuration } from '../../duration.ts';
import {
  MismatchError,
  type NameOf,
  NetworkError,
  type RungateError,
  reportError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../errors.ts';
import { mostSevere } from '../../exit.ts';
import type { WatchedPage } from '../deployed/watch-page.ts';
import type { LiveGate } from '../effect-tools.ts';
import { judge, worst } from '../policy.ts';
import { firstReadMs } from '../reads.ts';
import { reportStop, reportUncreated, seconds, unknownRun } from '../report.ts';
import type { Cancellation, GateReport, RunReport, RunSubject } from '../result-types.ts';
import { discardedRun } from '../say.ts';
import { lateError, lostError } from '../start.ts';
import { type End, type GateState, type PastRun, type Reason, type RunState, retriesIn } from '../state.ts';
import { named, subjectOf } from '../watched-run.ts';
import { endedGate, failedStart, type GateOutcome, knownRuns, type PlannedGate } from './plan.ts';

export interface OutcomeTools {
  live(name: string): LiveGate;
  page: WatchedPage | undefined;
  hub: boolean;
  /** Returns the parts of the report that are about all gates. */
  parts(): Partial<GateReport>;
  nameOf: NameOf;
  /** The wall time in milliseconds. */
  now(): number;
  /** Returns the gate that has the run of this one. */
  ownerOf(gate: string): { owner: string; runId: string } | null;
}

type Ended = GateState & { end: End };

/** Returns how a gate has ended, as results show it. `states`: one for its start, or one for each existing run. */
export function outcomeOf(
  gate: PlannedGate,
  states: readonly (readonly [string, Ended])[],
  stopped: string | null,
  tools: OutcomeTools,
): GateOutcome {
  const [first] = states;
  const error = first && gate.start !== undefined ? thrownBy(...first, tools) : null;
  if (error !== null) {
    const known = { ...knownRuns(gate)[0], idempotencyKey: error.facts.idempotencyKey ?? null };
    return { error, entry: failedStart(gate, known, error, discardedIn(first?.[1].past ?? [], tools)) };
  }
  const report = reportOf(gate, states, tools);
  const response = first && tools.live(first[0]).response;
  return { report, response: response ?? null, entry: endedGate(gate, report, stopped) };
}

/**
 * Returns the error of a gate that could not create its first run; null if it created one, or was stopped. A gate that does not
 * wait must know, too, that its run had not ended.
 */
function thrownBy(name: string, gate: Ended, tools: OutcomeTools): RungateError | null {
  const { run, error, end, past, key, rules } = gate;
  if (end.by !== null || error === null) return null;
  if (rules.waits && (run !== null || past.some(({ mine }) => mine))) return null;
  if (rules.waits && typeof error === 'string' && error !== 'same-run') return null;
  const cause = typeof error === 'string' ? errorOf(name, gate, error, tools) : tools.live(name).error;
  // The request has its facts already.
  if (cause === null || key?.sentAt == null || (typeof error !== 'string' && run === null)) return cause;
  cause.facts = {
    ...cause.facts,
    idempotencyKey: key.key,
    ...(error !== 'same-run' && { runMayExist: true }),
  };
  return cause;
}

const discardedIn = (past: readonly PastRun[], { nameOf }: OutcomeTools) =>
  past.filter(({ mine }) => !mine).map((one) => discardedRun(one, nameOf));

function reportOf(
  gate: PlannedGate,
  states: readonly (readonly [string, Ended])[],
  tools: OutcomeTools,
): GateReport {
  const parts = states.map(([name, state], index) => ({
    state,
    runs: runsOf(gate, name, state, index, tools),
  }));
  const runs = parts.flatMap((part) => part.runs);
  const discarded = states.flatMap(([, { past }]) => discardedIn(past, tools));
  const deciding = parts.flatMap(({ state, runs: own }) => own[state.end.decides] ?? own.slice(-1));
  const base: GateReport = {
    schemaVersion: 1,
    result: worst(deciding.map(({ action }) => action)),
    exitCode: mostSevere(states.map(([, { end }]) => end.exitCode)),
    runs,
    ...(discarded.length > 0 && { discarded }),
    ...tools.parts(),
  };
  const stops = states.flatMap(([, { end }]) => end.by ?? []);
  const [by] = stops;
  return by === undefined ? base : reportStop(base, by, cancellationOf(states));
}

function cancellationOf(states: readonly (readonly [string, Ended])[]): Cancellation {
  const stopped = states.flatMap(([, state]) => (state.end.by === null ? [] : [state]));
  const of = ({ run, key }: Ended): Cancellation => {
    if (run === null) return key?.sentAt != null ? 'failed' : 'none';
    return run.cancel === 'no' ? 'none' : run.cancel === 'accepted' ? 'requested' : 'failed';
  };
  const all = stopped.map(of);
  return (['failed', 'requested'] as const).find((one) => all.includes(one)) ?? 'none';
}

/** Returns the runs of a gate, from the first to the last, with those that it retried. */
function runsOf(
  gate: PlannedGate,
  name: string,
  state: Ended,
  index: number,
  tools: OutcomeTools,
): RunReport[] {
  const { past, run, end, rules } = state;
  const subject = gate.start === undefined ? named(gate.names?.[index]) : subjectOf(gate.start.body);
  const mine = past.filter((one) => one.mine);
  const runs = mine.map((one, retry) => ({
    ...runReport(one.run, subject, retry, tools.now()),
    ...judge(one.verdict, rules.policy),
  }));
  const last =
    run === null ? uncreated(name, state, subject, tools) : lastRun(name, state, run, subject, tools);
  const all = [...runs, ...last];
  if (end.by === null && end.verdict !== null) {
    const decides = all[end.decides];
    if (decides !== undefined && end.verdict === 'flaky')
      Object.assign(decides, judge('flaky', rules.policy));
  }
  if (all.length < 2) return all;
  const decides = end.by === null ? end.decides : all.length - 1;
  return all.map((one, at) => ({ ...one, decides: at === decides }));
}

function lastRun(
  name: string,
  state: Ended,
  run: RunState,
  subject: RunSubject,
  tools: OutcomeTools,
): RunReport[] {
  const { past, end, rules, error } = state;
  const retry = retriesIn(past);
  const report = runReport(run, subject, retry, tools.now());
  if (end.verdict === null) {
    const { endedAt: _, ...open } = report;
    return [{ ...open, action: end.action }];
  }
  const verdict = end.last ?? 'unobserved';
  const judged: RunReport = { ...report, ...judge(verdict, rules.policy) };
  if (verdict === 'timeout' && run.outcome?.nextReadMs != null)
    return [{ ...judged, nextReadSeconds: seconds(run.outcome.nextReadMs) }];
  if (verdict === 'timeout' && run.outcome?.readsUsed) return [{ ...judged, attemptsExhausted: true }];
  if (error === null) return [judged];
  if (typeof error === 'string')
    return [{ ...judged, error: reportError(errorOf(name, state, error, tools)) }];
  const { exitCode: _, ...shown } = error;
  return [{ ...judged, error: shown }];
}

function runReport(run: RunState, subject: RunSubject, retry: number, now: number): RunReport {
  const {
    id: runId,
    seen,
    appUrl,
    reads: attempts,
    endedAt,
    since,
    key,
    cancel,
    readWoken,
    reattached,
  } = run;
  return {
    runId,
    ...subject,
    name: subject.name ?? runId,
    state: seen?.state ?? null,
    verdict: null,
    action: 'fail',
    failed: seen?.failed ?? null,
    blocked: seen?.blocked ?? null,
    appUrl,
    attempts,
    elapsedSeconds: seconds((endedAt ?? now) - since),
    ...(endedAt !== null && { endedAt: new Date(endedAt).toISOString() }),
    idempotencyKey: key,
    reattached,
    ...(retry > 0 && { retry }),
    ...(cancel !== 'no' && { cancellation: cancel === 'accepted' ? 'requested' : 'failed' }),
    ...(readWoken && { woken: true as const }),
  };
}

/** Returns the entry of a run that was not created, or may have been. */
function uncreated(name: string, state: Ended, subject: RunSubject, tools: OutcomeTools): RunReport[] {
  const { past, end, error, key, begunAt } = state;
  const retry = retriesIn(past);
  const isUnsure = key?.sentAt != null;
  const known = {
    ...subject,
    elapsedSeconds: seconds(tools.now() - (begunAt ?? tools.now())),
    idempotencyKey: isUnsure ? key.key : null,
    ...(end.by === null && { endedAt: new Date(end.at).toISOString() }),
    ...(retry > 0 && { retry }),
  };
  if (end.by !== null) return isUnsure ? [unknownRun(known)] : [];
  if (error === null || (error === 'late' && retry > 0)) return [];
  const cause = typeof error === 'string' ? errorOf(name, state, error, tools) : tools.live(name).error;
  return cause === null ? [] : reportUncreated([known], cause).runs;
}

/** Returns a failure that the machine itself has found, in words. */
function errorOf(name: string, state: GateState, reason: Reason, tools: OutcomeTools): RungateError {
  const { rules, past, key, run } = state;
  const { timeoutMs } = rules;
  const { page, hub } = tools;
  const discarded = discardedIn(past, tools);
  switch (reason) {
    case 'late':
      return lateError(timeoutMs, hub, discarded);
    case 'lost':
      return lostError(timeoutMs, key?.key ?? '');
    case 'no-environment':
      return new TimeoutError(
        `no run was created: preparing its environment took longer than the timeout of ${formatDuration(timeoutMs)}`,
        { hint: 'set a longer timeout' },
      );
    case 'not-deployed':
      return page?.never(page.timeoutMs) ?? new MismatchError('the expected build is not deployed');
    case 'other-build':
    case 'build-unread':
      return page?.problem() ?? new MismatchError('another build was tested');
    case 'unread':
      if (!rules.waits) return unclear(run?.id);
      return new NetworkError('deadline', 'the timeout was reached before the state of the run was read', {
        hint: 'set a longer timeout',
      });
    case 'same-run':
      return sameRun(name, tools);
  }
}

/** A run that had ended may be that of another job, so it is not named as the one that was started. */
const unclear = (runId = '') =>
  new NetworkError(
    'deadline',
    `rungate could not tell within ${formatDuration(firstReadMs)} whether run ${runId} had already ended`,
    { hint: 'try again, or start a new run with another idempotency salt' },
  );

/** One run cannot be the result of two gates: the service, or the pointer to the id, is wrong. */
function sameRun(gate: string, { ownerOf, nameOf }: OutcomeTools): RungateError {
  const other = ownerOf(gate);
  if (other === null)
    return new UnexpectedResponseError(
      'the service returns a run that has already ended for every idempotency key, even for a random one',
      { field: 'runId', expected: 'a new run', received: 'a run that has ended' },
    );
  const { owner, runId } = other;
  return new UnexpectedResponseError(
    `the service returned run ${runId} for gate ${gate}, but that is the run of gate ${owner}`,
    {
      field: 'runId',
      expected: 'a new run',
      received: `the run of gate ${owner}`,
      hint: `if the id is elsewhere in the response, set ${nameOf('run.idPointer')}`,
    },
  );
}
