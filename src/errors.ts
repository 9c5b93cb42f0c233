import { withTexts } from './exact-fields.ts';

/** What is known about the exchange that an error speaks of. */
export interface ExchangeFacts {
  /** The endpoint's dotted name, `run.status`. */
  endpoint?: string | undefined;
  method?: string | undefined;
  /** The path below the service's origin; never with a query that could hold a secret. */
  path?: string | undefined;
  /** Tries made, the failed one included. */
  attempts?: number | undefined;
  /** From the first byte sent to the failure, waits included, in milliseconds. */
  elapsedMs?: number | undefined;
}

/** What every error may be made of besides its message. */
export interface ErrorParts {
  /** What to do about it, as a sentence to a person. */
  hint?: string | undefined;
  /** The same at more length, line by line: a person reads these in place of the hint. Harmless text. */
  lines?: readonly string[] | undefined;
  cause?: unknown;
}

/** Every failure that rungate knows how to explain. `code` is stable; `message` is for people. */
export abstract class RungateError extends Error {
  readonly code: string;
  /** What to do about it. Writable, since whoever gives up knows more than whoever failed. */
  hint: string | undefined;
  /** Read by a person in place of the hint. */
  readonly lines: readonly string[] | undefined;
  facts: ExchangeFacts = {};

  constructor(code: string, message: string, parts: ErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    // Each class says its name itself: the one it is written with is a letter or two in the built file.
    this.name = new.target.name;
    this.code = code;
    this.hint = parts.hint;
    this.lines = parts.lines;
  }
}

/** The call itself is wrong; nothing was sent. */
export class UsageError extends RungateError {
  static override readonly name = 'UsageError';
  constructor(message: string, parts: ErrorParts = {}) {
    super('usage', message, parts);
  }
}

/** A setting from the environment or a file is missing or not usable; nothing was sent. */
export class ConfigError extends RungateError {
  static override readonly name = 'ConfigError';
  constructor(message: string, parts: ErrorParts = {}) {
    super('config', message, parts);
  }
}

/** The credential that an endpoint needs is not there, or is of the wrong kind; nothing was sent. */
export class CredentialError extends RungateError {
  static override readonly name = 'CredentialError';
  constructor(message: string, parts: ErrorParts = {}) {
    super('credentials', message, parts);
  }
}

/** What an error of the service is made of (interface, section 7). */
export interface HttpErrorParts extends ErrorParts {
  status: number;
  /** The error body's `error` (interface, section 7). */
  error?: string | undefined;
  /** The error body's `details`: text, or any other JSON. */
  details?: unknown;
  /** The same as JSON text, every digit as it came. */
  detailsText?: string | undefined;
  requestId?: string | undefined;
  /** What `Retry-After` asked for, in milliseconds. */
  retryAfterMs?: number | undefined;
  body?: string | undefined;
}

/** Keeps a text of the response where logs of the error do not print all of it. */
function setText(
  error: HttpError | ContractError,
  name: 'body' | 'detailsText',
  value: string | undefined,
): void {
  Object.defineProperty(error, name, { value, writable: true, configurable: true, enumerable: false });
}

/** The service answered, and its answer is an error. */
export class HttpError extends RungateError {
  static override readonly name = 'HttpError';
  readonly status: number;
  readonly error: string | undefined;
  /** Text as the interface says, or any other JSON; untrusted. */
  readonly details: unknown;
  /** The details as JSON text, every digit as it came; undefined where they were cut, or are not there. */
  declare readonly detailsText: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The body of the response, without secrets, 64 KiB at most; untrusted. */
  declare body: string | undefined;

  constructor(message: string, parts: HttpErrorParts) {
    super(httpCode(parts.status), message, parts);
    this.status = parts.status;
    this.error = parts.error;
    this.details = parts.details;
    this.requestId = parts.requestId;
    this.retryAfterMs = parts.retryAfterMs;
    setText(this, 'body', parts.body);
    setText(this, 'detailsText', parts.detailsText);
  }
}

function httpCode(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 300 && status < 400 ? 'redirect' : 'http_error';
}

