import type { Caller, CallOptions, Exchange } from '../client/caller.ts';
import { errorBody } from '../client/error-body.ts';
import { clockOf, parseRetryAfter } from '../client/retry.ts';
import { run } from '../contract/run.ts';
import { ContractError, HttpError } from '../errors.ts';
import { type Redact, redactNothing } from '../redact.ts';
import { fillPath } from '../transport/address.ts';
import type { ReadResult } from './poll.ts';
import { readResponse } from './run-status.ts';

/** The calls of the client that the gate uses. */
export interface RunService {
  /** Creates a run. The client retries it with the same key and the same bytes. */
  trigger(body: unknown, options: CallOptions): Promise<Exchange>;
  /** Reads the status once; the wait does the retries. Throws if the response cannot be trusted. */
  read(runId: string, options: CallOptions): Promise<Exclude<ReadResult, { error: unknown }>>;
  /**
   * Returns whether a run has ended, whatever its counts; with the client's retries. A run that is not visible yet, or whose
   * state stays unknown, has not ended.
   * @throws ContractError if no response can be trusted
   */
  hasEnded(runId: string, options: CallOptions): Promise<boolean>;
  cancel(runId: string, reason: string, options: CallOptions): Promise<Exchange>;
}

/** Returns how to see the original response of a status that cannot be trusted. */
const statusHint = (runId: string, redact: Redact) =>
  `see the response of the service: rungate api GET ${redact(fillPath('run.status', run['run.status'], { runId }))}`;

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
      const response = await status(runId, { ...options, attempts: 1 });
      const { headers, redact } = response;
      const reading = readResponse(response, runId);
      if (reading.kind !== 'broken') {
        return { reading, retryAfterMs: parseRetryAfter(headers['retry-after'], clockOf(headers, now())) };
      }
      const { field, expected, received } = reading.violation;
      const end = reading.ended ? `, though its state is ${reading.state}` : '';
      const what = field === '' ? 'the response' : `"${field}"`;
      throw new ContractError(
        `the status of run ${redact(runId)} cannot be trusted${end}: ${what} should be ${expected}, but is ${received}`,
        {
          ...reading.violation,
          status: response.status,
          hint: statusHint(runId, redact),
          body: errorBody(response.text, redact),
        },
      );
    },

    async hasEnded(runId, options) {
      let trusted = false;
      let body: string | undefined;
      // One response that cannot be trusted, or one 404 for a new run, proves nothing, so the run is read again.
      for (let read = 0; read < maxReads; read += 1) {
        try {
          const response = await status(runId, options);
          const reading = readResponse(response, runId);
          if (reading.kind === 'ended') return true;
          if (reading.kind === 'broken' && reading.ended) return true;
          if (reading.kind === 'running' && reading.known) return false;
          trusted = reading.kind === 'running';
          body = errorBody(response.text, response.redact);
        } catch (error) {
          if (!(error instanceof HttpError) || error.status !== 404) throw error;
          trusted = true;
        }
      }
      if (trusted) return false;
      throw new ContractError(`the service does not say whether run ${runId} has ended`, {
        field: 'state',
        expected: 'in_progress, completed or cancelled',
        received: 'none of these',
        hint: `${statusHint(runId, redactNothing)}; start a new run with another idempotency salt`,
        body,
      });
    },

    cancel: (runId, reason, options) =>
      caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body: { reason } }, options),
  };
}
