import type { Caller, CallOptions, Exchange } from '../client/caller.ts';
import { clockOf, parseRetryAfter } from '../client/retry.ts';
import { shownBody } from '../client/shown-body.ts';
import { run } from '../contract/run.ts';
import { ContractError, HttpError } from '../errors.ts';
import { type Redact, redactNothing } from '../redact.ts';
import { fillPath } from '../transport/address.ts';
import type { ReadResult } from './poll.ts';
import { readResponse } from './run-status.ts';

/** What the gate needs of the service; the rest of the client is not its business. */
export interface RunService {
  /** Creates a run. The client retries it with the same key and the same bytes. */
  trigger(body: unknown, options: CallOptions): Promise<Exchange>;
  /** Reads the status once, without retries: those are the wait's. Throws where the response cannot be trusted. */
  read(runId: string, options: CallOptions): Promise<Exclude<ReadResult, { error: unknown }>>;
  /**
   * Whether a run has ended, whatever its counts; with the client's retries. A run that is not visible yet has not, nor has
   * one whose state stays unknown.
   * @throws ContractError if no response can be trusted
   */
  hasEnded(runId: string, options: CallOptions): Promise<boolean>;
  cancel(runId: string, reason: string, options: CallOptions): Promise<Exchange>;
}

/** How to see a status that cannot be trusted, as it came. */
const statusHint = (runId: string, redact: Redact) =>
  `see what the service answers: rungate api GET ${redact(fillPath('run.status', run['run.status'], { runId }))}`;

/** How often a run is read until its state is clear. */
const maxReads = 3;

export function runService(caller: Caller, now: () => number): RunService {
  // `readResponse` is stricter than the schema: it knows what the status of an ended run must have.
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
        `the status of run ${redact(runId)} cannot be trusted${end}: ${what} should be ${expected}, and is ${received}`,
        {
          ...reading.violation,
          status: response.status,
          hint: statusHint(runId, redact),
          body: shownBody(response.text, redact),
        },
      );
    },

    async hasEnded(runId, options) {
      let trusted = false;
      let body: string | undefined;
      // One response that cannot be trusted, or one 404 of a run that exists, says nothing: so the run is read again.
      for (let read = 0; read < maxReads; read += 1) {
        try {
          const response = await status(runId, options);
          const reading = readResponse(response, runId);
          if (reading.kind === 'ended') return true;
          if (reading.kind === 'broken' && reading.ended) return true;
          if (reading.kind === 'running' && reading.known) return false;
          trusted = reading.kind === 'running';
          body = shownBody(response.text, response.redact);
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
