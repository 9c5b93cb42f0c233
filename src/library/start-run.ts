import * as z from 'zod/mini';
import { runFacts } from '../ci/context.ts';
import { givenKey, planKeys, randomKey } from '../ci/idempotency.ts';
import { cancelReason, detectCi } from '../ci/provider.ts';
import { checkOptions, func, milliseconds, optionsOf, text } from '../client/check-options.ts';
import type { ClientOptions } from '../client/options.ts';
import type { TriggerBody } from '../contract/run.ts';
import { NetworkError, UsageError } from '../errors.ts';
import type { RunJournal } from '../gate/events.ts';
import { stopBudgetMs, usualLimits } from '../gate/limits.ts';
import { resolvePolicy } from '../gate/policy.ts';
import { redactReport } from '../gate/report.ts';
import type { StartedRun } from '../gate/result-types.ts';
import type { Start } from '../gate/start.ts';
import { type GateOptions, startShape, triggerOption } from './gate-options.ts';
import { openStart } from './open-gate.ts';
import { type Session, withSession } from './session.ts';

/**
 * Returns a copy of the body, whose missing fields are those that the CI knows. The caller's object may change during the wait.
 */
export function completeBody(trigger: TriggerBody, env: GateOptions['env']): TriggerBody {
  const body = structuredClone(trigger);
  if (env === undefined) return body;
  const given: Readonly<Record<string, unknown>> = { ...body };
  const facts = Object.entries(runFacts(detectCi(env)));
  const missing = facts.filter(([name, value]) => value !== null && given[name] === undefined);
  return { ...body, ...Object.fromEntries(missing) };
}

/** The options of a gate for its start. */
export type StartOptions = Pick<GateOptions, 'env' | 'idempotencyKey' | 'idempotencySalt' | 'idPointer'>;

/** Loads the code that reads the CI only if `env` is given. `gate` is the gate of the run, if there are several. */
export async function planStart(
  given: TriggerBody,
  options: StartOptions & Pick<GateOptions, 'retries' | 'subjects' | 'deployed'>,
  { redact, reporter }: Session,
  gate?: string,
): Promise<{ start: Start; journal: RunJournal | undefined }> {
  // A key must always come with the same body.
  const body = completeBody(given, options.env);
  const { env, idempotencyKey: key, idempotencySalt: salt, idPointer, retries = 0 } = options;
  if (salt !== undefined && (env === undefined || (key !== undefined && key !== 'auto'))) {
    throw new UsageError('idempotencySalt only changes the key that is made from env', {
      hint: 'give env too, and leave out idempotencyKey',
    });
  }
  if (env === undefined) {
    const own = key === undefined || key === 'auto';
    const chain = own ? randomKey() : givenKey(key, retries);
    return { start: { body, chain, idPointer }, journal: undefined };
  }
  const warn = (message: string) =>
    reporter.progress({ type: 'note', message, ...(gate !== undefined && { gate }) });
  const request = {
    given: key,
    how: '',
    salt: salt ?? null,
    retries,
    bodyBytes: JSON.stringify(body),
    builds: [options.deployed?.is ?? [], options.subjects ?? []].flat(),
    ci: detectCi(env),
  };
  const { chain, journal } = planKeys(request, { warn, redact });
  return { start: { body, chain, idPointer }, journal };
}

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
    const { start, journal } = await planStart(trigger, options, session);
    const settings = { ...session, start, journal, policy: resolvePolicy(), timeoutMs };
    const started = await openStart(settings, [session.reporter], async ({ run }, service) => {
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
