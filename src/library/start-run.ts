import * as z from 'zod/mini';
import { cancelReason } from '../ci/provider.ts';
import { checkOptions, func, milliseconds, optionsOf, text } from '../client/check-options.ts';
import type { ClientOptions } from '../client/options.ts';
import { NetworkError } from '../errors.ts';
import { stopBudgetMs, usualLimits } from '../gate/limits.ts';
import { type StartingGate, unnamed } from '../gate/plan/plan.ts';
import { resolvePolicy } from '../gate/policy.ts';
import { redactReport } from '../gate/report.ts';
import type { StartedRun } from '../gate/result-types.ts';
import { type GateOptions, startShape, triggerOption } from './gate-options.ts';
import { openStart } from './open-gate.ts';
import { planCall, type StartOptions } from './plan-call.ts';
import { withSession } from './session.ts';

/** The run to start and how to start it. The client options say how to reach the service. */
export interface StartRunOptions
  extends ClientOptions,
    StartOptions,
    Pick<GateOptions, 'hub' | 'signal' | 'onProgress'> {
  /** The run. */
  trigger: NonNullable<GateOptions['trigger']>;
  /** The maximum time to wait for a rate limit or for the end of an outage, in milliseconds; default an hour. */
  timeoutMs?: number | undefined;
}

const startOptions = optionsOf<StartRunOptions>({
  ...startShape,
  trigger: triggerOption,
  idempotencyKey: z.optional(text),
  timeoutMs: z.optional(milliseconds),
  onProgress: z.optional(func<NonNullable<StartRunOptions['onProgress']>>()),
});

function mayExist(idempotencyKey: string): NetworkError {
  return new NetworkError('broken', 'a run may have been created: the call was aborted before the response', {
    hint: `start the run again with the idempotency key ${idempotencyKey} to find it`,
  });
}

/**
 * Starts a run without waiting for it: `rungate run trigger` as a function, with the same idempotency. To wait for it later,
 * give its id to `gate`.
 * @throws RungateError if no run could be created. After an abort it still checks whether the request created a run: it returns
 * that run, or else rejects with the signal's reason
 * @example
 * ```ts
 * import { startRun } from 'rungate';
 *
 * const { runId } = await startRun({
 *   apiUrl: 'https://service.example.com',
 *   apiKey: process.env.RUNGATE_API_KEY,
 *   trigger: { projectSlug: 'shop', processSlug: 'checkout' },
 * });
 * console.log(runId);
 * ```
 */
export async function startRun(given: StartRunOptions): Promise<StartedRun> {
  const options = checkOptions(startOptions, given, 'startRun');
  const { trigger, signal, env = {}, timeoutMs = usualLimits.timeoutMs } = options;
  return withSession(options, [], async (session) => {
    const rules = { ...usualLimits, timeoutMs, policy: resolvePolicy() };
    const node = { name: unnamed, needs: [], advisory: false, preview: undefined };
    const [gate] = planCall([{ ...node, trigger, rules }], options, session) as [StartingGate];
    const started = await openStart(session, gate, [session.reporter], async ({ run }, service) => {
      if (!(await session.hasFailed())) return;
      const reason = cancelReason('abort', env);
      await service.cancel(run.runId, reason, { timeoutMs: stopBudgetMs }).catch(() => {});
    });
    if (started.kind === 'none') throw signal?.reason;
    if (started.kind === 'unknown') throw mayExist(started.idempotencyKey);
    const { runId, idempotencyKey, response } = started.run;
    return { ...redactReport(started.run, session.redact), runId, idempotencyKey, response };
  });
}
