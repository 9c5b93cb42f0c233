import type { Caller, CallOptions } from '../client/caller.ts';
import type { Listed } from '../client/environments.ts';
import { type Clock, within } from '../clock.ts';
import { type NameOf, RungateError, TimeoutError, UnexpectedResponseError } from '../errors.ts';
import type { Emit, EnvironmentStep } from '../gate/events.ts';
import { isLimit } from '../gate/failed-read.ts';
import { stopBudgetMs } from '../gate/limits.ts';
import type { EnvironmentTools, Preview, Removal, StartEnvironment } from '../gate/start.ts';
import { bareUrl } from '../transport/address.ts';
import { onAbort, untilAborted } from '../transport/stop.ts';
import { deleteOwn, environmentsWithKey, wasRefused } from './environments.ts';
import { isOwn } from './mark.ts';
import { prepareEnvironment } from './prepare.ts';

export interface SharedTools {
  caller: Caller;
  clock: Clock;
  emit: Emit;
  nameOf: NameOf;
  /** Aborted when rungate is stopped, or the gates have ended. */
  stopping: AbortSignal;
  /** Until when a stopped rungate may delete its environments, on the monotonic clock; Infinity before a stop. */
  stopEnd(): number;
}

type DeletingOptions = CallOptions & { signal: AbortSignal };

/** The time for deleting the environment of a gate that has ended, in milliseconds. */
const deleteMs = 60_000;
/** The same time with the waits for a rate limit, in milliseconds. */
const longestDeleteMs = 10 * 60_000;

const nothing: Removal = { step: 'none', error: null };

/** Rejects with the signal's reason as soon as it is aborted. */
export async function rejectIfAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
  signal.throwIfAborted();
}

/** Does the work of a deletion, whose time a rate limit extends and a stop shortens. */
async function inDeletionTime<T>(
  work: (options: DeletingOptions) => Promise<T>,
  { clock, stopping, stopEnd }: SharedTools,
): Promise<T> {
  const [timeUp, done] = [new AbortController(), new AbortController()];
  const longest = clock.monotonic() + longestDeleteMs;
  let end = clock.monotonic() + deleteMs;
  const watch = async () => {
    const leftMs = () => Math.min(end, stopEnd()) - clock.monotonic();
    try {
      while (leftMs() > 0) await clock.sleep(leftMs(), done.signal);
      timeUp.abort(new TimeoutError('no time was left to delete it'));
    } catch {
      // It is done.
    }
  };
  void watch();
  const release = onAbort([stopping], () => void watch());
  try {
    return await work({
      signal: timeUp.signal,
      limitTimeoutMs: longestDeleteMs,
      onRetry(error: RungateError, waitMs: number) {
        if (isLimit(error)) end = Math.min(end + waitMs, longest);
      },
    });
  } finally {
    release();
    done.abort();
  }
}

/** The environment of one preview, which several gates may share. */
export class SharedEnvironment implements StartEnvironment {
  readonly baseUrl: string;
  readonly #key: string;
  readonly #preview: Preview;
  readonly #isForeseeable: boolean;
  readonly #tools: SharedTools;
  /** Ends the waits, but no request that creates something. */
  readonly #ended = new AbortController();
  #created: Promise<void> | undefined;
  /** The last step; undefined if nothing was created or found. */
  #step: 'creating' | 'created' | 'found' | undefined;

  /** @param isForeseeable the job, or an earlier slice, may have created it before: the key is not random */
  constructor(key: string, preview: Preview, isForeseeable: boolean, tools: SharedTools) {
    this.baseUrl = bareUrl(preview.baseUrl);
    this.#key = key;
    this.#preview = preview;
    this.#isForeseeable = isForeseeable;
    this.#tools = tools;
    onAbort([tools.stopping], (reason) => this.#ended.abort(reason));
  }

  prepare(tools: EnvironmentTools, signal: AbortSignal): Promise<void> {
    this.#created ??= this.#create(tools);
    return rejectIfAborted(this.#created, signal);
  }

  async #create({ turn, creating }: EnvironmentTools): Promise<void> {
    const { caller, clock, nameOf } = this.#tools;
    const { signal } = this.#ended;
    try {
      await prepareEnvironment(this.#key, this.#preview, {
        caller,
        clock,
        nameOf,
        signal,
        async turn() {
          if (await turn()) return;
          signal.throwIfAborted();
          throw new TimeoutError(
            'the environment was not created: the rate limits would have delayed it too long',
            {
              hint: 'set a longer timeout, or start fewer gates at the same time',
            },
          );
        },
        tell: async (step) => {
          if (step === 'creating') {
            await creating();
            signal.throwIfAborted();
          }
          this.#step = step;
          this.#tell(step);
        },
      });
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      if (this.#step === 'creating' && wasRefused(error)) {
        this.#step = undefined;
        error.hint ??= 'rungate env prune deletes environments that gates left behind';
      }
      throw error;
    }
  }

  async remove(hadRun: boolean): Promise<Removal> {
    this.#ended.abort(new TimeoutError('the gates have ended'));
    if (this.#step === undefined && !hadRun && !this.#isForeseeable) return nothing;
    try {
      return await inDeletionTime((options) => this.#delete(hadRun, options), this.#tools);
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      return this.#step === undefined && !hadRun ? nothing : this.#keep(error);
    }
  }

  /** Deletes the environment if it is this job's. */
  async #delete(hadRun: boolean, options: DeletingOptions): Promise<Removal> {
    const { caller, clock } = this.#tools;
    // A stop does not end the request that creates it.
    const settled = Promise.resolve(this.#created).catch(() => {});
    await within(stopBudgetMs / 2, settled, clock);
    const isOurs = (environment: Listed) => isOwn(environment, this.#preview.baseUrl.href);
    const step = this.#step;
    // The job may have created it before its re-run, or in an earlier slice, and its run may go on.
    if (!hadRun && (step === undefined || step === 'found')) {
      const found = step === 'found' || (await environmentsWithKey(this.#key, caller, options)).some(isOurs);
      return found ? this.#keep(null) : nothing;
    }
    const deletion = await deleteOwn(this.#key, isOurs, { caller, clock }, options);
    // Another process of the job has deleted what this one has found.
    if (deletion === 'deleted' || (deletion === 'missing' && step === 'found')) {
      this.#tell('deleted');
      return { step: 'deleted', error: null };
    }
    const problem = {
      missing: `${step === 'creating' ? 'it may have been created, but ' : ''}the service does not list it`,
      foreign: 'the service does not list it with the name and the base URL that rungate gave it',
    }[deletion];
    const facts = { field: 'items', expected: this.#key, received: 'none' };
    return this.#keep(new UnexpectedResponseError(problem, facts));
  }

  #keep(error: RungateError | null): Removal {
    this.#tell('kept', error);
    return { step: 'kept', error };
  }

  #tell(step: EnvironmentStep, error: RungateError | null = null): void {
    const { emit } = this.#tools;
    emit({ type: 'environment', step, key: this.#key, baseUrl: this.baseUrl, error, runs: [] });
  }
}
