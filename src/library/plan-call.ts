import { runFacts } from '../ci/context.ts';
import { detectCi } from '../ci/provider.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import { usualDeployedMs } from '../gate/limits.ts';
import { type StartingGate, unnamed } from '../gate/plan/plan.ts';
import { checkToken } from '../preview/plan.ts';
import type { GateOptions } from './gate-options.ts';
import type { CheckedGate } from './gates-options.ts';
import { planStarts } from './plan-starts.ts';
import type { Session } from './session.ts';

/**
 * Returns a copy of the body, whose missing fields are those that the CI knows. The caller's object may change during the wait.
 */
function completeBody(trigger: TriggerBody, env: GateOptions['env']): TriggerBody {
  const body = structuredClone(trigger);
  if (env === undefined) return body;
  const given: Readonly<Record<string, unknown>> = { ...body };
  const facts = Object.entries(runFacts(detectCi(env)));
  const missing = facts.filter(([name, value]) => value !== null && given[name] === undefined);
  return { ...body, ...Object.fromEntries(missing) };
}

/** The options of a gate for its start. */
export type StartOptions = Pick<GateOptions, 'env' | 'idempotencyKey' | 'idempotencySalt' | 'idPointer'>;

/** Returns the gates of a call with the runs that they start. @throws RungateError before anything is sent */
export function planCall(
  gates: readonly CheckedGate[],
  options: StartOptions & Pick<GateOptions, 'deployed' | 'insecureHttp' | 'subjects' | 'token'>,
  { clock, redact, nameOf, reporter }: Session,
): StartingGate[] {
  const { env, idempotencyKey: given, idempotencySalt: salt, idPointer, insecureHttp, deployed } = options;
  if (salt !== undefined && (env === undefined || (given !== undefined && given !== 'auto'))) {
    throw new UsageError('idempotencySalt only changes the key that is made from env', {
      hint: 'give env too, and leave out idempotencyKey',
    });
  }
  const asked = gates.map(({ trigger, ...gate }) => ({
    ...gate,
    settings: options,
    // A key must always come with the same body.
    body: completeBody(trigger, env),
  }));
  const deployedMs = deployed === undefined ? 0 : (deployed.timeoutMs ?? usualDeployedMs);
  checkToken(options.token, nameOf, clock.now(), asked, deployedMs);
  const request = {
    given,
    how: '',
    salt: salt ?? null,
    builds: [deployed?.is ?? [], options.subjects ?? []].flat(),
    ci: detectCi(env ?? {}),
    idPointer,
    insecureHttp,
    nameOf,
  };
  return planStarts(asked, request, redact, (message, gate) =>
    reporter.progress({ type: 'note', message, ...(gate !== unnamed && { gate }) }),
  );
}