/** What a reply that is not as the contract says is made of. */
export interface ContractErrorParts extends ErrorParts {
  /** Where in the reply, as a path: `orders[3].total`; empty for the reply as a whole. */
  field: string;
  expected: string;
  received: string;
  status?: number | undefined;
  /** The reply could not be read as JSON at all: more likely a broken transfer than a changed service. */
  unreadable?: boolean | undefined;
  body?: string | undefined;
}

/** The service answered with success, and the answer is not what the contract says. */
export class ContractError extends RungateError {
  static override readonly name = 'ContractError';
  readonly field: string;
  readonly expected: string;
  readonly received: string;
  readonly status: number | undefined;
  readonly unreadable: boolean;
  /** The body of the response, without secrets, 64 KiB at most; untrusted. */
  declare body: string | undefined;

  constructor(message: string, parts: ContractErrorParts) {
    super('contract', message, parts);
    this.field = parts.field;
    this.expected = parts.expected;
    this.received = parts.received;
    this.status = parts.status;
    this.unreadable = parts.unreadable ?? false;
    setText(this, 'body', parts.body);
  }
}

/**
 * How the service could not be reached: `dns` no such host, `refused` nobody listens, `tls` no trusted
 * connection, `connect` any other failure before the request was sent, `broken` the connection broke or
 * stalled after that, `deadline` the time of the call ran out.
 */
export type NetworkFault = 'dns' | 'refused' | 'tls' | 'connect' | 'broken' | 'deadline';

/** The service could not be reached, or its reply did not arrive. */
export class NetworkError extends RungateError {
  static override readonly name = 'NetworkError';
  readonly fault: NetworkFault;

  constructor(fault: NetworkFault, message: string, parts: ErrorParts = {}) {
    super(`network_${fault}`, message, parts);
    this.fault = fault;
  }

  /** The request surely never arrived, so sending it again cannot do anything twice. */
  get unsent(): boolean {
    return this.fault !== 'broken' && this.fault !== 'deadline';
  }
}

/** The signals that stop the command line. */
export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** What ended us before our time: a signal, or in the library an AbortSignal that names none. */
export type StopCause = StopSignal | 'abort';

/** A person, the CI or our caller stopped us. */
export class StoppedError extends RungateError {
  static override readonly name = 'StoppedError';
  readonly signal: StopCause;

  constructor(signal: StopCause) {
    super('stopped', `stopped by ${signal}`);
    this.signal = signal;
  }
}

/** A person was asked and said no, or ended the input; nothing was done. */
export class DeclinedError extends RungateError {
  static override readonly name = 'DeclinedError';
  constructor(message: string) {
    super('declined', message);
  }
}

/** Takes secrets out of all texts of an error, which other code may print whole. */
export function redactError(error: RungateError, redact: (text: string) => string): void {
  const texts = error as unknown as Record<string, unknown>;
  for (const name of Object.getOwnPropertyNames(error)) {
    const text = texts[name];
    if (typeof text === 'string' && name !== 'name' && name !== 'code') texts[name] = redact(text);
  }
  const { cause } = error;
  const told = cause instanceof Error ? `${cause.message} ${cause.stack}` : String(cause);
  if (cause !== undefined && redact(told) !== told) error.cause = undefined;
}

/** An error as data: the shape that `--json` prints, on stderr or inside a run. */
export interface ErrorReport {
  code: string;
  message: string;
  status: number | null;
  method: string | null;
  path: string | null;
  /** Text, or any other JSON that the service gave as the details of its error. */
  details: unknown;
  hint: string | null;
  /** The body of the response that was refused, without secrets, 64 KiB at most. */
  body: string | null;
}

export function reportError(error: RungateError): ErrorReport {
  const answered = error instanceof HttpError || error instanceof ContractError ? error : null;
  const details = error instanceof HttpError ? error : null;
  const report: ErrorReport = {
    code: error.code,
    message: error.message,
    status: answered?.status ?? null,
    method: error.facts.method ?? null,
    path: error.facts.path ?? null,
    details: details?.details ?? null,
    hint: error.hint ?? null,
    body: answered?.body ?? null,
  };
  return withTexts(report, { details: details?.detailsText });
}
