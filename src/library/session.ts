import { detectCi } from '../ci/provider.ts';
import { bodySecrets } from '../client/body-secrets.ts';
import { createCaller, ownRedactor } from '../client/caller.ts';
import type { Checked } from '../client/check-options.ts';
import { systemClock } from '../clock.ts';
import { RungateError, redactError, UsageError } from '../errors.ts';
import { checkHeaders } from '../gate/deployed/headers.ts';
import type { GateEvent } from '../gate/events.ts';
import { intervalNote, usualDeployedMs } from '../gate/limits.ts';
import { sayInLibrary } from '../options/spelling.ts';
import { isLocal, parseApiUrl } from '../transport/address.ts';
import type { GateOptions } from './gate-options.ts';
import { observerOf } from './observer.ts';
import type { OpenGateOptions, OpenOptions } from './open-gate.ts';
import type { Reporter } from './reporter.ts';

type SharedOptions = Omit<Checked<GateOptions>, 'onProgress'>;

/** How the caller of a function reaches the service, and the functions that it observes the call with. */
export interface Session extends OpenOptions {
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
    gates?: unknown;
  },
  intervalsMs: readonly number[],
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { hub, insecureHttp, caPem, proxyEnv, clock = systemClock, random = Math.random } = options;
  const local = isLocal(options.apiUrl);
  const notes = new Set(intervalsMs.flatMap((ms) => intervalNote('intervalMs', ms, local) ?? []));
  const observer = observerOf<Event>(options);
  const progress = observer.emit as NonNullable<Reporter['progress']>;
  const { trigger, gates } = options;
  // The service may repeat the secrets of the request that creates a run.
  const redact = ownRedactor(options, [hub?.token, ...bodySecrets({}, { body: { trigger, gates } })]);
  const connection = { insecureHttp, caPem, proxyEnv };
  try {
    const base = parseApiUrl(options.apiUrl, insecureHttp);
    for (const message of notes) progress({ type: 'note', message });
    return await use({
      ...{ base, clock, random, redact, say: sayInLibrary, onStop: observer.onStop },
      reporter: { progress },
      hasFailed: () => observer.hasFailed(clock),
      connect: async () =>
        createCaller({ ...options, onExchange: observer.onExchange }, redact, sayInLibrary),
      hub: async () => (hub === undefined ? null : { ...hub, url: String(hub.url), ...connection }),
    });
  } catch (error) {
    throw error instanceof RungateError ? redactError(error.word(sayInLibrary), redact) : error;
  } finally {
    await observer.hasFailed(clock);
    observer.throwIfFailed();
  }
}

function commitIn(env: GateOptions['env']): string | undefined {
  if (env === undefined) return undefined;
  return detectCi(env).commitSha ?? undefined;
}

export function sharedOptions(
  options: SharedOptions,
): Omit<OpenGateOptions, keyof OpenOptions | 'gates' | 'failFast'> {
  const { deployed, insecureHttp, caPem, proxyEnv, requestTimeoutMs, runIds, cancelReason, env } = options;
  return {
    ...{ cancelReason, env: env ?? {}, local: isLocal(options.apiUrl) },
    cancelOnInterrupt: options.cancelOnAbort ?? runIds === undefined,
    cancelOnTimeout: options.cancelOnTimeout === true,
    async deployed(commit) {
      if (deployed === undefined) return null;
      const { url, pointer, is, timeoutMs = usualDeployedMs, headers = {} } = deployed;
      const expected = is?.trim() ?? commit ?? commitIn(env);
      if (expected === undefined || expected === '') {
        throw new UsageError('the expected build is unknown', {
          hint: 'pass deployed.is, or trigger.commitSha, or env of a CI job',
        });
      }
      return {
        ...{
          url: String(url),
          pointer,
          expected,
          timeoutMs,
          insecureHttp,
          caPem,
          proxyEnv,
          requestTimeoutMs,
        },
        headers: checkHeaders('deployed.headers', headers),
      };
    },
  };
}
