import { createParser } from 'eventsource-parser';
import type { Clock } from '../../clock.ts';
import {
  CredentialError,
  HttpError,
  NetworkError,
  UnexpectedResponseError,
  type Wording,
} from '../../errors.ts';
import type { PreparedRequest, RawReply, Transport } from '../../transport/transport.ts';
import { type HubClient, type HubEvent, hubVersion } from './protocol.ts';

export interface HubClientOptions {
  /** The hub's base URL, with at most a path prefix. */
  url: URL;
  token: string;
  transport: Transport;
  clock: Clock;
}

const requestTimeoutMs = 10_000;
/** A hub holds a request for a grant for 20 s at most. */
const grantTimeoutMs = 30_000;

/** The longest event that a hub sends, in characters; a longer one is not from a hub. */
const longestEvent = 64 * 1024;

/** Returns the fields of a JSON object; none for any other text. */
function fieldsOf(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    return (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Returns null for an event that this version does not know. */
function eventOf(name: string | undefined, id: string | undefined, text: string): HubEvent | null {
  const { runId, ...fields } = fieldsOf(text);
  if (name === 'ready' && fields.version === hubVersion) return { type: 'ready' };
  if (name === 'wake' && typeof runId === 'string' && id !== undefined && /^\d{1,16}$/.test(id))
    return { type: 'wake', runId, id };
  return null;
}

export const giveToken: Wording = (say) => `set ${say('hubTokens')} to one of the hub's tokens`;

function unknownEvent(): UnexpectedResponseError {
  return new UnexpectedResponseError('the hub sent an event that rungate does not know', {
    field: '',
    expected: `events of version ${hubVersion}`,
    received: 'another one',
    hint: (say) => `check ${say('hub.url')}, and run the same version of rungate as hub and as gate`,
  });
}

/** Refuses a response that is not the hub's. */
function check(response: RawReply, request: PreparedRequest): RawReply {
  const { status } = response;
  if (status === 200 || status === 202 || status === 204) return response;
  if (status === 401 || status === 403) {
    throw new CredentialError(`the hub rejected the token (${status})`, {
      hint: giveToken,
    });
  }
  throw new HttpError(`the hub responded with status code ${status} to ${request.method} ${request.path}`, {
    status,
    hint: (say) =>
      status === 400
        ? 'run the same version of rungate as hub and as gate'
        : status === 404
          ? `set ${say('hub.url')} to the base URL of the hub, without /deliveries`
          : `check ${say('hub.url')}`,
  });
}

export type HubStatus = 'ok' | 'degraded' | 'not ready';

/** The check of a hub, which needs no token. */
export interface HubHealth {
  /** Returns what the hub says about itself; `ok` if it says nothing. */
  status(): Promise<HubStatus>;
}

export function createHubClient(options: HubClientOptions): HubClient & HubHealth {
  const { url, token, transport, clock } = options;
  const below = (path: string) => new URL(`${url.href.replace(/\/$/, '')}${path}`);
  const prepare = (path: string, body: unknown, headers: Record<string, string> = {}): PreparedRequest => {
    const target = below(path);
    return {
      endpoint: 'hub',
      method: 'POST',
      url: target,
      path: target.pathname,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      repeatable: true,
    };
  };
  const post = async (path: string, body: unknown, timeoutMs: number, signal: AbortSignal) => {
    const request = prepare(path, body);
    return check(await transport.send(request, { signal, timeoutMs }), request);
  };

  return {
    async *events(runIds, lastId, signal) {
      const queue = new Map<string, HubEvent>();
      // Of many events about one run, or many heartbeats, the last one says everything.
      const add = (key: string, event: HubEvent) => {
        queue.delete(key);
        queue.set(key, event);
      };
      const alive = () => add('heartbeat', { type: 'heartbeat' });
      let failure: unknown;
      let ended = false;
      /** The first event shows that it is a hub, which may send events of a later version. */
      let ready = false;
      let more = () => {};
      let resume = () => {};
      const parser = createParser({
        maxBufferSize: longestEvent,
        onEvent({ event, id, data }) {
          const known = eventOf(event, id, data);
          ready ||= known?.type === 'ready';
          if (!ready) throw unknownEvent();
          if (known === null) alive();
          else if (known.type !== 'wake') add(known.type, known);
          else if (runIds.includes(known.runId)) add(`wake ${known.runId}`, known);
          else alive();
        },
        onComment: alive,
        onError() {
          throw unknownEvent();
        },
      });
      const decoder = new TextDecoder();
      const request = prepare(
        '/v1/wakes',
        { version: hubVersion, runs: runIds },
        { accept: 'text/event-stream', ...(lastId !== null && { 'last-event-id': lastId }) },
      );
      const stop = new AbortController();
      const onAbort = () => stop.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      transport
        .send(request, {
          signal: stop.signal,
          timeoutMs: Number.POSITIVE_INFINITY,
          fresh: true,
          onData(part) {
            try {
              parser.feed(decoder.decode(part, { stream: true }));
            } catch (error) {
              failure ??= error;
            }
            more();
            return new Promise((resolve) => {
              resume = resolve;
            });
          },
        })
        .then((response) => check(response, request))
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => {
          ended = true;
          more();
        });
      try {
        for (;;) {
          signal.throwIfAborted();
          if (failure !== undefined) throw failure;
          const [next] = queue;
          if (next !== undefined) {
            queue.delete(next[0]);
            yield next[1];
          } else if (ended) return;
          else
            await new Promise<void>((resolve) => {
              more = resolve;
              resume();
            });
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        stop.abort(new NetworkError('broken', 'the stream is no longer needed'));
      }
    },

    async grant({ waitedMs, ...request }, signal) {
      const sentAt = clock.monotonic();
      const body = { ...request, waitedMs: Math.round(waitedMs) };
      const { status, text } = await post('/v1/grants', body, grantTimeoutMs, signal);
      if (status === 200) return { granted: true };
      // A hub that does not hold the request must not make the gate send it without a pause.
      await clock.sleep(Math.max(0, 1000 - (clock.monotonic() - sentAt)), signal);
      const { others } = fieldsOf(text);
      return { granted: false, others: typeof others === 'number' ? others : null };
    },

    async status() {
      const target = below('/readyz');
      const request = {
        endpoint: 'hub',
        method: 'GET',
        url: target,
        path: target.pathname,
        headers: {},
      } as const;
      try {
        const options = { timeoutMs: requestTimeoutMs };
        const { text } = await transport.send({ ...request, repeatable: true }, options);
        const { status } = fieldsOf(text);
        return status === 'degraded' || status === 'not ready' ? status : 'ok';
      } catch {
        return 'ok';
      }
    },

    async limited(retryAfterMs, signal) {
      await post('/v1/limits', { retryAfterMs }, requestTimeoutMs, signal);
    },

    async sent(requests, signal) {
      await post('/v1/requests', requests, requestTimeoutMs, signal);
    },
  };
}
