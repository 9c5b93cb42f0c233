import type { Exchange } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { HttpError, NetworkError } from '../errors.ts';
import type { Emit } from './events.ts';
import { runIdOf } from './run-id.ts';
import { appUrlOf } from './run-status.ts';
import type { RunService } from './service.ts';

export interface CreateRequest {
  body: TriggerBody;
  idempotencyKey: string;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
}

export interface CreatedRun {
  kind: 'created';
  runId: string;
  appUrl: string | null;
  /** Whether the service says that it repeated the response to an earlier request with this key; null if it does not say. */
  replayed: boolean | null;
  /** Requests sent with this key: from the second on, the earlier request may have been our own. */
  attempts: number;
  response: unknown;
  /** The same as JSON text, every digit as it came; empty where there was no body. */
  responseText: string;
}

/** `none`: surely no run was created; `unknown`: one may have been, and we were not told. */
export type Creation = CreatedRun | { kind: 'none' } | { kind: 'unknown' };

export interface CreateTools {
  service: RunService;
  clock: Clock;
  /** Aborted when a person or the CI stops us. */
  signal: AbortSignal;
  emit?: Emit | undefined;
}

/** Within the 5 s that a stop may take: how long the response is awaited, and how long the second request may take. */
const graceMs = 2_000;
const secondRequestMs = 1_400;
/** A call's own limit; only a 429 is waited out for longer, since it is sure to pass. */
const callTimeoutMs = 120_000;

/** The service surely did not act on the request that failed so. */
function surelyRefused(error: unknown): boolean {
  if (error instanceof NetworkError) return error.unsent;
  return error instanceof HttpError && error.status < 500 && error.status !== 408 && error.status !== 409;
}

function readCreated(response: Exchange, { body, idempotencyKey, idPointer }: CreateRequest): CreatedRun {
  const { value, text, headers, redact, attempts } = response;
  const appUrl = appUrlOf(value);
  // The contract does not name this header; services of this kind send it.
  const replayed = headers['idempotency-replayed']?.trim().toLowerCase() ?? '';
  return {
    kind: 'created',
    runId: runIdOf(value, text, headers.location, idPointer, { ...body, idempotencyKey }, redact),
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

/** Resolves as the promise does, or with undefined when the time is up. */
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
 * Creates a run. If we are stopped while the request is under way, it waits a little for the response, then sends the same
 * key and bytes once more, so that no run is left behind unknown.
 */
export async function createRun(
  request: CreateRequest,
  timeoutMs: number,
  { service, clock, signal, emit }: CreateTools,
): Promise<Creation> {
  if (signal.aborted) return { kind: 'none' };
  const { body, idempotencyKey } = request;
  const abandon = new AbortController();
  let mayExist = false;
  let retryAt = 0;
  const settled = service
    .trigger(body, {
      idempotencyKey,
      timeoutMs: Math.min(callTimeoutMs, timeoutMs),
      limitTimeoutMs: timeoutMs,
      signal: abandon.signal,
      onRetry(error, waitMs) {
        mayExist ||= !surelyRefused(error);
        retryAt = clock.monotonic() + waitMs;
        emit?.({ type: 'retry', error, waitMs });
      },
    })
    .then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    );

  const result = await Promise.race([settled, untilAborted(signal)]);
  if (result !== undefined) {
    if ('error' in result) throw result.error;
    return readCreated(result.response, request);
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
