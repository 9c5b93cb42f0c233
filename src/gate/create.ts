import type { Exchange } from '../client/caller.ts';
import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { HttpError, NetworkError } from '../errors.ts';
import { runIdOf } from './run-id.ts';
import { appUrlOf } from './run-status.ts';
import type { RunService } from './service.ts';

export interface CreateRequest {
  body: TriggerBody;
  idempotencyKey: string;
  /** The setting `run.idPointer`: where the create reply has the run's id. */
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
  text: string;
}

/** `none`: surely no run was created; `unknown`: one may have been, and we were not told. */
export type Creation = CreatedRun | { kind: 'none' } | { kind: 'unknown' };

export interface CreateTools {
  service: RunService;
  clock: Clock;
  /** Aborted when a person or the CI stops us. */
  stop: AbortSignal;
  onRetry?: ((error: unknown, waitMs: number) => void) | undefined;
}

/** Within the 5 s that a stop may take: until when the reply is awaited, and until when it is asked for again. */
const graceMs = 2_000;
const askAgainMs = 1_400;
/** A call's own limit; only a 429 is waited out for longer, since it is sure to pass. */
const callTimeoutMs = 120_000;

/** The service surely did not act on the request that failed so. */
function surelyRefused(error: unknown): boolean {
  if (error instanceof NetworkError) return error.unsent;
  return error instanceof HttpError && error.status < 500 && error.status !== 408 && error.status !== 409;
}

/** The header that services of this kind send with a replay; the interface names none. */
function replayedHeader({ headers }: Exchange): boolean | null {
  const value = headers['idempotency-replayed']?.trim().toLowerCase();
  return value === 'true' ? true : value === 'false' ? false : null;
}

function understand(reply: Exchange, { body, idempotencyKey, idPointer }: CreateRequest): CreatedRun {
  const { value, headers, conceal } = reply;
  const shownUrl = appUrlOf(value);
  const request = { ...body, idempotencyKey };
  return {
    kind: 'created',
    runId: runIdOf(value, headers.location, idPointer, request, conceal),
    appUrl: shownUrl === null ? null : conceal(shownUrl),
    replayed: replayedHeader(reply),
    attempts: reply.attempts,
    response: reply.value,
    text: reply.text,
  };
}

function aborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
}

/**
 * Creates a run. Stopped while the create is under way, it finds out what became of it: waits for the reply a
 * little, then sends the same key and bytes once more, so that no run is left behind unknown.
 */
export async function createRun(
  start: CreateRequest,
  timeoutMs: number,
  tools: CreateTools,
): Promise<Creation> {
  const { service, clock, stop } = tools;
  if (stop.aborted) return { kind: 'none' };
  const abandon = new AbortController();
  let mayExist = false;
  let waitingUntil = 0;

  const settled = service
    .trigger(start.body, {
      idempotencyKey: start.idempotencyKey,
      timeoutMs: Math.min(callTimeoutMs, timeoutMs),
      limitTimeoutMs: timeoutMs,
      signal: abandon.signal,
      onRetry(error, waitMs) {
        mayExist ||= !surelyRefused(error);
        waitingUntil = clock.monotonic() + waitMs;
        tools.onRetry?.(error, waitMs);
      },
    })
    .then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );

  let first = await Promise.race([settled, aborted(stop)]);
  if (first === 'stopped') {
    const sending = clock.monotonic() >= waitingUntil;
    if (sending) {
      const grace = new AbortController();
      const timeUp = clock.sleep(graceMs, grace.signal).then(
        () => 'stopped' as const,
        () => 'stopped' as const,
      );
      first = await Promise.race([settled, timeUp]);
      grace.abort();
    }
    abandon.abort();
    if (first !== 'stopped' && 'reply' in first) return understand(first.reply, start);
    if (first === 'stopped' ? sending : !surelyRefused(first.error)) mayExist = true;
    return mayExist ? askAgain(start, service) : { kind: 'none' };
  }
  if ('error' in first) throw first.error;
  return understand(first.reply, start);
}

async function askAgain(start: CreateRequest, service: RunService): Promise<Creation> {
  try {
    const reply = await service.trigger(start.body, {
      idempotencyKey: start.idempotencyKey,
      timeoutMs: askAgainMs,
    });
    const created = understand(reply, start);
    return { ...created, attempts: created.attempts + 1 };
  } catch {
    return { kind: 'unknown' };
  }
}
