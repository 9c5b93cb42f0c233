import { isPassing, mayLeadToResult } from '../client/retry.ts';
import {
  ConfigError,
  CredentialError,
  HttpError,
  NetworkError,
  type RungateError,
  UnexpectedResponseError,
  UsageError,
} from '../errors.ts';
import type { ReadFailure } from './reads.ts';

/**
 * Returns whether something else responded for the service, such as a portal or a firewall, and requests no later retry. The
 * service's errors have a text.
 */
export function isForeign(error: unknown): boolean {
  if (!(error instanceof HttpError) || error.error !== undefined || error.retryAfterMs !== undefined)
    return false;
  const { status } = error;
  // A repeated 407 could lock the account, and a 429 has its own waits.
  return status >= 300 && status < 500 && status !== 407 && status !== 429 && !isPassing(status);
}

export function isLimit(error: RungateError): error is HttpError {
  return error instanceof HttpError && error.status === 429;
}

/**
 * Returns what a failed read says about the next one.
 * @param cut whether the gate's own deadline ended it
 */
export function failureOf(error: RungateError, cut: boolean): ReadFailure {
  if (isLimit(error)) return 'limit';
  if (error instanceof NetworkError) {
    if (error.fault === 'deadline') return cut ? 'cut' : 'outage';
    return ['dns', 'refused', 'tls'].includes(error.fault) ? 'address' : 'outage';
  }
  // The run has ended, but the status does not say how: a later read cannot be better.
  if (error instanceof UnexpectedResponseError)
    return error.field === 'failed' || error.field === 'blocked' ? 'ended' : 'outage';
  if (!(error instanceof HttpError)) return 'final';
  const { status, retryAfterMs } = error;
  if (isPassing(status) || status >= 500) return 'outage';
  if (retryAfterMs !== undefined) return 'later';
  if (isForeign(error)) return status === 404 ? 'foreign-404' : 'foreign';
  return status === 404 ? 'missing' : 'final';
}

/** Returns whether rungate itself refused the request, before anything was sent. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof UsageError || error instanceof ConfigError || error instanceof CredentialError;

/** Returns whether the service certainly did not act on a request. */
export function surelyRefused(error: unknown): boolean {
  if (error instanceof NetworkError) return error.unsent;
  if (isUnsent(error)) return true;
  if (mayLeadToResult(error)) return false;
  return error instanceof HttpError && error.status < 500 && error.status !== 408 && error.status !== 409;
}
