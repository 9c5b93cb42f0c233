import type { Caller } from '../client/caller.ts';
import type { ExchangeEvent } from '../client/options.ts';
import { type Clock, within } from '../clock.ts';
import {
  RungateError,
  redactError,
  type Say,
  type StopCause,
  StoppedError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts';
import { stopBudgetMs } from '../gate/cancel.ts';
import { untilAborted } from '../gate/create.ts';
import type { Emit, EnvironmentStep } from '../gate/events.ts';
import type { GateOutcome, PlannedGate } from '../gate/plan/plan.ts';
import { isLimit } from '../gate/poll.ts';
import type { PreviewReport, RunReport } from '../gate/result-types.ts';
import { surelyRefused } from '../gate/send-create.ts';
import { type Redact, redactor } from '../redact.ts';
import { bareUrl, toDeployment } from '../transport/address.ts';
import { proxyFor } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { deleteOwn, lookMs } from './environments.ts';
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
  /** A number from 0 up to 1. */
  random: () => number;
  emit: Emit;
  say: Say;
  onStop(listener: (cause: StopCause) => void): () => void;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
}

/** The environment of one preview, which several gates may share. */
interface Open {
  key: string;
  preview: Preview;
  redact: Redact;
  ready?: Promise<void>;
  prepared?: Promise<void>;
  /** Whether there may be something to delete. */
  mayExist: boolean;
  /** Whether the service refused to create it. */
  isRefused: boolean;
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
  // An error before the create has no run.
  if (error !== undefined && error.facts.runMayExist !== true) return [];
  return entry.runs.filter(mayGoOn).map(({ runId, idempotencyKey }) => runId ?? String(idempotencyKey));
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
  signal.throwIfAborted();
}

/** Opens the previews of gates, which `attach` ties to their starts. */
export function openPreviews(tools: PreviewTools) {
  const { caller, caPem, proxyEnv, clock, random, emit, say, onStop, onExchange } = tools;
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

  const tell = (
    { key, preview }: Open,
    step: EnvironmentStep,
    error: RungateError | null = null,
    runs: readonly string[] = [],
  ) => emit({ type: 'environment', step, key, baseUrl: bareUrl(preview.baseUrl), error, runs });

  async function ready({ preview, redact }: Open): Promise<void> {
    const { readyUrl, readyTimeoutMs } = preview;
    const { signal } = preparing;
    const warning = await untilReady(readyUrl, readyTimeoutMs, { transport, clock, onExchange, signal });
    if (warning !== null) emit({ type: 'note', message: redact(warning) });
  }

  async function prepare(one: Open, turn: () => Promise<boolean>): Promise<void> {
    const { signal } = preparing;
    let last: EnvironmentStep | undefined;
    try {
      await prepareEnvironment(one.key, one.preview, {
        ...{ caller, clock, random, signal },
        async turn() {
          if (await turn()) return;
          signal.throwIfAborted();
          throw new TimeoutError('the environment was not created: its turn in the limits came too late', {
            hint: 'set a longer timeout, or start fewer gates at the same time',
          });
        },
        tell(step) {
          one.mayExist = true;
          last = step;
          tell(one, step);
        },
      });
    } catch (error) {
      one.isRefused = last === 'creating' && surelyRefused(error);
      throw error instanceof RungateError ? redactError(error.word(say), one.redact) : error;
    }
  }

  /** Returns whether it was deleted; null if it never existed. */
  async function close(one: Open, runs: readonly string[]): Promise<boolean | null> {
    const { key, redact } = one;
    if (runs.length > 0) {
      tell(one, 'kept', null, runs);
      return false;
    }
    try {
      // A stop does not end the request that creates it.
      await within(
        stopBudgetMs / 2,
        (one.prepared ?? Promise.resolve()).catch(() => {}),
        clock,
      );
      const deletion = await deleteOwn(key, one.isRefused ? 0 : lookMs, { caller, clock }, deletingOptions);
      if (deletion === 'deleted') {
        tell(one, 'deleted');
        return true;
      }
      // An earlier run of the job may have created it late.
      if (deletion === 'missing' && one.isRefused) return null;
      const [problem, expected] = {
        missing: ['the list of the environments does not show it', 'the environment'],
        foreign: ['its name is not the one that rungate gave it', 'the name'],
      }[deletion] as [string, string];
      const parts = { field: 'items', expected, received: 'something else' };
      throw new UnexpectedResponseError(problem, parts);
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      tell(one, 'kept', redactError(error.word(say), redact));
      return false;
    }
  }

  return {
    /** Returns the gate with a start that waits for the deployment and creates the environment. */
    attach<Gate extends PreviewGate>(gate: Gate): Gate {
      const { name, start, preview } = gate;
      const key = start?.body.environmentKey;
      if (start === undefined || preview === undefined || typeof key !== 'string') return gate;
      const one = all.get(key) ?? {
        ...{ key, preview, mayExist: false, isRefused: false },
        redact: redactor([preview.baseUrl.search.slice(1)]),
      };
      all.set(key, one);
      users.set(name, key);
      return {
        ...gate,
        start: {
          ...start,
          ready(signal: AbortSignal) {
            one.ready ??= ready(one);
            return unlessAborted(one.ready, signal);
          },
          prepare(turn: () => Promise<boolean>, signal: AbortSignal) {
            one.prepared ??= prepare(one, turn);
            return unlessAborted(one.prepared, signal);
          },
        },
      };
    },

    /**
     * Deletes the environments of gates that have ended, unless a run may go on in them. The exit code stays that of the gates.
     * Returns a report on each environment that exists or existed.
     */
    async close(outcomes: readonly GateOutcome[]): Promise<PreviewReport[]> {
      isClosing = true;
      preparing.abort(new TimeoutError('the gates have ended'));
      longestEnd = clock.monotonic() + longestDeleteMs;
      deleteEnd = clock.monotonic() + deleteMs;
      void endDeleting();
      try {
        const reports = [...all.values()].map(async (one): Promise<PreviewReport[]> => {
          const own = outcomes.filter(({ entry }) => users.get(entry.name) === one.key);
          // An earlier slice may have created it.
          if (own.some(({ entry }) => entry.result === 'waiting')) return [];
          const runs = own.flatMap(liveRuns);
          if (!one.mayExist && own.every(({ entry }) => entry.runs.every((run) => run.runId === null)))
            return [];
          const deleted = await close(one, runs);
          if (deleted === null) return [];
          return [{ environmentKey: one.key, baseUrl: bareUrl(one.preview.baseUrl), deleted }];
        });
        return (await Promise.all(reports)).flat();
      } finally {
        closed.abort();
        unsubscribe();
        await transport.close();
      }
    },
  };
}
