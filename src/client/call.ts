import pRetry, { type RetryContext } from 'p-retry';
import { type Clock, isPromise, within } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import {
  HttpError,
  type NameOf,
  NetworkError,
  RungateError,
  redactResponse,
  UnexpectedResponseError,
} from '../errors.ts';
import type { Redact } from '../redact.ts';
import { span } from '../transport/network-error.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { PreparedRequest, RawReply, Transport } from '../transport/transport.ts';
import { errorBody } from './error-body.ts';
import { mayHaveActed, mayHaveNewSecret } from './http-error.ts';
import type { Exchange, ExchangeEvent } from './options.ts';
import { noBody, type ParsedResponse, parseResponse } from './response.ts';
import { backoff, limitWait, mayLeadToResult, responseLost, retryKind } from './retry.ts';

export interface CallContext {
  /** The limits of `CallOptions`, with defaults. Waits for a rate limit count only against `limitTimeoutMs`. */
  limits: Record<'timeoutMs' | 'requestTimeoutMs' | 'maxRequests' | 'limitTimeoutMs', number>;
  transport: Transport;
  clock: Clock;
  random: () => number;
  check: boolean;
  nameOf: NameOf;
  /** Redacts everything that the call hands out besides its result. */
  redact: Redact;
  signal: AbortSignal;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  /** Called before the wait for a retry. The retry waits for the promise it returns, too; if it rejects, the call fails at once. */
  onRetry?: ((error: RungateError, waitMs: number) => void | Promise<void>) | undefined;
}

/** Node's timers may fire a few milliseconds early. */
const earlyMs = 5;

/** One call: sends the same request until it succeeds or a retry would not help. */
class Call {
  readonly #started: number;
  readonly #limitDeadline: number;
  #requests = 0;
  #refusals = 0;
  /** The time that 429s have cost: their exchanges and the waits after them, in milliseconds. */
  #limitedMs = 0;
  /** When the latest request began, on the monotonic clock. */
  #began = 0;
  /** A request may have taken effect although its response was lost. */
  #lost = false;

  constructor(
    readonly request: PreparedRequest,
    readonly endpoint: Endpoint,
    readonly context: CallContext,
  ) {
    this.#started = context.clock.monotonic();
    this.#limitDeadline = this.#started + context.limits.limitTimeoutMs;
  }

  async run(): Promise<Exchange> {
    const { signal } = this.context;
    let exchange: Exchange | undefined;
    const send = async () => {
      exchange = await this.#send();
      return exchange;
    };
    try {
      return await pRetry(send, {
        // `#mayRetry` has the limit: a 429 after the last request is repeated, too.
        retries: Number.POSITIVE_INFINITY,
        signal,
        // The waits are on our clock, in `onFailedAttempt`.
        minTimeout: 0,
        shouldConsumeRetry: ({ error }) => retryKind(error, this.request) !== 'limit',
        shouldRetry: (failure) => this.#mayRetry(failure),
        onFailedAttempt: (failure) => this.#wait(failure),
      });
    } catch (error) {
      // If the signal was aborted during `onExchange`, p-retry rejects, but the caller must hear of a run that was created.
      if (exchange !== undefined) return exchange;
      if (error instanceof RungateError && !signal.aborted) error.facts = this.#facts();
      throw error;
    }
  }

  #facts() {
    const { endpoint, method, path } = this.request;
    return { endpoint, method, path, requests: this.#requests, elapsedMs: this.#elapsed() };
  }

  /** Returns the deadline. Waits for a rate limit extend it, up to a separate limit: they do not mean a slow service. */
  get #deadline(): number {
    const deadline = this.#started + this.context.limits.timeoutMs;
    return Math.max(deadline, Math.min(deadline + this.#limitedMs, this.#limitDeadline));
  }

  #elapsed(): number {
    return this.context.clock.monotonic() - this.#started;
  }

  async #send(): Promise<Exchange> {
    const { transport, clock, signal, limits, check, redact, nameOf } = this.context;
    signal.throwIfAborted();
    const began = clock.monotonic();
    const left = this.#deadline - began;
    if (left <= 0) throw this.#deadlineError();
    this.#requests += 1;
    this.#began = began;
    let response: RawReply | undefined;
    try {
      const timeoutMs = Math.min(limits.requestTimeoutMs, left);
      const timeoutHint =
        timeoutMs < left ? `${nameOf('requestTimeout')} sets the timeout of one request` : undefined;
      // If one kept-alive connection died silently, all may have: each request would use another one of them.
      const fresh = this.#lost || !this.request.repeatable;
      response = await transport.send(this.request, { signal, timeoutMs, timeoutHint, fresh });
      if (response.status < 200 || response.status > 299)
        response = { ...response, text: redactResponse(response.text, redact) };
      const read = parseResponse(this.request, this.endpoint, response, {
        now: clock.now(),
        check,
        redact,
        nameOf,
      });
      await this.#report({ status: response.status });
      return this.#exchange(response, read);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RungateError) this.#complete(error, response);
      const code = error instanceof RungateError ? error.code : 'bug';
      const status = response?.status ?? (error instanceof HttpError ? error.status : undefined);
      await this.#report(status === undefined ? { code } : { status, code });
      if (response !== undefined && this.#gone(error)) return this.#exchange(response, noBody);
      this.#lost ||= responseLost(error);
      throw error;
    }
  }

