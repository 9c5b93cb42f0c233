import { placeOf } from '../ci/idempotency.ts';
import { detectCi } from '../ci/provider.ts';
import type { TriggerBody } from '../contract/run.ts';
import { type Rules, usualDeployedMs } from '../gate/limits.ts';
import type { PlanNode } from '../gate/plan/graph.ts';
import type { GatePreview } from '../options/library-options.ts';
import { checkToken, type PlannedPreview, planPreviews } from '../preview/plan.ts';
import type { GateOptions } from './gate-options.ts';
import type { Session } from './session.ts';
import { completeBody } from './start-run.ts';

interface Given extends PlanNode {
  trigger: TriggerBody;
  preview: GatePreview | undefined;
  rules: Rules;
}

/** The options of a call that concern its previews. */
type CallOptions = Pick<
  GateOptions,
  'env' | 'idempotencyKey' | 'idempotencySalt' | 'insecureHttp' | 'token' | 'deployed' | 'subjects'
>;

/**
 * Returns the bodies of runs with the environments of their previews.
 * @throws UsageError or ConfigError before anything is sent
 */
export function planCallPreviews(
  gates: readonly Given[],
  options: CallOptions,
  { clock }: Pick<Session, 'clock'>,
): PlannedPreview[] {
  if (gates.every(({ preview }) => preview === undefined))
    return gates.map(({ trigger }) => ({ body: trigger, preview: undefined }));
  const { env = {}, idempotencyKey: given, idempotencySalt: salt = null, insecureHttp, deployed } = options;
  const deployedMs = deployed === undefined ? 0 : (deployed.timeoutMs ?? usualDeployedMs);
  const asked = gates.map(({ trigger, preview, rules, ...node }) => ({
    ...node,
    waitMs: rules.timeoutMs + deployedMs,
    body: completeBody(trigger, options.env),
    settings: preview,
  }));
  checkToken(options.token, clock.now(), asked);
  const builds = [deployed?.is ?? [], options.subjects ?? []].flat();
  return planPreviews(asked, placeOf({ given, salt, builds, ci: detectCi(env) }), insecureHttp);
}
