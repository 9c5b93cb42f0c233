import type { Caller, CallOptions } from '../client/caller.ts';
import type { Listed } from '../client/environments.ts';
import type { ExchangeEvent } from '../client/options.ts';
import { type Clock, within } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import {
  type NameOf,
  RungateError,
  type StopListener,
  StoppedError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts';
import type { Emit, EnvironmentStep } from '../gate/events.ts';
import { isLimit } from '../gate/failed-read.ts';
import { stopBudgetMs } from '../gate/limits.ts';
import type { PlannedGate } from '../gate/plan/plan.ts';
import type { EnvironmentTools, Preview, Removal, StartEnvironment } from '../gate/start.ts';
import { bareUrl, receiver, shownUrl } from '../transport/address.ts';
import { proxyFor } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { untilAborted } from '../transport/stop.ts';
import { deleteOwn, environmentsWithKey, wasRefused } from './environments.ts';
import { isOwn } from './mark.ts';
import { prepareEnvironment } from './prepare.ts';
import { untilReady } from './ready.ts';

interface PreviewTools {
  caller: Caller;
  /** How to reach the deployments: with the same certificates and proxies as the service. */
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  clock: Clock;
  emit: Emit;
  nameOf: NameOf;
  onStop(listener: StopListener): () => void;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
}

/** The environment of one preview, which several gates may share. */
interface Open {
  key: string;
  preview: Preview;
  /** The job, or an earlier slice, may have created it before: the key is not random. */
  isForeseeable: boolean;
  created?: Promise<void> | undefined;
  /** Ends the waits, but no request that creates something. */
  readonly ended: AbortController;
  /** The last step; undefined if nothing was created or found. */
  step?: 'creating' | 'created' | 'found' | undefined;
}

type DeletingOptions = CallOptions & { signal: AbortSignal };

/** The time for deleting the environment of a gate that has ended, in milliseconds. */
const deleteMs = 60_000;
/** The same time with the waits for a rate limit, in milliseconds. */
const longestDeleteMs = 10 * 60_000;

const nothing: Removal = { step: 'none', error: null };

/** Rejects with the signal's reason as soon as it is aborted. */
async function rejectIfAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
  signal.throwIfAborted();
}