  /** Adds the refused body to the error. */
  #complete(error: RungateError, response: RawReply | undefined): void {
    if (error instanceof UnexpectedResponseError || error instanceof HttpError) {
      const body = response?.text ?? error.body;
      const newSecret = mayHaveNewSecret(this.endpoint, response?.status ?? error.status ?? 500);
      error.body = body === undefined ? undefined : errorBody(body, this.context.redact, newSecret);
    }
    const mayHaveEffect = mayLeadToResult(error) || (error instanceof NetworkError && !error.unsent);
    if (mayHaveEffect && !this.request.repeatable)
      error.hint = error.hint === undefined ? mayHaveActed : `${error.hint}; ${mayHaveActed}`;
  }

  /** Returns whether a DELETE that gets a 404 has succeeded before: the response to that request was lost. */
  #gone(error: unknown): boolean {
    return (
      this.request.method === 'DELETE' && this.#lost && error instanceof HttpError && error.status === 404
    );
  }

  #exchange({ status, headers }: RawReply, parsed: ParsedResponse): Exchange {
    const { redact } = this.context;
    return {
      value: parsed.value,
      text: parsed.text,
      isJson: parsed.isJson,
      mismatches: parsed.mismatches.map((mismatch) => ({
        ...mismatch,
        field: redact(mismatch.field),
        received: redact(mismatch.received),
      })),
      status,
      headers,
      request: `${this.request.method} ${this.request.path}`,
      requests: this.#requests,
      elapsedMs: this.#elapsed(),
      redact,
    };
  }

  async #report(outcome: { status?: number; code?: string }): Promise<void> {
    if (this.context.onExchange === undefined) return;
    const { endpoint, method, path } = this.request;
    await this.#tell({
      type: 'request',
      endpoint,
      method,
      path: this.context.redact(path),
      request: this.#requests,
      ...outcome,
      elapsedMs: this.context.clock.monotonic() - this.#began,
    });
  }

  /** An error of `onExchange` ends the call, also if it is asynchronous. It cannot hold up the call beyond its deadline. */
  async #tell(event: ExchangeEvent): Promise<void> {
    const { clock, onExchange } = this.context;
    const returned: unknown = onExchange?.(event);
    if (isPromise(returned)) await within(Math.max(0, this.#deadline - clock.monotonic()), returned, clock);
  }

  #deadlineError(cause?: NetworkError): NetworkError {
    const { method, path } = this.request;
    const text = `${method} ${path} got no response within ${span(this.context.limits.timeoutMs)}`;
    const hint =
      cause?.hint ?? 'the service is slow or cannot be reached: try again later, or allow more time';
    const message = cause === undefined ? text : `${text}: ${cause.message}`;
    return new NetworkError('deadline', message, { hint, cause });
  }

  #mayRetry({ error, retriesConsumed }: RetryContext): boolean {
    const kind = retryKind(error, this.request);
    const most = this.context.limits.maxRequests - 1;
    return kind === 'limit' ? most > 0 : kind === 'again' && retriesConsumed < most;
  }

  /** Sleeps until the next request, or throws the final error of the call. */
  async #wait(failure: RetryContext): Promise<void> {
    const { error, retriesConsumed } = failure;
    const { clock, signal, onRetry } = this.context;
    // The reason may be any value; p-retry would turn it into an error.
    signal.throwIfAborted();
    const kind = retryKind(error, this.request);
    if (kind === 'no' || !(error instanceof RungateError)) return;
    if (!this.#mayRetry(failure)) throw this.#ended(error);
    const now = clock.monotonic();
    const end = kind === 'limit' ? this.#limitDeadline : this.#deadline;
    const waitMs = this.#waitMs(kind, error, retriesConsumed, end - now);
    if (now + waitMs >= end) throw this.#ended(error, waitMs, Math.max(0, end - now));
    const permitted = Promise.resolve(onRetry?.(error, waitMs));
    // The call may fail first, and then nothing waits for it.
    permitted.catch(() => {});
    const { endpoint } = this.request;
    const reason = this.context.redact(error.message);
    await this.#tell({ type: 'wait', endpoint, request: this.#requests, waitMs, reason });
    signal.throwIfAborted();
    const ended = new AbortController();
    const either = eitherSignal(signal, ended.signal);
    try {
      await Promise.all([clock.sleep(waitMs, either.signal), permitted]);
    } finally {
      // The timer of the sleep would keep the process alive.
      ended.abort();
      either.release();
    }
    if (kind !== 'limit') return;
    this.#refusals += 1;
    this.#limitedMs += clock.monotonic() - this.#began;
  }

  #waitMs(kind: 'limit' | 'again', error: RungateError, retriesConsumed: number, leftMs: number): number {
    const requestedMs = error instanceof HttpError ? error.retryAfterMs : undefined;
    const { random } = this.context;
    if (kind === 'again') return requestedMs ?? backoff(retriesConsumed, random);
    return limitWait({ refusals: this.#refusals, waitedMs: this.#limitedMs, requestedMs, leftMs }, random);
  }

  #ended(error: RungateError, waitMs?: number, leftMs = 0): RungateError {
    const late = this.context.clock.monotonic() >= this.#deadline - earlyMs;
    if (error instanceof NetworkError && error.fault !== 'deadline' && late)
      return this.#deadlineError(error);
    if (waitMs === undefined) return error;
    const requested = error instanceof HttpError && error.retryAfterMs !== undefined;
    const why = `${requested ? 'the service requests a wait of' : 'the next request would be in'} ${span(waitMs)}`;
    const reason =
      leftMs > 0 ? `${why}, but the call has only ${span(leftMs)} left` : 'the call has no time left';
    error.hint = error.hint === undefined ? reason : `${error.hint}; ${reason}`;
    return error;
  }
}

/**
 * Sends the request, with retries where they are safe and may help, and checks the response.
 * @throws RungateError with `facts` set, or the signal's reason
 */
export function call(request: PreparedRequest, endpoint: Endpoint, context: CallContext): Promise<Exchange> {
  return new Call(request, endpoint, context).run();
}
