import { inspect } from 'node:util';
import { redactJson } from './json/rewrite.ts';
import { parsedJson } from './json/text.ts';
import type { Redact } from './redact.ts';

/** The known facts about the exchange that failed. */
export interface ExchangeFacts {
  /** The endpoint's dotted name, `run.status`. */
  endpoint?: string | undefined;
  method?: string | undefined;
  /** The path of the URL; without the query, which may contain a secret. */
  path?: string | undefined;
  /** The number of requests, including the failed one. */
  requests?: number | undefined;
  /** The time from the first byte sent to the failure in milliseconds, including waits. */
  elapsedMs?: number | undefined;
  /** The key of a request that creates a run. */
  idempotencyKey?: string | undefined;
  /** That request may have created a run. */
  runMayExist?: true | undefined;
}

/** Returns how an option, or a phrase about options, is written where an error is shown; with `value` in it, if it has a place for one. */
export type NameOf = (id: string, value?: string) => string;

/** The optional parts of every error. */
export interface ErrorParts {
  /** The suggested remedy, as a sentence to a person. */
  hint?: string | undefined;
  /** A longer remedy in sanitized lines, which are shown to people instead of the hint. */
  lines?: readonly string[] | undefined;
  cause?: unknown;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The base class of every error that rungate explains. `code` is stable; `message` is for people. */
export abstract class RungateError extends Error {
  abstract readonly code: string;
  /** The suggested remedy. Writable, because callers often know a better one than the code that failed. */
  hint: string | undefined;
  /** Shown to people instead of the hint. */
  readonly lines: readonly string[] | undefined;
  facts: ExchangeFacts = {};

  constructor(message: string, { cause, hint, lines }: ErrorParts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    // Each class sets its name explicitly: the minifier shortens class names to a letter or two.
    this.name = new.target.name;
    this.hint = hint;
    this.lines = lines;
  }
}

/** The call itself is wrong; nothing was sent. */
export class UsageError extends RungateError {
  static override readonly name = 'UsageError';
  readonly code = 'usage';
}

/** A setting from the environment or a file is missing or invalid; nothing was sent. */
export class ConfigError extends RungateError {
  static override readonly name = 'ConfigError';
  readonly code = 'config';
}

/** The credential that an endpoint requires is missing or of the wrong kind; nothing was sent. */
export class CredentialError extends RungateError {
  static override readonly name = 'CredentialError';
  readonly code = 'credentials';
}

/** The parts of an HttpError. */
export interface HttpErrorParts extends ErrorParts {
  status: number;
  /** The field `error` of the error body. */
  error?: string | undefined;
  /** The field `details` of the error body: text, or any other JSON. */
  details?: unknown;
  requestId?: string | undefined;
  /** The value of `Retry-After`, in milliseconds. */
  retryAfterMs?: number | undefined;
  body?: string | undefined;
}

/** Sets the body as non-enumerable, so that logging the error does not print all of it. */
function setBody(error: HttpError | UnexpectedResponseError, value: string | undefined): void {
  Object.defineProperty(error, 'body', { value, writable: true, configurable: true, enumerable: false });
}

/** The service responded with an error. */
export class HttpError extends RungateError {
  static override readonly name = 'HttpError';
  readonly code: string;
  readonly status: number;
  readonly error: string | undefined;
  /** Text according to the API, or any other JSON; untrusted. */
  readonly details: unknown;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The redacted body of the response, at most 64 KiB; untrusted. */
  declare body: string | undefined;

  constructor(message: string, parts: HttpErrorParts) {
    super(message, parts);
    this.code = httpCode(parts.status);
    this.status = parts.status;
    this.error = parts.error;
    this.details = parts.details;
    this.requestId = parts.requestId;
    this.retryAfterMs = parts.retryAfterMs;
    setBody(this, parts.body);
  }
}

function httpCode(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 300 && status < 400 ? 'redirect' : 'http_error';
}

/** The parts of a UnexpectedResponseError. */
export interface UnexpectedResponseErrorParts extends ErrorParts {
  /** The path of the field in the response: `orders[3].total`; empty for the whole response. */
  field: string;
  expected: string;
  received: string;
  status?: number | undefined;
  /** The response is not valid JSON: a broken transfer is more likely than a changed service. */
  unreadable?: boolean | undefined;
  body?: string | undefined;
}

/** The service responded with success, but the response does not match its API. */
export class UnexpectedResponseError extends RungateError {
  static override readonly name = 'UnexpectedResponseError';
  readonly code = 'unexpected_response';
  readonly field: string;
  readonly expected: string;
  readonly received: string;
  readonly status: number | undefined;
  readonly unreadable: boolean;
  /** The redacted body of the response, at most 64 KiB; untrusted. */
  declare body: string | undefined;