/** Opens the previews of gates, which `attach` ties to their starts. */
export function openPreviews(tools: PreviewTools) {
  const { caller, caPem, proxyEnv, clock, emit, nameOf, onStop, onExchange } = tools;
  const proxy = proxyEnv === undefined ? undefined : (target: URL) => proxyFor(target, proxyEnv);
  const transport = httpTransport({ caPem, proxy, to: receiver('deployment', nameOf) });
  const all = new Map<string, Open>();
  /** Ends the waits for the deployments. Not a gate's own signal, since several share them. */
  const preparing = new AbortController();
  let stopEnd = Number.POSITIVE_INFINITY;
  const deletions = new Set<() => void>();
  const unsubscribe = onStop((by) => {
    stopEnd = Math.min(stopEnd, clock.monotonic() + stopBudgetMs);
    const reason = new StoppedError(by);
    preparing.abort(reason);
    for (const { ended } of all.values()) ended.abort(reason);
    for (const shorten of deletions) shorten();
  });

  /** Does the work of a deletion, whose time a rate limit extends and a stop shortens. */
  async function inTime<T>(work: (options: DeletingOptions) => Promise<T>): Promise<T> {
    const [timeUp, done] = [new AbortController(), new AbortController()];
    const longest = clock.monotonic() + longestDeleteMs;
    let own = clock.monotonic() + deleteMs;
    const watch = async () => {
      const end = () => Math.min(own, stopEnd);
      try {
        for (let now = clock.monotonic(); now < end(); now = clock.monotonic())
          await clock.sleep(end() - now, done.signal);
        timeUp.abort(new TimeoutError('the time for deleting it was over'));
      } catch {
        // It is done.
      }
    };
    const shorten = () => void watch();
    deletions.add(shorten);
    shorten();
    try {
      return await work({
        signal: timeUp.signal,
        limitTimeoutMs: longestDeleteMs,
        onRetry(error: RungateError, waitMs: number) {
          if (isLimit(error)) own = Math.min(own + waitMs, longest);
        },
      });
    } finally {
      deletions.delete(shorten);
      done.abort();
    }
  }

  function tell(one: Open, step: EnvironmentStep, error: RungateError | null = null) {
    emit({ type: 'environment', step, key: one.key, baseUrl: bareUrl(one.preview.baseUrl), error, runs: [] });
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

  async function create(one: Open, { turn, creating }: EnvironmentTools): Promise<void> {
    const { signal } = one.ended;
    try {
      await prepareEnvironment(one.key, one.preview, {
        caller,
        clock,
        signal,
        async turn() {
          if (await turn()) return;
          signal.throwIfAborted();
          throw new TimeoutError('the environment was not created: its turn in the limits came too late', {
            hint: 'set a longer timeout, or start fewer gates at the same time',
          });
        },
        async tell(step) {
          if (step === 'creating') {
            await creating();
            signal.throwIfAborted();
          }
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
      throw error.word(nameOf);
    }
  }

  /** Deletes the environment if it is this job's. */
  async function remove(one: Open, hadRun: boolean, options: DeletingOptions): Promise<Removal> {
    const { key, isForeseeable } = one;
    const keep = (error: RungateError | null): Removal => {
      tell(one, 'kept', error);
      return { step: 'kept', error };
    };
    if (one.step === undefined && !hadRun && !isForeseeable) return nothing;
    try {
      // A stop does not end the request that creates it.
      const settled = Promise.resolve(one.created).catch(() => {});
      await within(stopBudgetMs / 2, settled, clock);
      const isOurs = (environment: Listed) => isOwn(environment, one.preview.baseUrl.href);
      // The job may have created it before its re-run, or in an earlier slice, and its run may go on.
      if (!hadRun && (one.step === undefined || one.step === 'found')) {
        const found = one.step === 'found' || (await environmentsWithKey(key, caller, options)).some(isOurs);
        return found ? keep(null) : nothing;
      }
      const deletion = await deleteOwn(key, isOurs, { caller, clock }, options);
      // Another process of the job has deleted what this one has found.
      if (deletion === 'deleted' || (deletion === 'missing' && one.step === 'found')) {
        tell(one, 'deleted');
        return { step: 'deleted', error: null };
      }
      const problem = {
        missing: `${one.step === 'creating' ? 'it may have been created, but ' : ''}the service does not list it`,
        foreign: 'the service does not list it with the name and the base URL that rungate gave it',
      }[deletion];
      const facts = { field: 'items', expected: key, received: 'none' };
      return keep(new UnexpectedResponseError(problem, facts));
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      return one.step === undefined && !hadRun ? nothing : keep(error.word(nameOf));
    }
  }

  return {
    /** Returns the gate with a start that waits for the deployment, and creates and deletes the environment. */
    attach(gate: PlannedGate): PlannedGate {
      if (gate.start === undefined) return gate;
      const { start } = gate;
      const { preview, body } = start;
      const { environmentKey: key } = body;
      if (preview === undefined || typeof key !== 'string') return gate;
      const isForeseeable = start.chain.link.trust !== 'random' || gate.isResumed === true;
      const one = all.get(key) ?? { key, preview, isForeseeable, ended: new AbortController() };
      all.set(key, one);
      const environment: StartEnvironment = {
        baseUrl: bareUrl(preview.baseUrl),
        prepare(tools, signal) {
          one.created ??= create(one, tools);
          return rejectIfAborted(one.created, signal);
        },
        remove(hadRun) {
          one.ended.abort(new TimeoutError('the gates have ended'));
          return inTime((options) => remove(one, hadRun, options));
        },
      };
      const ready = (signal: AbortSignal) => rejectIfAborted(pageReady(preview), signal);
      return { ...gate, start: { ...start, ready, environment } };
    },

    async end(): Promise<void> {
      preparing.abort(new TimeoutError('the gates have ended'));
      unsubscribe();
      await transport.close();
    },
  };
}
