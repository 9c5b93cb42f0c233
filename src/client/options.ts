import * as z from 'zod/mini';
import type { Clock } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import type { RungateError } from '../errors.ts';
import type { LibraryOptions } from '../options/library-options.ts';
import type { Redact } from '../redact.ts';
import type { Transport } from '../transport/transport.ts';
import * as option from './check-options.ts';
import type { RequestInput } from './request.ts';
import type { ParsedResponse } from './response.ts';

const clientRows = [
  'apiUrl',
  'apiKey',
  'token',
  'auth',
  'insecureHttp',
  'requestTimeoutMs',
  'providerModelField',
] as const;

/** The address, the credentials and the timeouts of a client; all durations are in milliseconds. */
export interface ClientOptions extends Pick<LibraryOptions, (typeof clientRows)[number]> {
  /** The timeout of one call, with its retries and their waits; default 2 min. */
  callTimeoutMs?: number | undefined;
  /** The source of time; default: the clock of this machine. */
  clock?: Clock | undefined;
  /** A number from 0 up to 1. */
  random?: (() => number) | undefined;
  /** Sends the requests in place of the network. The client does not close it. */
  transport?: Transport | undefined;
  /** Certificates (PEM) to trust in addition to Node's (see `trustAlso`). */
  caPem?: string | undefined;
  /** The certificate (PEM) with which the client authenticates itself in TLS. It is never shown to a proxy. */
  certPem?: string | undefined;
  /** The certificate's private key (PEM); default: `certPem` contains it. */
  keyPem?: string | undefined;
  /**
   * Extra headers of the requests to the service, such as those that a gateway in front of it needs. They are never sent elsewhere, and
   * their values are redacted.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The environment with the proxy variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (either case), for example
   * `process.env`. Default: none; the library does not read the environment on its own.
   */
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** The `User-Agent` of the requests; default: none. */
  userAgent?: string | undefined;
  /**
   * Set to false to read the pages of a list without pauses. Default: keep to the documented 60 reads a minute, unless the
   * service is on this machine.
   */
  pace?: boolean | undefined;
  /** Receives an event for each HTTP request, and for each wait between two requests. If it throws or rejects, so does the call. */
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
}

export const clientShape: option.Shape<ClientOptions> = {
  ...option.rowShape('', clientRows),
  callTimeoutMs: z.optional(option.milliseconds),
  clock: z.optional(option.clock),
  random: z.optional(option.func<() => number>()),
  transport: z.optional(option.objectWith<Transport>('a transport: { send, close }', 'send', 'close')),
  caPem: z.optional(option.text),
  certPem: z.optional(option.text),
  keyPem: z.optional(option.text),
  headers: z.optional(option.headers),
  proxyEnv: z.optional(option.record),
  userAgent: z.optional(option.text),
  pace: z.optional(option.flag),
  onExchange: z.optional(option.func<NonNullable<ClientOptions['onExchange']>>()),
};
export const clientOptions = option.optionsOf<ClientOptions>(clientShape);

export type CallerOptions = option.Checked<ClientOptions>;

/** Options of one call, which override those of its client; all durations are in milliseconds. */
export interface CallOptions {
  /** Ends the call immediately when aborted, with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The timeout of the whole call, with its retries and their waits. */
  timeoutMs?: number | undefined;
  /** The timeout of one request. */
  requestTimeoutMs?: number | undefined;
  /** Default: a random key for each call, if the endpoint accepts one. */
  idempotencyKey?: string | undefined;
  /** The number of requests; default 4. 1 means no retries, not even after a rate limit. */
  maxRequests?: number | undefined;
  /** How long to wait for rate limits; default: the timeout of the call. */
  limitTimeoutMs?: number | undefined;
  /** false: return the JSON of the response unchecked, whatever the type says. */
  check?: boolean | undefined;
  /** One of many calls: it waits until the rate limit allows it. The wait does not count against `timeoutMs`. */
  pace?: boolean | undefined;
  /** Called before the wait for a retry. The retry waits for the promise it returns, too. */
  onRetry?: ((error: RungateError, waitMs: number) => void | Promise<void>) | undefined;
}

export const callShape: option.Shape<CallOptions> = {
  signal: z.optional(option.signal),
  timeoutMs: z.optional(option.milliseconds),
  requestTimeoutMs: z.optional(option.milliseconds),
  idempotencyKey: z.optional(option.text),
  maxRequests: z.optional(option.whole(1)),
  limitTimeoutMs: z.optional(option.notNegative),
  check: z.optional(option.flag),
  pace: z.optional(option.flag),
  onRetry: z.optional(option.func<NonNullable<CallOptions['onRetry']>>()),
};
export const callOptions = option.optionsOf<CallOptions>(callShape);

/** A call's response, and texts about it that may contain secrets. */
export interface Exchange extends ParsedResponse {
  status: number;
  /** The request as the user knows it, for messages: `GET /api/environments`. */
  request: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The number of HTTP requests, including those that a rate limit refused. */
  requests: number;
  /** From the first byte sent to the response, including waits, in milliseconds. */
  elapsedMs: number;
  /** Redacts the secrets of the client and of the request's body, which the response may repeat. */
  redact: Redact;
}

/** One HTTP request with its outcome, or the wait before the next one; never contains a secret. */
export type ExchangeEvent =
  | {
      type: 'request';
      /** The endpoint's name: `run.status`. */
      endpoint: string;
      /** The HTTP method. */
      method: string;
      /** The path without its query. */
      path: string;
      /** 1 for the first. */
      request: number;
      /** The status code, if there was a response. */
      status?: number;
      /** The stable code of the error, if it failed. */
      code?: string;
      /** The duration of the request, in milliseconds. */
      elapsedMs: number;
    }
  | {
      type: 'wait';
      /** The endpoint's name: `run.status`. */
      endpoint: string;
      /** The number of the request before the wait; 0 before the first. */
      request: number;
      /** In milliseconds. */
      waitMs: number;
      /** Why the next request waits. */
      reason: string;
    };

export type CallerInput = Omit<RequestInput, 'idempotencyKey'>;

/** Sends calls by endpoint, without the types of the client. */
export interface Caller {
  /** @throws RungateError with `facts` set, or the reason of the options' signal */
  exchange(name: string, endpoint: Endpoint, input: CallerInput, options?: CallOptions): Promise<Exchange>;
  /** Ends the calls in progress and closes every connection. */
  close(): Promise<void>;
}
