import type { Caller } from '../client/caller.ts';
import type { Listed } from '../client/environments.ts';
import type { ExchangeEvent } from '../client/options.ts';
import { type Clock, within } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import {
  RungateError,
  type Say,
  type StopCause,
  StoppedError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts';
import type { Emit, EnvironmentStep } from '../gate/events.ts';
import { isLimit } from '../gate/failed-read.ts';
import { stopBudgetMs } from '../gate/limits.ts';
import type { GateOutcome, PlannedGate } from '../gate/plan/plan.ts';
import type { PreviewReport, RunReport } from '../gate/result-types.ts';
import { bareUrl, shownUrl, toDeployment } from '../transport/address.ts';
import { proxyFor } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { untilAborted } from '../transport/stop.ts';
import { deleteOwn, environmentsWithKey, wasRefused } from './environments.ts';
import { isOwn } from './mark.ts';
import { type Preview, prepareEnvironment } from './prepare.ts';
import { untilReady } from './ready.ts';

export interface PreviewGate extends PlannedGate {
  preview?: Preview | undefined;
}

interface PreviewTools {
  caller: Caller;
  /** How to reach the deployments: with the same certificates and proxies as the service. */
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  clock: Clock;
  emit: Emit;
  say: Say;
  onStop(listener: (cause: StopCause) => void): () => void;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
}

/** The environment of one preview, which several gates may share. */
interface Open {
  key: string;
  preview: Preview;
  /** The job, or an earlier slice, may have created it before: the key is not random. */
  isForeseeable: boolean;
  created?: Promise<void> | undefined;
  /** The last step; undefined if nothing was created or found. */
  step?: 'creating' | 'created' | 'found' | undefined;
}

class LateTurn extends TimeoutError {
  static override readonly name = 'TimeoutError';
}

/** The time for deleting the environment of a gate that has ended, in milliseconds. */
const deleteMs = 60_000;
/** The same time with the waits for a rate limit, in milliseconds. */
const longestDeleteMs = 10 * 60_000;

/** Whether a run may still use its environment: its end was not seen, and no cancellation was accepted. */
function mayGoOn({ runId, state, cancellation, idempotencyKey }: RunReport): boolean {
  if (runId === null && idempotencyKey === null) return false;
  return state !== 'completed' && state !== 'cancelled' && cancellation !== 'requested';
}

/** Returns the runs that may still use an environment; of a run without a known id, its idempotency key. */
function liveRuns({ entry, error }: GateOutcome): string[] {
  // An error before the run is created has no run.
  if (error !== undefined && error.facts.runMayExist !== true) return [];
  return entry.runs.filter(mayGoOn).map(({ runId, idempotencyKey }) => runId ?? String(idempotencyKey));
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function rejectIfAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
  signal.throwIfAborted();
}

/** Opens the previews of gates, which `attach` ties to their starts. */
export function openPreviews(tools: PreviewTools) {
  const { caller, caPem, proxyEnv, clock, emit, say, onStop, onExchange } = tools;
  const proxy = proxyEnv === undefined ? undefined : (target: URL) => proxyFor(target, proxyEnv);
  const transport = httpTransport({ caPem, proxy, to: toDeployment });
  const all = new Map<string, Open>();
  const users = new Map<string, string>();
  /** Ends the waits, but no request that creates something. Not a gate's own signal, since several share the work. */
  const preparing = new AbortController();
  const deleting = new AbortController();
  const closed = new AbortController();
  let stopEnd = Number.POSITIVE_INFINITY;
  let isClosing = false;

  let [deleteEnd, longestEnd] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const endDeleting = async () => {
    const end = () => Math.min(deleteEnd, stopEnd);
    try {
      for (let now = clock.monotonic(); now < end(); now = clock.monotonic())
        await clock.sleep(end() - now, closed.signal);
      deleting.abort(new TimeoutError('the time for deleting it was over'));
    } catch {
      // It is closed.
    }
  };
  const unsubscribe = onStop((by) => {
    stopEnd = Math.min(stopEnd, clock.monotonic() + stopBudgetMs);
    preparing.abort(new StoppedError(by));
    if (isClosing) void endDeleting();
  });

  const deletingOptions = {
    signal: deleting.signal,
    limitTimeoutMs: longestDeleteMs,
    onRetry(error: RungateError, waitMs: number) {
      if (isLimit(error)) deleteEnd = Math.min(deleteEnd + waitMs, longestEnd);
    },
  };

  function tell(one: Open, step: EnvironmentStep, error: RungateError | null = null, runs: string[] = []) {
    const baseUrl = bareUrl(one.preview.baseUrl);
    emit({ type: 'environment', step, key: one.key, baseUrl, error, runs });
  }

  const pages = new Map<string, Promise<void>>();
  /** Gates with one page share the wait for it. */
  function pageReady({ readyUrl, readyTimeoutMs }: Preview): Promise<void> {
    const page = `${readyUrl.href} ${readyTimeoutMs}`;
    const known = pages.get(page);
    if (known !== undefined) return known;
    const { signal } = preparing;
    const note = (message: string) => emit({ type: 'note', message });
    note(`waiting for ${shownUrl(readyUrl)} to respond, for up to ${formatDuration(readyTimeoutMs)}`);
    const waited = untilReady(readyUrl, readyTimeoutMs, { transport, clock, onExchange, signal }).then(
      (warning) => {
        if (warning !== null) note(warning);
      },
    );
    pages.set(page, waited);
    return waited;
  }

  async function create(one: Open, turn: () => Promise<boolean>): Promise<void> {
    const { signal } = preparing;
    try {
      await prepareEnvironment(one.key, one.preview, {
        caller,
        clock,
        signal,
        async turn() {
          if (await turn()) return;
          signal.throwIfAborted();
          throw new LateTurn('the environment was not created: its turn in the limits came too late', {
            hint: 'set a longer timeout, or start fewer gates at the same time',
          });
        },
        tell(step) {
          one.step = step;
          tell(one, step);
        },
      });
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      if (one.step === 'creating' && wasRefused(error)) {
        one.step = undefined;
        error.hint ??= 'rungate env prune deletes environments that gates have left';
      }
      throw error.word(say);
    }
  }

  /** Creates the environment once. A gate whose own turn comes in time does not fail because that of another gate did not. */
  async function created(one: Open, turn: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    for (;;) {
      const isFirst = one.created === undefined;
      one.created ??= create(one, turn);
      const { created } = one;
      try {
        return await rejectIfAborted(created, signal);
      } catch (error) {
        if (!(error instanceof LateTurn) || isFirst) throw error;
        if (one.created === created) one.created = undefined;
      }
    }
  }

  /** Returns whether the environment was deleted; null if there is none. */
  async function removed(one: Open, outcomes: readonly GateOutcome[]): Promise<boolean | null> {
    const { key, isForeseeable } = one;
    const runs = outcomes.flatMap(liveRuns);
    const keep = (error: RungateError | null) => {
      tell(one, 'kept', error, runs);
      return false;
    };
    if (runs.length > 0) return keep(null);
    const hadRun = outcomes.some(({ entry }) => entry.runs.some(({ runId }) => runId !== null));
    if (one.step === undefined && !hadRun && !isForeseeable) return null;
    try {
      // A stop does not end the request that creates it.
      const settled = Promise.resolve(one.created).catch(() => {});
      await within(stopBudgetMs / 2, settled, clock);
      const isOurs = (environment: Listed) => isOwn(environment, one.preview.baseUrl.href);
      // The job may have created it before its re-run, or in an earlier slice, and its run may go on.
      if (!hadRun && (one.step === undefined || one.step === 'found')) {
        const found =
          one.step === 'found' || (await environmentsWithKey(key, caller, deletingOptions)).some(isOurs);
        return found ? keep(null) : null;
      }
      const deletion = await deleteOwn(key, isOurs, { caller, clock }, deletingOptions);
      // Another process of the job has deleted what this one has found.
      if (deletion === 'deleted' || (deletion === 'missing' && one.step === 'found')) {
        tell(one, 'deleted');
        return true;
      }
      const problem = {
        missing: `${one.step === 'creating' ? 'it may have been created, but ' : ''}the service does not list it`,
        foreign: 'the service does not list it with the name and the base URL that rungate gave it',
      }[deletion];
      const facts = { field: 'items', expected: key, received: 'none' };
      return keep(new UnexpectedResponseError(problem, facts));
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      return one.step === undefined && !hadRun ? null : keep(error.word(say));
    }
  }

  return {
    /** Returns the gate with a start that waits for the deployment and creates the environment. */
    attach<Gate extends PreviewGate>(gate: Gate): Gate {
      const { name, start, preview } = gate;
      const key = start?.body.environmentKey;
      if (start === undefined || preview === undefined || typeof key !== 'string') return gate;
      const isForeseeable = start.chain.link.trust !== 'random' || gate.isResumed === true;
      const one = all.get(key) ?? { key, preview, isForeseeable };
      all.set(key, one);
      users.set(name, key);
      return {
        ...gate,
        start: {
          ...start,
          ready: (signal: AbortSignal) => rejectIfAborted(pageReady(preview), signal),
          prepare: (turn: () => Promise<boolean>, signal: AbortSignal) => created(one, turn, signal),
        },
      };
    },

    /**
     * Deletes the environments of gates that have ended, unless a run may go on in them. The exit code stays that of the gates.
     * Returns a report on each environment that exists or existed.
     */
    async removeAll(outcomes: readonly GateOutcome[]): Promise<PreviewReport[]> {
      isClosing = true;
      preparing.abort(new TimeoutError('the gates have ended'));
      longestEnd = clock.monotonic() + longestDeleteMs;
      deleteEnd = clock.monotonic() + deleteMs;
      void endDeleting();
      const reports = [...all.values()].map(async (one): Promise<PreviewReport[]> => {
        const own = outcomes.filter(({ entry }) => users.get(entry.name) === one.key);
        // The next slice needs it.
        if (own.some(({ entry }) => entry.result === 'waiting')) return [];
        const deleted = await removed(one, own);
        const { key, preview } = one;
        return deleted === null ? [] : [{ environmentKey: key, baseUrl: bareUrl(preview.baseUrl), deleted }];
      });
      return (await Promise.all(reports)).flat();
    },

    async end(): Promise<void> {
      closed.abort();
      unsubscribe();
      await transport.close();
    },
  };
}
