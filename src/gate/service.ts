import type { Caller, Exchange } from '../client/caller.ts';
import { clockOf, parseRetryAfter } from '../client/retry.ts';
import { run } from '../contract/run.ts';
import { ContractError, HttpError } from '../errors.ts';
import type { ReadResult } from './poll.ts';
import { readResponse } from './run-status.ts';

/** What the gate needs of the service; the rest of the client is not its business. */
export interface RunService {
  /** Creates a run. Repeated by the HTTP layer with the same key and the same bytes. */
  trigger(body: unknown, options: CreateOptions): Promise<Exchange>;
  /** One GET, with no retries under it: the poll loop owns them. Throws what it could not understand. */
  read(
    runId: string,
    options: { signal: AbortSignal; timeoutMs: number },
  ): Promise<Exclude<ReadResult, { error: unknown }>>;
  /**
   * Whether a run has ended, whatever its counts; with the HTTP layer's retries. A run that is not visible yet has not, nor
   * has one whose state stays unknown.
   * @throws ContractError if no response can be trusted
   */
  hasEnded(runId: string, options: LookOptions): Promise<boolean>;
  cancel(
    runId: string,
    reason: string,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<Exchange>;
}

export interface CreateOptions {
  idempotencyKey: string;
  /** For the whole call; a 429 is waited out until `limitTimeoutMs`. */
  timeoutMs?: number;
  limitTimeoutMs?: number;
  signal?: AbortSignal;
  onRetry?: (error: unknown, waitMs: number) => void;
}

export interface LookOptions {
  signal: AbortSignal;
  /** For each read of it; a 429 is waited out until `limitTimeoutMs`, by default as long. */
  timeoutMs: number;
  limitTimeoutMs?: number;
}

/** How often a run that was found is looked at until its state is clear. */
const looks = 3;

export function runService(caller: Caller, now: () => number): RunService {
  /** `hidden`: the service knows no such run, or not yet. */
  async function stateOf(
    runId: string,
    options: LookOptions,
  ): Promise<'ended' | 'running' | 'hidden' | 'unknown' | 'broken'> {
    try {
      const input = { params: { runId } };
      const reply = await caller.exchange('run.status', run['run.status'], input, {
        ...options,
        check: false,
      });
      const reading = readResponse(reply, runId);
      if (reading.kind === 'running') return reading.known ? 'running' : 'unknown';
      return reading.kind === 'ended' || reading.ended ? 'ended' : 'broken';
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return 'hidden';
      throw error;
    }
  }

  return {
    trigger: (body, options) =>
      caller.exchange('run.trigger', run['run.trigger'], { params: {}, body }, options),

    async read(runId, { signal, timeoutMs }) {
      const reply = await caller.exchange(
        'run.status',
        run['run.status'],
        { params: { runId } },
        {
          signal,
          timeoutMs,
          attempts: 1,
          // The gate has a stricter reading of its own, which knows what an ended run must say.
          check: false,
        },
      );
      const reading = readResponse(reply, runId);
      if (reading.kind !== 'broken') {
        return {
          reading,
          retryAfterMs: parseRetryAfter(reply.headers['retry-after'], clockOf(reply.headers, now())),
        };
      }
      const { field, expected, received } = reading.violation;
      const shownId = reply.conceal(runId);
      const end = reading.ended ? `, though its state is ${reading.state}` : '';
      const what = field === '' ? 'the response' : `"${field}"`;
      throw new ContractError(
        `the status of run ${shownId} cannot be trusted${end}: ${what} should be ${expected}, and is ${received}`,
        {
          field,
          expected,
          received,
          status: reply.status,
          hint: 'see what the service answers: rungate run status --json',
        },
      );
    },

    async hasEnded(runId, options) {
      let open = false;
      // One reply that cannot be understood, or one 404 of a run that is there, says nothing: so it is asked again.
      for (let look = 0; look < looks; look += 1) {
        const state = await stateOf(runId, options);
        if (state === 'ended') return true;
        if (state === 'running') return false;
        open = state !== 'broken';
      }
      if (open) return false;
      throw new ContractError(`the service does not say whether run ${runId} has ended`, {
        field: 'state',
        expected: 'in_progress, completed or cancelled',
        received: 'none of these',
        hint: 'see what it answers: rungate run status --json; start a new run with another --idempotency-salt',
      });
    },

    cancel: (runId, reason, options) =>
      caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body: { reason } }, options),
  };
}
