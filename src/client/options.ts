import type { Clock } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import type { RungateError } from '../errors.ts';
import type { Redact } from '../redact.ts';
import type { Transport } from '../transport/transport.ts';
import type { Credentials } from './credentials.ts';
import type { RequestInput } from './request.ts';
import type { Mismatch } from './schema-mismatch.ts';

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
  /**
   * The environment whose `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (either case) name the proxy; for example
   * `process.env`. Default: none, a library does not look at the environment by itself.
   */
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  userAgent?: string | undefined;
  /**
   * false: pages of a list are read as quickly as they come. Default: within the limits that the service's
   * `RateLimit` headers tell, else within the documented 60 reads a minute, unless the service is on this machine.
   */
  pace?: boolean | undefined;
  /** What the service calls an environment's `providerModel`, whose real name carries a vendor's. */
  providerModelField?: string | undefined;
  /** One event for every HTTP request and for every wait between two. */
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
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
  /** One of many calls: it waits until the rate limit has room for it. That is not on `timeoutMs`. */
  pace?: boolean | undefined;
  onRetry?: ((error: RungateError, waitMs: number) => void) | undefined;
}

export interface Exchange {
  /** The response, checked against the contract; undefined for an empty body, text where it is not JSON and need not be. */
  value: unknown;
  /** What in it is not as the contract says, where the contract does not require it. */
  odd: readonly Mismatch[];
  /** The response as JSON text, as it came; empty for an empty body. */
  text: string;
  /** false: the body is text, and `text` has it as a JSON string. */
  isJson: boolean;
  status: number;
  /** The request as its user knows it, for messages: `GET /api/environments`. */
  request: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Where the response came from, if a redirect was followed. */
  finalUrl?: string | undefined;
  /** HTTP requests made, those that a rate limit refused included. */
  attempts: number;
  /** From the first byte sent to the reply, waits included, in milliseconds. */
  elapsedMs: number;
  /** Takes secrets out of what is shown of it. */
  redact: Redact;
}

/** One HTTP request and what came of it, or the wait before the next; never a secret. */
export type ExchangeEvent =
  | {
      type: 'try';
      endpoint: string;
      method: string;
      path: string;
      /** 1 for the first. */
      attempt: number;
      /** What was answered, when something was. */
      status?: number;
      /** The stable code of the error, when it failed. */
      code?: string;
      elapsedMs: number;
    }
  | { type: 'wait'; endpoint: string; attempt: number; waitMs: number; reason: string };

export type CallerInput = Pick<RequestInput, 'params' | 'query' | 'body' | 'json' | 'headers'>;

/** Sends calls by endpoint, without the types of the tree. */
export interface Caller {
  /** @throws RungateError with `facts` set, or the reason of the options' signal */
  exchange(name: string, endpoint: Endpoint, input: CallerInput, options?: CallOptions): Promise<Exchange>;
  /** Ends calls under way and every connection. */
  close(): Promise<void>;
}