  constructor(message: string, parts: UnexpectedResponseErrorParts) {
    super(message, parts);
    this.field = parts.field;
    this.expected = parts.expected;
    this.received = parts.received;
    this.status = parts.status;
    this.unreadable = parts.unreadable ?? false;
    setBody(this, parts.body);
  }
}

/** The deployed build is not the expected one, or was not at some time during a run. */
export class MismatchError extends RungateError {
  static override readonly name = 'MismatchError';
  readonly code = 'mismatch';
}

/** No run was created, because the turn of the request did not come within the timeout. */
export class TimeoutError extends RungateError {
  static override readonly name = 'TimeoutError';
  readonly code = 'timeout';
}

/**
 * Why the service could not be reached: `dns`, the host has no address; `refused`, nothing is listening; `tls`, no
 * trusted connection; `connect`, any other failure before the request was sent; `broken`, the connection broke or
 * stalled after that; `deadline`, the call reached its deadline.
 */
export type NetworkFault = 'dns' | 'refused' | 'tls' | 'connect' | 'broken' | 'deadline';

/** The service could not be reached, or its response did not arrive. */
export class NetworkError extends RungateError {
  static override readonly name = 'NetworkError';
  readonly code: `network_${NetworkFault}`;

  constructor(
    readonly fault: NetworkFault,
    message: string,
    parts: ErrorParts = {},
  ) {
    super(message, parts);
    this.code = `network_${fault}`;
  }

  /** Whether the request certainly never arrived, so that a retry cannot repeat its effect. */
  get unsent(): boolean {
    return this.fault !== 'broken' && this.fault !== 'deadline';
  }
}

/** The signals that stop a command. */
export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/**
 * The cause of a StoppedError: a signal, in the library an AbortSignal, another gate that failed with `--fail-fast`, or the end of a
 * slice (`--slice`), after which another command goes on.
 */
export type StopCause = StopSignal | 'abort' | 'fail-fast' | 'slice';

/** Receives what stops a command. `orphaned`: no SIGTERM came, but the process that started rungate has ended. */
export type StopListener = (cause: StopCause, orphaned?: boolean) => void;

/** A person, the CI or the caller stopped the command. */
export class StoppedError extends RungateError {
  static override readonly name = 'StoppedError';
  readonly code = 'stopped';

  constructor(readonly signal: StopCause) {
    super(`stopped by ${signal}`);
  }
}

/** A person declined a prompt or ended the input; nothing was done. */
export class DeclinedError extends RungateError {
  static override readonly name = 'DeclinedError';
  readonly code = 'declined';
}

/** Redacts the text of a response, which stays JSON if it is JSON. */
export const redactResponse = (text: string, redact: Redact): string =>
  parsedJson(text) === undefined ? redact(text) : redactJson(text, redact);

/** Redacts all texts of an error, since other code may print any of them. */
export function redactError<Thrown extends RungateError>(error: Thrown, redact: Redact): Thrown {
  const texts = error as unknown as Record<string, unknown>;
  const { message: whole, stack } = error;
  for (const name of Object.getOwnPropertyNames(error)) {
    const text = texts[name];
    if (typeof text !== 'string' || name === 'name' || name === 'code') continue;
    texts[name] = name === 'body' ? redactResponse(text, redact) : redact(text);
  }
  if (error instanceof HttpError && typeof error.details === 'object' && error.details !== null)
    texts.details = JSON.parse(redactJson(JSON.stringify(error.details), redact));
  const { path } = error.facts;
  if (path !== undefined) error.facts = { ...error.facts, path: redact(path) };
  // A secret that is cut off at the end of the message is in the middle of the stack.
  if (stack !== undefined) error.stack = redact(stack.replace(whole, () => error.message));
  const { cause } = error;
  // An error of undici has the response as `data`; others have a cause or several errors.
  const all = { depth: 8, breakLength: Infinity, maxStringLength: null, maxArrayLength: null };
  const causeText = cause === undefined ? '' : inspect(cause, all);
  if (redact(causeText) !== causeText) error.cause = undefined;
  return error;
}

/** An error as data, as `--json` prints it on stderr or inside a run. */
export interface ErrorReport {
  /** The stable name of the error: `usage`, `config`, `not_found`, `rate_limited` and so on. */
  code: string;
  /** The problem, for people. */
  message: string;
  /** The status code, if the service responded. */
  status: number | null;
  /** The method of the request; null if the error is about none. */
  method: string | null;
  /** The path of the request's URL; null if the error is about none. */
  path: string | null;
  /** The details of the service's error: text, or any other JSON. */
  details: unknown;
  /** The remedy, for people; null if none is known. */
  hint: string | null;
  /** The redacted body of the refused response, at most 64 KiB. */
  body: string | null;
}

export function reportError(error: RungateError): ErrorReport {
  const { code, message, hint = null } = error;
  const { method = null, path = null } = error.facts;
  const { status = null, details = null, body = null } = error as Partial<HttpError>;
  return { code, message, status, method, path, details, hint, body };
}
