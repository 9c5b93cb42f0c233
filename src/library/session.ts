import { detectCi } from '../ci/provider.ts';
import { bodySecrets } from '../client/body-secrets.ts';
import { createCaller, ownRedactor } from '../client/caller.ts';
import type { Checked } from '../client/check-options.ts';
import { checkHeaders } from '../client/headers.ts';
import type { ExchangeEvent } from '../client/options.ts';
import { type Clock, isPromise, systemClock, within } from '../clock.ts';
import {
  RungateError,
  redactError,
  type StopCause,
  type StopListener,
  StoppedError,
  UsageError,
} from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';
import { intervalNote, usualDeployedMs } from '../gate/limits.ts';
import { nameInLibrary } from '../options/spelling.ts';
import { artifactsOf, versionsOf } from '../subject.ts';
import { isLocal, parseApiUrl, querySecrets, receiver } from '../transport/address.ts';
import { onAbort } from '../transport/stop.ts';
import type { GateOptions } from './gate-options.ts';
import type { OpenGateOptions } from './open-gate.ts';
import type { Reporter } from './reporter.ts';

type SharedOptions = Omit<Checked<GateOptions>, 'onProgress'>;

/** How the caller of a function runs gates and reaches the service, and the functions that it observes the call with. */
export interface Session extends Omit<OpenGateOptions, 'gates' | 'failFast'> {
  base: URL;
  reporter: Required<Pick<Reporter, 'progress'>>;
  /** Waits for the caller's functions. Returns whether one has failed. */
  hasFailed(): Promise<boolean>;
}

/** Waits for the caller's functions afterwards. @throws what one of them has thrown */
export async function withSession<Event, Result>(
  options: SharedOptions & {
    onProgress?: ((event: Event | GateEvent) => void) | undefined;
    trigger?: unknown;
    gates?: Readonly<Record<string, Pick<GateOptions, 'preview'> & { trigger: unknown }>>;
  },
  intervalsMs: readonly number[],
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { hub, insecureHttp, caPem, proxyEnv, clock = systemClock, random = Math.random } = options;
  const local = isLocal(options.apiUrl);
  const notes = new Set(intervalsMs.flatMap((ms) => intervalNote('intervalMs', ms, local) ?? []));
  const observer = observerOf<Event>(options);
  const progress = observer.emit as NonNullable<Reporter['progress']>;
  // The names of gates say nothing about secrets.
  const all = [options, ...Object.values(options.gates ?? {})];
  const pages = all
    .flatMap(({ preview }) => [preview?.baseUrl, preview?.readyUrl])
    .flatMap((url) => querySecrets(url && String(url)));
  // The service may repeat the secrets of the request that creates a run.
  const bodies = bodySecrets({}, { body: all.map(({ trigger }) => trigger) });
  const redact = ownRedactor(options, [hub?.token, ...pages, ...bodies]);
  const connection = { insecureHttp, caPem, proxyEnv };
  try {
    const base = parseApiUrl(options.apiUrl, receiver('service', nameInLibrary), insecureHttp);
    for (const message of notes) progress({ type: 'note', message });
    return await use({
      base,
      clock,
      random,
      redact,
      nameOf: nameInLibrary,
      onStop: observer.onStop,
      reporter: { progress },
      hasFailed: () => observer.hasFailed(clock),
      connect: async () =>
        createCaller({ ...options, onExchange: observer.onExchange }, nameInLibrary, redact),
      hub: async () => (hub === undefined ? null : { ...hub, url: String(hub.url), ...connection }),
      local,
      env: options.env ?? {},
      cancelReason: options.cancelReason,
      cancelOnInterrupt: options.cancelOnAbort ?? options.runIds === undefined,
      cancelOnTimeout: options.cancelOnTimeout === true,
      connection: async () => connection,
      deployed: async (commit) => deployedOf(options, connection, commit),
    });
  } catch (error) {
    throw error instanceof RungateError ? redactError(error, redact) : error;
  } finally {
    await observer.hasFailed(clock);
    observer.throwIfFailed();
  }
}

/** Returns how to read the version page; null without a check. @throws UsageError if the expected build is unknown */
function deployedOf(
  { deployed, env, requestTimeoutMs, subjects }: SharedOptions,
  connection: Pick<SharedOptions, 'caPem' | 'insecureHttp' | 'proxyEnv'>,
  commit: string | undefined,
) {
  if (deployed === undefined) return null;
  const { url, pointer, is, timeoutMs = usualDeployedMs, headers = {} } = deployed;
  const versions = () => versionsOf(commit ?? (env && detectCi(env).commitSha), artifactsOf(subjects));
  const expected = is === undefined ? versions() : [is.trim()].filter((version) => version !== '');
  if (expected.length === 0) {
    throw new UsageError('the expected build is unknown', {
      hint: 'pass deployed.is, trigger.commitSha, subjects, or env of a CI job',
    });
  }
  return {
    ...connection,
    url: String(url),
    pointer,
    expected,
    timeoutMs,
    requestTimeoutMs,
    headers: checkHeaders('deployed.headers', headers),
  };
}

/** Returns the cause of a stop from an abort's reason: `controller.abort('SIGTERM')` is a stop by that signal. */
function causeOf(reason: unknown): StopCause {
  if (reason instanceof StoppedError) return reason.signal;
  return reason === 'SIGHUP' || reason === 'SIGINT' || reason === 'SIGTERM' ? reason : 'abort';
}

/** How long the end of a gate waits for asynchronous functions of the caller, in milliseconds. */
const longestMs = 10_000;

/** Wraps the caller's functions and `signal`. A function that throws or rejects stops the gate, so no run goes on unobserved. */
export function observerOf<Event = GateEvent>(options: {
  onProgress?: ((event: Event | GateEvent) => void) | undefined;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
}) {
  let failure: { error: unknown } | undefined;
  const broken = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const fail = (error: unknown) => {
    failure ??= { error };
    broken.abort();
  };
  const guarded =
    <Given>(receive: ((event: Given) => void) | undefined) =>
    (event: Given): void => {
      if (failure !== undefined) return;
      try {
        const returned: unknown = receive?.(event);
        if (!isPromise(returned)) return;
        const settled: Promise<unknown> = returned.then(() => {}, fail).then(() => pending.delete(settled));
        pending.add(settled);
      } catch (error) {
        fail(error);
      }
    };
  return {
    emit: guarded(options.onProgress),
    onExchange: guarded(options.onExchange),
    /** Waits for the caller's functions. Returns whether one has failed. */
    async hasFailed(clock: Clock): Promise<boolean> {
      if (pending.size > 0) await within(longestMs, Promise.all(pending), clock);
      return failure !== undefined;
    },
    throwIfFailed(): void {
      if (failure !== undefined) throw failure.error;
    },
    onStop(listener: StopListener): () => void {
      const aborting = [options.signal, broken.signal].filter((signal) => signal !== undefined);
      return onAbort(aborting, (reason) => listener(causeOf(reason)));
    },
  };
}
