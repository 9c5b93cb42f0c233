import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { type Api, type Endpoint, reservedValues } from '../contract/endpoint.ts';
import { type ServiceApi, api as wholeApi } from '../contract/index.ts';
import { RungateError, UsageError } from '../errors.ts';
import { call } from './call.ts';
import type { Credentials } from './credentials.ts';
import type { Exchange, ExchangeEvent } from './exchange.ts';
import { type PreparedRequest, prepareRequest, type RequestInput } from './request.ts';
import { undiciTransport } from './send.ts';
import type { Transport } from './transport.ts';
import { bindApi, type Tree } from './tree.ts';

export type { Exchange, ExchangeEvent } from './exchange.ts';

/** How to reach the service and how long to try; all durations in milliseconds. */
export interface ClientOptions extends Credentials {
  /** The service's base URL; may have a path prefix. */
  apiUrl: string;
  /** Allow `http:` to other machines. */
  insecureHttp?: boolean | undefined;
  /** One try; default 30 s. */
  requestTimeoutMs?: number | undefined;
  /** One call, with its retries and their waits; default 2 min. */
  callTimeoutMs?: number | undefined;
  clock?: Clock | undefined;
  /** A number from 0 up to 1. */
  random?: (() => number) | undefined;
  /** Where requests go instead of to the network. The client does not close it. */
  transport?: Transport | undefined;
  /** Certificates (PEM) to trust besides those that Node trusts (see `trustAlso`). */
  caPem?: string | undefined;
  userAgent?: string | undefined;
  /** One event for every HTTP request and for every wait between two. */
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  /** The endpoints whose paths are reserved; default all. */
  api?: Api | undefined;
}

/** What one call may do otherwise than its client; all durations in milliseconds. */
export interface CallOptions {
  /** Aborting it ends the call at once, with its reason. */
  signal?: AbortSignal | undefined;
  /** The whole call, with its retries and their waits. */
  timeoutMs?: number | undefined;
  /** One try. */
  requestTimeoutMs?: number | undefined;
  /** Default: a random one per call, where the endpoint takes one. */
  idempotencyKey?: string | undefined;
  /** Tries; default 4. 1: no retries at all, also none of a rate limit. */
  attempts?: number | undefined;
  /** How long rate limits are waited out; default the call's own time. */
  limitTimeoutMs?: number | undefined;
  /** false: the value is the reply's JSON as it came, whatever its type says. */
  check?: boolean | undefined;
  onRetry?: ((error: RungateError, waitMs: number) => void) | undefined;
}

export type CallerInput = Pick<RequestInput, 'params' | 'query' | 'body' | 'headers'>;

/** Sends calls by endpoint, without the types of the tree. */
export interface Caller {
  /** @throws RungateError with `facts` set, or the reason of the options' signal */
  exchange(name: string, endpoint: Endpoint, input: CallerInput, options?: CallOptions): Promise<Exchange>;
  /** Ends calls under way and every connection. */
  close(): Promise<void>;
}

function checkDuration(name: string, ms: number): number {
  if (ms > 0) return ms;
  throw new UsageError(`${name} must be a number of milliseconds above 0`);
}

function timesOf(client: ClientOptions, options: CallOptions) {
  const timeoutMs = checkDuration('timeoutMs', options.timeoutMs ?? client.callTimeoutMs ?? 120_000);
  const requestTimeoutMs = options.requestTimeoutMs ?? client.requestTimeoutMs ?? 30_000;
  const attempts = options.attempts ?? 4;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new UsageError('attempts must be a whole number from 1 up');
  return {
    timeoutMs,
    requestTimeoutMs: checkDuration('requestTimeoutMs', requestTimeoutMs),
    attempts,
    limitTimeoutMs: options.limitTimeoutMs ?? timeoutMs,
  };
}

/** A caller of the service. It opens no connection before the first call. */
export function createCaller(options: ClientOptions): Caller {
  const { clock = systemClock, random = Math.random, api = wholeApi } = options;
  const own = options.transport === undefined;
  const transport = options.transport ?? undiciTransport({ caPem: options.caPem });
  const closing = new AbortController();

  function prepare(name: string, endpoint: Endpoint, input: CallerInput, given?: string): PreparedRequest {
    const idempotencyKey = given ?? (endpoint.keyed ? randomUUID() : undefined);
    const target = { ...options, reserved: reservedValues(api, endpoint) };
    return prepareRequest(name, endpoint, { ...input, idempotencyKey }, target);
  }

  return {
    async exchange(name, endpoint, input, callOptions = {}) {
      callOptions.signal?.throwIfAborted();
      try {
        if (closing.signal.aborted) throw closing.signal.reason;
        const { signal = closing.signal, check = true, idempotencyKey, onRetry } = callOptions;
        const times = timesOf(options, callOptions);
        const request = prepare(name, endpoint, input, idempotencyKey);
        return await call(request, endpoint, {
          ...times,
          transport,
          clock,
          random,
          check,
          signal: AbortSignal.any([signal, closing.signal]),
          onExchange: options.onExchange,
          onRetry,
        });
      } catch (error) {
        // Facts of a call that was never sent.
        if (error instanceof RungateError && error.facts.endpoint === undefined) {
          error.facts = { endpoint: name, method: endpoint.method, attempts: 0, elapsedMs: 0 };
        }
        throw error;
      }
    },
    async close() {
      closing.abort(new UsageError('the client is closed'));
      if (own) await transport.close();
    },
  };
}

/** Every endpoint as a method under its dotted name: `client.run.trigger(body)`. */
export type ServiceClient = Tree<ServiceApi> & {
  /** Ends calls under way and every connection. */
  close(): Promise<void>;
};

/** The typed client of the whole service. */
export function createClient(options: ClientOptions): ServiceClient {
  const caller = createCaller(options);
  return { ...bindApi(wholeApi, caller), close: () => caller.close() };
}
