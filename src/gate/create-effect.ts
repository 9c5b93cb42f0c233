import type { Exchange } from '../client/caller.ts';
import { limitWait, retryKind } from '../client/retry.ts';
import { within } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { NetworkError, type RungateError } from '../errors.ts';
import { parseBody } from '../json/text.ts';
import { isWrongAddress } from '../transport/network-error.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { Event } from './decide.ts';
import { type EffectTools, type LiveGate, turnOf } from './effect-tools.ts';
import { errorData, requestedMs as waitRequestedBy } from './error-data.ts';
import { isForeign, surelyRefused } from './failed-read.ts';
import { mostAddress, mostForeign, stopBudgetMs } from './limits.ts';
import { runIdOf } from './run-id.ts';
import { appUrlOf } from './run-status.ts';
import type { Tell, Work } from './runner.ts';
import type { Start } from './start.ts';
import { latestOf } from './steps.ts';

/** The limit of one request, if `--request-timeout` is longer. */
const longestRequestMs = 120_000;
/** How long an outage may last from its first failure. The waits for a rate limit or a grant do not count. */
const outageMs = 5 * 60_000;
const longestWaitMs = 30_000;
/** How long a request that a stop finds under way may take before it is sent once more. */
const graceMs = 3_000;

/** The requests with one key, and what they have met so far. Times on the monotonic clock. */
interface Sending {
  readonly gate: LiveGate;
  readonly name: string;
  readonly key: string;
  readonly start: Start;
  readonly tell: Tell;
  readonly signal: AbortSignal;
  readonly tools: EffectTools;
  readonly startedAt: number;
  requests: number;
  failures: number;
  refusals: number;
  limitedMs: number;
  wrongAddresses: number;
  foreign: number;
  outageEnd: number;
}

/** Creates a run, and reports it or the error of the last request. */
export async function createEffect(
  { gate: name, key }: Extract<Work, { type: 'create' }>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const gate = tools.gateOf(name);
  const sending: Sending = {
    gate,
    name,
    key,
    start: gate.gate.start as Start,
    tell,
    signal,
    tools,
    startedAt: tools.clock.monotonic(),
    requests: 0,
    failures: 0,
    refusals: 0,
    limitedMs: 0,
    wrongAddresses: 0,
    foreign: 0,
    outageEnd: Number.POSITIVE_INFINITY,
  };
  let event: Event;
  try {
    const response = await sendUntilAccepted(sending);
    event = created(response, sending);
    gate.response = response;
  } catch (cause) {
    if (signal.aborted) return;
    event = failed(tools.keep(gate, cause), sending);
  }
  await tell(event);
}

/**
 * Sends the request until the service accepts it, a repetition would not help, or the time is up. Each repetition has the same
 * key and bytes, and waits for its turn in the limits. After a stop, it is sent once more, at once.
 * @throws the error of the last request
 */
async function sendUntilAccepted(sending: Sending): Promise<Exchange> {
  const { gate, tools } = sending;
  for (;;) {
    const began = tools.clock.monotonic();
    const isLast = gate.stopped.aborted;
    const response = request(sending);
    await untilSettled(response, gate.stopped);
    if (isLast) return response;
    if (gate.stopped.aborted) return onceMore(response, sending);
    try {
      return await response;
    } catch (cause) {
      await waitAgain(tools.keep(gate, cause), began, sending);
    }
  }
}

async function request(sending: Sending): Promise<Exchange> {
  const { gate, name, key, start, tell, signal, tools } = sending;
  await tell({ type: 'sending', gate: name });
  sending.requests += 1;
  const now = tools.clock.monotonic();
  const end = gate.stopped.aborted ? now + stopBudgetMs : tools.monotonic(gate.state().deadline ?? 0);
  const timeoutMs = Math.max(1, Math.min(longestRequestMs, end - now));
  try {
    return await tools.service.trigger(start.body, {
      idempotencyKey: key,
      maxRequests: 1,
      timeoutMs,
      signal,
    });
  } catch (cause) {
    if (surelyRefused(cause)) await tell({ type: 'refused', gate: name, key });
    throw cause;
  }
}

function untilSettled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
    work.then(done, done);
  });
}

/**
 * A request that a stop finds under way stays open for the whole time of the stop. If it fails, or takes 3 s, it is sent once
 * more, so that no unknown run keeps going.
 */
async function onceMore(first: Promise<Exchange>, sending: Sending): Promise<Exchange> {
  const { clock } = sending.tools;
  const early = await within(
    graceMs,
    first.catch(() => undefined),
    clock,
  );
  if (early !== undefined || !mayExist(sending)) return first;
  return Promise.any([first, request(sending)]).catch(({ errors }: AggregateError) => {
    throw errors.at(-1);
  });
}

const mayExist = ({ gate }: Sending): boolean => gate.state().key?.sentAt != null;

/** Returns how many requests before the one that got the error may have started a run. */
const unsureBefore = (error: RungateError, { gate }: Sending): number =>
  (gate.state().key?.unsure ?? 0) - (surelyRefused(error) ? 0 : 1);

