import {
  ConfigError,
  CredentialError,
  DeclinedError,
  HttpError,
  MismatchError,
  NetworkError,
  type StopCause,
  StoppedError,
  TimeoutError,
  UnexpectedResponseError,
  UsageError,
} from './errors.ts';

/** The exit codes, covered by semantic versioning. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  blocked: 2,
  timeout: 3,
  cancelled: 4,
  service: 5,
  credentials: 6,
  unreachable: 7,
  mismatch: 8,
  usage: 64,
  bug: 70,
  /** EX_TEMPFAIL: a slice has ended, and the gate goes on. Neither passed nor failed. */
  waiting: 75,
  config: 78,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** The failing codes, most severe first. A command with several runs exits with the most severe code of its runs. */
const severity: readonly number[] = [
  exitCodes.credentials,
  exitCodes.service,
  exitCodes.unreachable,
  exitCodes.failed,
  exitCodes.mismatch,
  exitCodes.blocked,
  exitCodes.cancelled,
  exitCodes.timeout,
];

/** Returns the most severe code, or 0 if all are 0. A code without a rank counts as the most severe. */
export function mostSevere(codes: readonly number[]): number {
  const failing = codes.filter((code) => code !== exitCodes.ok);
  return failing.toSorted((a, b) => severity.indexOf(a) - severity.indexOf(b))[0] ?? exitCodes.ok;
}

/**
 * Maps an error to an exit code. Any error that is not a RungateError is a bug in rungate.
 * @example
 * ```ts
 * import { exitCodeOf, gate } from 'rungate';
 *
 * try {
 *   await gate({ apiUrl: 'https://service.example.com', runIds: ['run_79e0'] });
 * } catch (error) {
 *   process.exitCode = exitCodeOf(error); // 6: no API key
 * }
 * ```
 */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof ConfigError) return exitCodes.config;
  if (error instanceof CredentialError) return exitCodes.credentials;
  if (error instanceof HttpError) {
    return error.status === 401 || error.status === 403 ? exitCodes.credentials : exitCodes.service;
  }
  if (error instanceof UnexpectedResponseError) return exitCodes.service;
  if (error instanceof NetworkError) return exitCodes.unreachable;
  if (error instanceof MismatchError) return exitCodes.mismatch;
  if (error instanceof TimeoutError) return exitCodes.timeout;
  if (error instanceof DeclinedError) return exitCodes.failed;
  if (error instanceof StoppedError) return exitCodeOfSignal(error.signal);
  return exitCodes.bug;
}

/** Returns the exit code for a signal; a stop without a signal counts as Ctrl-C. */
export function exitCodeOfSignal(cause: StopCause): number {
  if (cause === 'slice') return exitCodes.waiting;
  return exitCodes[cause === 'abort' || cause === 'fail-fast' ? 'SIGINT' : cause];
}
