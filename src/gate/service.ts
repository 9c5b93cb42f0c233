import type { Caller, CallOptions, Exchange } from '../client/caller.ts';
import { errorBody } from '../client/error-body.ts';
import { clockOf, parseRetryAfter } from '../client/retry.ts';
import { run } from '../contract/run.ts';
import { HttpError, UnexpectedResponseError } from '../errors.ts';
import { fillPath } from '../transport/address.ts';
import { isForeign } from './failed-read.ts';
import type { Reading } from './reads.ts';
import { readResponse, type StatusReading } from './run-status.ts';

export interface RunService {
  trigger(body: unknown, options: CallOptions): Promise<Exchange>;
  /** Reads the status once; the gate does the retries. `retryAfterMs` comes from the `Retry-After` header. @throws UnexpectedResponseError */
  read(runId: string, options: CallOptions): Promise<{ reading: Reading; retryAfterMs?: number | undefined }>;
  /**
   * Returns whether a run has ended; with the client's retries. A run that is not visible yet, or whose state stays unknown, has
   * not.
   * @throws UnexpectedResponseError if no response can be trusted, or the HttpError of the last one if it was foreign
   */
  hasEnded(runId: string, options: CallOptions): Promise<boolean>;
  cancel(runId: string, reason: string, options: CallOptions): Promise<Exchange>;
}

const statusHint = (runId: string) =>
  `see the response of the service: rungate api GET ${fillPath(run['run.status'], { runId })}`;

function distrusted(
  runId: string,
  { ended, state, violation }: Extract<StatusReading, { kind: 'broken' }>,
  { status, text, redact }: Exchange,
): UnexpectedResponseError {
  const { field, expected, received } = violation;
  const end = ended ? `, though its state is ${state}` : '';
  const what = field === '' ? 'the response' : `"${field}"`;
  return new UnexpectedResponseError(
    `the status of run ${runId} cannot be trusted${end}: ${what} should be ${expected}, but is ${received}`,
    { ...violation, status, hint: statusHint(runId), body: errorBody(text, redact) },
  );
}

/** The number of reads until the state of a run is clear. */
const maxReads = 3;

export function runService(caller: Caller, now: () => number): RunService {
  // Unchecked, since `readResponse` is stricter than the schema: an ended run must have its counts.
  const status = (runId: string, options: CallOptions) =>
    caller.exchange('run.status', run['run.status'], { params: { runId } }, { ...options, check: false });

  return {
    trigger: (body, options) =>
      caller.exchange('run.trigger', run['run.trigger'], { params: {}, body }, options),

    async read(runId, options) {
      const response = await status(runId, { ...options, maxRequests: 1 });
      const { headers } = response;
      const reading = readResponse(response, runId);
      if (reading.kind !== 'broken') {
        return { reading, retryAfterMs: parseRetryAfter(headers['retry-after'], clockOf(headers, now())) };
      }
      throw distrusted(runId, reading, response);
    },

    async hasEnded(runId, options) {
      let trusted = false;
      let body: string | undefined;
      let foreign: unknown;
      // One response that cannot be trusted, or one 404 for a new run, proves nothing, so the run is read again.
      for (let read = 0; read < maxReads; read += 1) {
        try {
          const response = await status(runId, options);
          const reading = readResponse(response, runId);
          if (reading.kind === 'ended' || (reading.kind === 'broken' && reading.ended)) return true;
          if (reading.kind === 'running' && reading.known) return false;
          trusted = reading.kind === 'running';
          body = errorBody(response.text, response.redact);
        } catch (error) {
          foreign = isForeign(error) ? error : undefined;
          if (foreign !== undefined) continue;
          if (!(error instanceof HttpError) || error.status !== 404) throw error;
          trusted = true;
        }
      }
      if (trusted) return false;
      if (foreign !== undefined) throw foreign;
      throw new UnexpectedResponseError(`the service does not say whether run ${runId} has ended`, {
        field: 'state',
        expected: 'in_progress, completed or cancelled',
        received: 'none of these',
        hint: statusHint(runId),
        body,
      });
    },

    cancel: (runId, reason, options) =>
      caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body: { reason } }, options),
  };
}