function created(response: Exchange, { name, key, start, tools, limitedMs }: Sending): Event {
  return {
    type: 'created',
    gate: name,
    key,
    run: runIdOf(response, start.idPointer, { ...start.body, idempotencyKey: key }, tools.nameOf),
    appUrl: appUrlOf(parseBody(response.text)),
    replayed: replayedOf(response.headers),
    limitedMs,
  };
}

function failed(error: RungateError, sending: Sending): Event {
  const { name, key } = sending;
  error.facts = { ...error.facts, idempotencyKey: key };
  if (mayExist(sending)) {
    error.facts.runMayExist = true;
    addHint(error, `a run may have been created with the idempotency key ${key}`, 'before');
  }
  return { type: 'create-failed', gate: name, key, error: errorData(error) };
}

function addHint(error: RungateError, text: string, place: 'before' | 'after'): void {
  const { hint } = error;
  if (hint === undefined) error.hint = text;
  else error.hint = place === 'before' ? `${text}; ${hint}` : `${hint}; ${text}`;
}

/**
 * Waits until the request may be repeated, or the gate is stopped.
 * @throws the error if it must not be, or not in time
 */
async function waitAgain(error: RungateError, began: number, sending: Sending): Promise<void> {
  const { gate, key, signal, tools, startedAt, requests } = sending;
  const { clock, random } = tools;
  const now = clock.monotonic();
  error.facts = { ...error.facts, requests, elapsedMs: now - startedAt };
  const kind = retryKindOf(error, key);
  sending.wrongAddresses = isWrongAddress(error) ? sending.wrongAddresses + 1 : 0;
  sending.foreign = isForeign(error) ? sending.foreign + 1 : 0;
  // Something else than the service may have responded, but only a service that has accepted a request before is known to be there.
  const isKnown = unsureBefore(error, sending) > 0 || tools.isAccepted();
  const mayPass = kind !== 'no' || (sending.foreign > 0 && isKnown);
  if (!mayPass || sending.wrongAddresses >= mostAddress || sending.foreign >= mostForeign) throw error;
  const limited = kind === 'limit';
  const latest = tools.monotonic(latestOf(gate.state()));
  if (!limited && sending.failures === 0) sending.outageEnd = now + outageMs;
  const end = limited ? latest : Math.min(latest, sending.outageEnd);
  const requestedMs = waitRequestedBy(error) ?? undefined;
  const waitMs = waitOf(limited, requestedMs, end - now, sending, random);
  if (now + waitMs >= end) {
    addHint(error, whyNot(error, requestedMs, end - now), 'after');
    throw error;
  }
  const { wrongAddresses } = sending;
  const leftRequests = wrongAddresses === 0 ? undefined : mostAddress - wrongAddresses;
  gate.emit({ type: 'retry', error, waitMs, leftMs: end - now, leftRequests });
  if (limited) gate.hub?.limited(requestedMs ?? 0);
  const either = eitherSignal(signal, gate.stopped);
  try {
    await clock.sleep(waitMs, either.signal).catch(() => {});
    const waited = clock.monotonic();
    const inTime = either.signal.aborted || (await turnOf(gate, either.signal, tools));
    if (signal.aborted || gate.state().end !== null) throw error;
    if (gate.stopped.aborted) return;
    if (!inTime) {
      addHint(error, whyNot(error, undefined, Number.POSITIVE_INFINITY), 'after');
      throw error;
    }
    const again = clock.monotonic();
    sending.outageEnd += again - (limited ? began : waited);
    if (limited) {
      sending.refusals += 1;
      sending.limitedMs += again - began;
    } else sending.failures += 1;
  } finally {
    either.release();
  }
}

/** A deadline is that of one request here. */
function retryKindOf(error: RungateError, key: string): ReturnType<typeof retryKind> {
  if (error instanceof NetworkError && error.fault === 'deadline') return 'again';
  return retryKind(error, { method: 'POST', headers: { 'idempotency-key': key }, repeatable: true });
}

function waitOf(
  limited: boolean,
  requestedMs: number | undefined,
  leftMs: number,
  { refusals, limitedMs, failures }: Sending,
  random: () => number,
): number {
  if (limited) return limitWait({ refusals, waitedMs: limitedMs, requestedMs, leftMs }, random);
  const leastMs = Math.min(1000 * 2 ** failures, longestWaitMs);
  return Math.max(leastMs, requestedMs ?? 0) + (random() * leastMs) / 2;
}

/** Returns how often the request was sent, or which wait the service requests. */
function whyNot(error: RungateError, requestedMs: number | undefined, leftMs: number): string {
  const { requests = 1, elapsedMs = 0 } = error.facts;
  if (requestedMs !== undefined && leftMs > 0 && requestedMs >= leftMs)
    return `the service requests a wait of ${formatDuration(requestedMs)}, but rungate retries for only ${formatDuration(leftMs)} more`;
  const times = requests === 1 ? 'once' : `${requests} times`;
  return `rungate sent the request ${times} in ${formatDuration(elapsedMs)}`;
}

/** The API does not name this header; services of this kind send it. */
function replayedOf(headers: Readonly<Record<string, string>>): boolean | null {
  const values = headers['idempotency-replayed']?.toLowerCase().split(',') ?? [];
  const [replayed = '', ...others] = new Set(values.map((value) => value.trim()));
  return others.length === 0 && ['true', 'false'].includes(replayed) ? replayed === 'true' : null;
}
