import { HttpError, NetworkError, type RungateError, UnexpectedResponseError } from '../errors.ts';

/** The number of foreign responses in a row that end the wait. */
export const foreignLimit = 5;

/** Returns whether the status says that the run has ended but not how. A later read cannot be better. */
export function saysEnded(error: RungateError): boolean {
  return error instanceof UnexpectedResponseError && (error.field === 'failed' || error.field === 'blocked');
}

/**
 * Returns whether something else responded for the service, such as a portal or a firewall, and requests no later retry. The
 * service's errors have a text.
 */
export function isForeign(error: unknown): boolean {
  if (!(error instanceof HttpError) || error.error !== undefined || error.retryAfterMs !== undefined)
    return false;
  return [401, 403, 404].includes(error.status) || (error.status >= 300 && error.status < 400);
}

/**
 * Why a read failed. `cut`: the deadline ended it. `outage`: a lost connection, 408, 5xx or a response that cannot be trusted.
 * `refused`: the service requests another read later. `missing`: its own 404. `final`: no later read can be better.
 */
export type Failure = 'cut' | 'outage' | 'refused' | 'missing' | 'foreign' | 'final';

export function failureOf(error: RungateError): Failure {
  if (error instanceof NetworkError) return error.fault === 'deadline' ? 'cut' : 'outage';
  if (error instanceof UnexpectedResponseError) return saysEnded(error) ? 'final' : 'outage';
  if (!(error instanceof HttpError)) return 'final';
  const { status, retryAfterMs } = error;
  if (status === 408 || status >= 500) return 'outage';
  if (status === 429 || retryAfterMs !== undefined) return 'refused';
  if (isForeign(error)) return 'foreign';
  return status === 404 ? 'missing' : 'final';
}

export function isLimit(error: RungateError | null): error is HttpError {
  return error instanceof HttpError && error.status === 429;
}

export function isAddressFailure(error: RungateError): boolean {
  return error instanceof NetworkError && ['dns', 'refused', 'tls'].includes(error.fault);
}
