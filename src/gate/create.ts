import type { Exchange } from '../client/caller.ts';
import { within } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { RungateError } from '../errors.ts';
import { parseBody } from '../json/text.ts';
import { untilAborted } from '../transport/stop.ts';
import { stopBudgetMs } from './cancel.ts';
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

/** So long after a stop, the response may be lost. */
const graceMs = 3_000;
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

/** Returns the run of a request that a stop found under way, or that may have created one before. */
async function createdAtStop(
  first: Promise<Exchange>,
  request: CreateRequest,
  sending: Sending,
  { service, clock }: CreateTools,
  abandon: AbortSignal,
): Promise<Creation> {
  const end = clock.monotonic() + stopBudgetMs;
  const ignored = () => undefined;
  const early = sending.underWay ? await within(graceMs, first.catch(ignored), clock) : undefined;
  if (!sending.underWay && !sending.mayExist) return { kind: 'none' };
  try {
    if (early !== undefined) return readCreated(early, request, sending);
    const { body, idempotencyKey } = request;
    const timeoutMs = end - clock.monotonic();
    sending.requests += 1;
    const second = service.trigger(body, { idempotencyKey, timeoutMs, signal: abandon });
    const response = await within(timeoutMs, Promise.any([first, second]), clock);
    return response === undefined ? { kind: 'unknown' } : readCreated(response, request, sending);
  } catch {
    return { kind: 'unknown' };
  }
}

/**
 * Creates a run. If it is stopped while the request is under way, the request stays open for the whole time of a stop. If it fails
 * meanwhile, or takes 3 s, the same key and bytes are sent once more, so that no unknown run keeps going.
 */
export async function createRun(
  request: CreateRequest,
  times: StartTimes,
  tools: CreateTools,
): Promise<Creation> {
  const { clock, signal } = tools;
  const { body, idempotencyKey, sent = false } = request;
  if (signal.aborted && !sent) return { kind: 'none' };
  const abandon = new AbortController();
  const sentAt = clock.monotonic();
  const sending: Sending = { requests: 0, sentAt, underWay: false, mayExist: sent, limitedMs: 0 };
  const first = sendCreate(body, idempotencyKey, times, sending, abandon.signal, tools);
  try {
    const response = await Promise.race([first, untilAborted(signal)]);
    if (response !== undefined && !signal.aborted) return readCreated(response, request, sending);
  } catch (error) {
    if (!signal.aborted) {
      if (sending.underWay || sending.mayExist) addKey(error, idempotencyKey);
      throw error;
    }
  }
  try {
    return await createdAtStop(first, request, sending, tools, abandon.signal);
  } finally {
    abandon.abort();
  }
}
