import { createCaller, ownRedactor } from '../client/caller.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { StopCause } from '../errors.ts';
import type { OpenDeployed } from '../gate/deployed/open.ts';
import type { Emit, GateEvent } from '../gate/events.ts';
import type { OpenHub } from '../gate/fleet/open-hub.ts';
import type { GateOptions as CoreOptions, GateTools } from '../gate/gate.ts';
import { intervalNote, shortestWaitMs } from '../gate/limits.ts';
import { runService } from '../gate/service.ts';
import { optionNames } from '../hint-names.ts';
import type { Redact } from '../redact.ts';
import { isLocal, parseApiUrl } from '../transport/address.ts';
import { openOptionDeployed } from './deployed.ts';
import type { GateOptions } from './gate-options.ts';
import { openOptionHub } from './hub.ts';
import { observerOf } from './observer.ts';

/** The connections and tools that `gate` and `gates` use. */
export interface Session<Event> {
  /** The service's base URL. */
  base: URL;
  clock: Clock;
  redact: Redact;
  emit(event: Event | GateEvent): void;
  /** The options that all gates of a call share. */
  shared: Pick<CoreOptions, 'shortestMs' | 'cancelOnInterrupt' | 'cancelOnTimeout' | 'cancelReason'>;
  tools: Pick<GateTools, 'service' | 'clock' | 'random' | 'onStop'>;
  /** Opens a link with the hub; undefined without a hub. */
  openHub(emit: Emit): Promise<OpenHub | undefined>;
  /** Opens the check of the deployed build; undefined without one. */
  openDeployed(commit: string | undefined): Promise<OpenDeployed | undefined>;
}

type SessionOptions<Event> = Omit<GateOptions, 'onProgress'> & {
  onProgress?: ((event: Event | GateEvent) => void) | undefined;
};

/**
 * Calls the function with a session, and closes its connections afterwards.
 * @param intervalsMs the intervals of the gates
 * @throws what a function of the caller's has thrown
 */
export async function withSession<Event, Result>(
  options: SessionOptions<Event>,
  intervalsMs: readonly number[],
  use: (session: Session<Event>) => Promise<Result>,
): Promise<Result> {
  const { env, runIds, clock = systemClock, random = Math.random } = options;
  const base = parseApiUrl(options.apiUrl, options.insecureHttp, optionNames);
  const local = isLocal(options.apiUrl);
  const notes = new Set(intervalsMs.flatMap((ms) => intervalNote('intervalMs', ms, local) ?? []));
  const observer = observerOf<Event>(options);
  const { emit, onExchange } = observer;
  for (const message of notes) emit({ type: 'note', message });
  const redact = ownRedactor(options, options.hub?.token);
  const caller = createCaller({ ...options, onExchange }, redact, optionNames);
  try {
    const result = await use({
      base,
      clock,
      redact,
      emit,
      shared: {
        shortestMs: shortestWaitMs(local),
        cancelOnInterrupt: options.cancelOnAbort ?? runIds === undefined,
        cancelOnTimeout: options.cancelOnTimeout === true,
        cancelReason: async (why: StopCause | 'timeout') =>
          options.cancelReason ?? (await import('../ci/provider.ts')).cancelReason(why, env ?? {}),
      },
      tools: { service: runService(caller, clock.now), clock, random, onStop: observer.onStop },
      openHub: (emitOwn) => openOptionHub(options, clock, redact, emitOwn),
      openDeployed: (commit) => openOptionDeployed(options, commit, clock, redact, emit),
    });
    observer.throwIfFailed();
    return result;
  } finally {
    await caller.close();
  }
}
