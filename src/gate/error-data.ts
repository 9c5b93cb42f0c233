import { HttpError, type RungateError, reportError } from '../errors.ts';
import { exitCodeOf } from '../exit.ts';
import type { ErrorData } from './state.ts';

/** Returns an error as data, for the state of a gate. */
export const errorData = (error: RungateError): ErrorData => ({
  ...reportError(error),
  exitCode: exitCodeOf(error),
});

/** Returns the wait that the response requests, in milliseconds, or null. */
export const requestedMs = (error: RungateError): number | null =>
  error instanceof HttpError ? (error.retryAfterMs ?? null) : null;
