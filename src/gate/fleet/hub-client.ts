import { createParser } from 'eventsource-parser';
import { parseRetryAfter } from '../../client/retry.ts';
import type { Clock } from '../../clock.ts';
import { CredentialError, HttpError, UnexpectedResponseError } from '../../errors.ts';
import { parsedJson } from '../../json/text.ts';
import type { Receiver } from '../../transport/address.ts';
import type { PreparedRequest, RawReply, SendOptions, Transport } from '../../transport/transport.ts';
import { type HubClient, type HubEvent, hubVersion } from './protocol.ts';

export interface HubClientOptions {
  /** The hub's base URL, with at most a path prefix. */
  url: URL;
  token: string;
  transport: Transport;
  clock: Clock;
  to: Receiver;
}

const requestTimeoutMs = 10_000;
/** A hub holds a request for a grant for 20 s at most. */
const grantTimeoutMs = 30_000;
/** A hub that does not hold the request must not make the gate send it without a pause. */
const shortestGrantMs = 1_000;
/** The longest event that a hub sends, in characters; a longer one is not from a hub. */
const longestEvent = 64 * 1024;

/** Returns the fields of a JSON object; none for any other text. */
export function fieldsOf(text: string): Record<string, unknown> {
  const json = parsedJson(text);
  return (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
}

/** An event that this version does not know is a sign of life. */
function eventOf(name: string | undefined, id: string | undefined, text: string): HubEvent {
  const { runId, version } = fieldsOf(text);
  if (name === 'ready' && version === hubVersion) return { type: 'ready' };
  if (name === 'wake' && typeof runId === 'string' && id !== undefined && /^\d{1,16}$/.test(id))
    return { type: 'wake', runId, id };
  return { type: 'heartbeat' };
}

export const giveToken = ({ credential }: Receiver) => `set ${credential} to one of the hub's tokens`;

function unknownEvent({ address }: Receiver): UnexpectedResponseError {
  return new UnexpectedResponseError('the hub sent an event that rungate does not know', {
    field: '',
    expected: `events of version ${hubVersion}`,
    received: 'another one',
    hint: `check ${address}, and run the same version of rungate in the hub and in the gate`,
  });
}

function hintOf(status: number, { address }: Receiver): string {
  if (status === 400) return 'run the same version of rungate in the hub and in the gate';
  if (status === 404) return `set ${address} to the base URL of the hub, without /deliveries`;
  return `check ${address}`;
}

/** Refuses a response that is not the hub's. */
function check(response: RawReply, { method, path }: PreparedRequest, to: Receiver): RawReply {
  const { status } = response;
  if ([200, 202, 204].includes(status)) return response;
  if (status === 401 || status === 403)
    throw new CredentialError(`the hub rejected the token (${status})`, { hint: giveToken(to) });
  const { reason, error } = fieldsOf(response.text);
  const why = status === 400 && typeof error === 'string' ? `: ${error.slice(0, 200)}` : '';
  throw new HttpError(`the hub responded with status code ${status} to ${method} ${path}${why}`, {
    status,
    error: typeof reason === 'string' ? reason : undefined,
    // A hub sends seconds, so no clock is needed.
    retryAfterMs: parseRetryAfter(response.headers['retry-after'], 0),
    hint: hintOf(status, to),
  });
}

/** Returns a function that reads the parts of a stream. It throws if they are not a hub's. */
function streamReader(onEvent: (event: HubEvent) => void, to: Receiver): (part: Uint8Array) => void {
  /** The first event shows that it is a hub, which may send events of a later version. */
  let isReady = false;
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent({ event: name, id, data }) {
      const event = eventOf(name, id, data);
      isReady ||= event.type === 'ready';
      if (!isReady) throw unknownEvent(to);
      onEvent(event);
    },
    onComment: () => onEvent({ type: 'heartbeat' }),
    onError() {
      throw unknownEvent(to);
    },
  });
  const decoder = new TextDecoder();
  return (part) => parser.feed(decoder.decode(part, { stream: true }));
}

export type HubStatus = 'ok' | 'degraded' | 'not ready';

/** Returns what sends requests to a hub. `post` refuses a response that is not the hub's, or not a success. */
export function hubRequests({ url: base, token, transport, to }: Omit<HubClientOptions, 'clock'>) {
  const requestTo = (method: 'GET' | 'POST', path: string): PreparedRequest => {
    const url = new URL(`${base.href.replace(/\/$/, '')}${path}`);
    return { endpoint: 'hub', method, url, path: url.pathname, headers: {}, repeatable: true };
  };
  return {
    requestTo,
    async post(path: string, body: unknown, sendOptions: SendOptions, more = {}): Promise<RawReply> {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
      const request = { ...requestTo('POST', path), headers, body: JSON.stringify(body) };
      return check(await transport.send(request, sendOptions), request, to);
    },
  };
}

/** Returns the client of a hub. `status` is what the hub says about itself, without a token; `ok` if it says nothing. */
export function createHubClient(options: HubClientOptions): HubClient & { status(): Promise<HubStatus> } {
  const { transport, clock, to } = options;
  const { post, requestTo } = hubRequests(options);

  return {
    async follow(runs, lastId, onEvent, signal) {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== null && { 'last-event-id': lastId }),
      };
      const timeoutMs = Number.POSITIVE_INFINITY;
      const onData = streamReader(onEvent, to);
      const body = { version: hubVersion, runs };
      await post('/v1/wakes', body, { signal, timeoutMs, fresh: true, onData }, headers);
    },

    async grant({ waitedMs, ...request }, signal) {
      const sentAt = clock.monotonic();
      const body = { ...request, waitedMs: Math.round(waitedMs) };
      const { status, text } = await post('/v1/grants', body, { signal, timeoutMs: grantTimeoutMs });
      if (status === 200) return { granted: true };
      await clock.sleep(Math.max(0, sentAt + shortestGrantMs - clock.monotonic()), signal);
      const { idleMs } = fieldsOf(text);
      return { granted: false, idleMs: typeof idleMs === 'number' ? idleMs : Number.POSITIVE_INFINITY };
    },

    async limited(retryAfterMs, signal) {
      await post('/v1/limits', { retryAfterMs }, { signal, timeoutMs: requestTimeoutMs });
    },

    async sent(requests, signal) {
      await post('/v1/requests', requests, { signal, timeoutMs: requestTimeoutMs });
    },

    async status() {
      const sending = transport.send(requestTo('GET', '/readyz'), { timeoutMs: requestTimeoutMs });
      const { status } = fieldsOf(await sending.then(({ text }) => text).catch(() => ''));
      return status === 'degraded' || status === 'not ready' ? status : 'ok';
    },
  };
}
