import type { Exchange } from '../client/caller.ts';
import { within } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { RungateError } from '../errors.ts';
import { parseBody } from '../json/text.ts';
import { runIdOf } from './run-id.ts';
import { appUrlOf } from './run-status.ts';
import { type CreateTools, type Sending, type StartTimes, sendCreate } from './send-create.ts';

export type { CreateTools, StartTimes } from './send-create.ts';

export interface CreateRequest {
  body: TriggerBody;
  idempotencyKey: string;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  /** An earlier slice may have created the run. */
  sent?: boolean | undefined;
}

export interface CreatedRun {
  kind: 'created';
  runId: string;
  appUrl: string | null;
  /** Whether the service repeated the response to an earlier request with this key, by its header; null without the header. */
  replayed: boolean | null;
  /** The time of the first request that may have arrived, on the monotonic clock. */
  sentAt: number;
  /** Requests sent with this key. From the second on, the earlier request may have been this job's. */
  requests: number;
  /** How long the rate limit delayed the request, in milliseconds. */
  limitedMs: number;
  response: unknown;
  /** The response as JSON text, with all its digits; empty without a body. */
  responseText: string;
}

/** `none`: no run was created. `unknown`: a run may have been created, but the response was lost. */
export type Creation = CreatedRun | { kind: 'none' } | { kind: 'unknown' };

/** The time for the response and for a second request, within the 5 s that a stop may take. */
const graceMs = 2_000;
const secondRequestMs = 1_400;
/** Adds the key, by which a person can find the run, to an error after which a run may exist. */
function addKey(error: unknown, key: string): void {
  if (!(error instanceof RungateError)) return;
  error.facts = { ...error.facts, runMayExist: true };
  const known = `a run may have been created with the idempotency key ${key}`;
  error.hint = error.hint === undefined ? known : `${known}; ${error.hint}`;
}

function readCreated(
  response: Exchange,
  { body, idempotencyKey, idPointer }: CreateRequest,
  { requests, sentAt, limitedMs }: Sending,
): CreatedRun {
  const { value, text, headers } = response;
  const appUrl = appUrlOf(parseBody(text));
  // The API does not name this header; services of this kind send it.
  const values = headers['idempotency-replayed']?.toLowerCase().split(',') ?? [];
  const [replayed = '', ...others] = new Set(values.map((value) => value.trim()));
  return {
    kind: 'created',
    runId: runIdOf(response, idPointer, { ...body, idempotencyKey }),
    appUrl,
    replayed: others.length === 0 && ['true', 'false'].includes(replayed) ? replayed === 'true' : null,
    sentAt,
    requests,
    limitedMs,
    response: value,
    responseText: text,
  };
}

export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/**
 * Creates a run. If it is stopped while the request is under way, it waits up to 2 s for the response, then sends the same
 * key and bytes once more, so that no unknown run keeps going.
 */
export async function createRun(
  request: CreateRequest,
  times: StartTimes,
  tools: CreateTools,
): Promise<Creation> {
  const { service, clock, signal } = tools;
  const { body, idempotencyKey, sent = false } = request;
  if (signal.aborted && !sent) return { kind: 'none' };
  const abandon = new AbortController();
  const sentAt = clock.monotonic();
  const sending: Sending = { requests: 0, sentAt, underWay: false, mayExist: sent, limitedMs: 0 };
  const settled = sendCreate(body, idempotencyKey, times, sending, abandon.signal, tools).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );

  const result = await Promise.race([settled, untilAborted(signal)]);
  if (result !== undefined && !signal.aborted) {
    try {
      if ('error' in result) throw result.error;
      return readCreated(result.response, request, sending);
    } catch (error) {
      if ('response' in result || sending.mayExist) addKey(error, idempotencyKey);
      throw error;
    }
  }

  const late = sending.underWay ? await within(graceMs, settled, clock) : result;
  const mayExist = sending.mayExist || sending.underWay;
  abandon.abort();
  if (late !== undefined && 'response' in late) return readCreated(late.response, request, sending);
  if (!mayExist) return { kind: 'none' };
  try {
    const response = await service.trigger(body, { idempotencyKey, timeoutMs: secondRequestMs });
    return readCreated(response, request, { ...sending, requests: sending.requests + 1 });
  } catch {
    return { kind: 'unknown' };
  }
}
