import type { Exchange } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import {
  ConfigError,
  CredentialError,
  HttpError,
  NetworkError,
  RungateError,
  UsageError,
} from '../errors.ts';
import type { HintNames } from '../hint-names.ts';
import type { Emit } from './events.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { permitBefore } from './fleet/permit.ts';
import { runIdOf } from './run-id.ts';
import { appUrlOf } from './run-status.ts';
import type { RunService } from './service.ts';

export interface CreateRequest {
  body: TriggerBody;
  idempotencyKey: string;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  /** The names that errors use for settings. Default: those of the command line. */
  names?: HintNames | undefined;
}

export interface CreatedRun {
  kind: 'created';
  runId: string;
  appUrl: string | null;
  /** Whether the service repeated the response to an earlier request with this key, by its header; null without the header. */
  replayed: boolean | null;
  /** Requests sent with this key. From the second on, the earlier request may have been this job's. */
  attempts: number;
  response: unknown;
  /** The response as JSON text, with all its digits; empty without a body. */
  responseText: string;
}

/** `none`: no run was created. `unknown`: a run may have been created, but the response was lost. */
export type Creation = CreatedRun | { kind: 'none' } | { kind: 'unknown' };

export interface CreateTools {
  service: RunService;
  clock: Clock;
  /** Aborted when a person or the CI stops the gate. */
  signal: AbortSignal;
  emit?: Emit | undefined;
  hub?: HubLink | undefined;
}

/** The time for the response and for a second request, within the 5 s that a stop may take. */
const graceMs = 2_000;
const secondRequestMs = 1_400;
/** The limit of a call. Only the wait for a rate limit (429) may take longer, since it ends by itself. */
const callTimeoutMs = 120_000;

/** Returns whether the error proves that the service did not act on the request. */
function surelyRefused(error: unknown): boolean {
  if (error instanceof NetworkError) return error.unsent;
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof CredentialError)
    return true;
  return error instanceof HttpError && error.status < 500 && error.status !== 408 && error.status !== 409;
}

/** Adds the key, by which a person can find the run, to the error of a create after which a run may exist. */
function addKey(error: unknown, key: string): void {
  if (!(error instanceof RungateError)) return;
  const known = `a run may have been created with the idempotency key ${key}`;
  error.hint = error.hint === undefined ? known : `${known}; ${error.hint}`;
}

function readCreated(
  response: Exchange,
  { body, idempotencyKey, idPointer, names }: CreateRequest,
): CreatedRun {
  const { value, text, headers, redact, attempts } = response;
  const appUrl = appUrlOf(value);
  // The contract does not name this header; services of this kind send it.
  const replayed = headers['idempotency-replayed']?.trim().toLowerCase() ?? '';
  return {
    kind: 'created',
    runId: runIdOf(value, text, headers.location, idPointer, { ...body, idempotencyKey }, redact, names),
    appUrl: appUrl === null ? null : redact(appUrl),
    replayed: ['true', 'false'].includes(replayed) ? replayed === 'true' : null,
    attempts,
    response: value,
    responseText: text,
  };
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Settles as the promise does, or resolves with undefined after `ms`. */
async function within<T>(ms: number, promise: Promise<T>, clock: Clock): Promise<T | undefined> {
  const done = new AbortController();
  const timeUp = clock.sleep(ms, done.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    done.abort();
  }
}

/**
 * Creates a run. If it is stopped while the request is under way, it waits up to 2 s for the response, then sends the same
 * key and bytes once more, so that no unknown run keeps going.
 */
export async function createRun(
  request: CreateRequest,
  timeoutMs: number,
  { service, clock, signal, emit, hub }: CreateTools,
): Promise<Creation> {
  if (signal.aborted) return { kind: 'none' };
  const { body, idempotencyKey } = request;
  const abandon = new AbortController();
  let mayExist = false;
  let retryAt = 0;
  const deadline = clock.monotonic() + timeoutMs;
  const settled = service
    .trigger(body, {
      idempotencyKey,
      timeoutMs: Math.min(callTimeoutMs, timeoutMs),
      limitTimeoutMs: timeoutMs,
      signal: abandon.signal,
      async onRetry(error, waitMs) {
        mayExist ||= !surelyRefused(error);
        retryAt = clock.monotonic() + waitMs;
        emit?.({ type: 'retry', error, waitMs });
        if (hub === undefined || !(error instanceof HttpError) || error.status !== 429) return;
        hub.limited(error.retryAfterMs ?? 0);
        // Until the grant, no request is under way.
        retryAt = Number.POSITIVE_INFINITY;
        await clock.sleep(waitMs, signal);
        await permitBefore(deadline, hub, 'create', null, { clock, signal });
        retryAt = clock.monotonic();
      },
    })
    .then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    );

  const result = await Promise.race([settled, untilAborted(signal)]);
  if (result !== undefined) {
    try {
      if ('error' in result) throw result.error;
      return readCreated(result.response, request);
    } catch (error) {
      if (mayExist || !surelyRefused(error)) addKey(error, idempotencyKey);
      throw error;
    }
  }

  const underWay = clock.monotonic() >= retryAt;
  const late = underWay ? await within(graceMs, settled, clock) : undefined;
  abandon.abort();
  if (late !== undefined && 'response' in late) return readCreated(late.response, request);
  mayExist ||= late === undefined ? underWay : !surelyRefused(late.error);
  if (!mayExist) return { kind: 'none' };
  try {
    const response = await service.trigger(body, { idempotencyKey, timeoutMs: secondRequestMs });
    const created = readCreated(response, request);
    return { ...created, attempts: created.attempts + 1 };
  } catch {
    return { kind: 'unknown' };
  }
}
