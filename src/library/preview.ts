import { placeOf } from '../ci/idempotency.ts';
import { detectCi } from '../ci/provider.ts';
import type { TriggerBody } from '../contract/run.ts';
import { usualDeployedMs } from '../gate/limits.ts';
import type { PlanNode } from '../gate/plan/graph.ts';
import type { GatePreview } from '../options/library-options.ts';
import { checkToken, planPreviews } from '../preview/plan.ts';
import type { Preview } from '../preview/prepare.ts';
import type { GateOptions } from './gate-options.ts';
import type { Session } from './session.ts';
import { completeBody } from './start-run.ts';

interface Given extends PlanNode {
  trigger: TriggerBody;
  preview: GatePreview | undefined;
  timeoutMs: number;
}

/**
 * Returns the bodies of runs with the environments of their previews.
 * @throws UsageError or ConfigError before anything is sent
 */
export async function planCallPreviews(
  gates: readonly Given[],
  options: Pick<
    GateOptions,
    'env' | 'idempotencyKey' | 'idempotencySalt' | 'insecureHttp' | 'token' | 'deployed' | 'subjects'
  >,
  { clock }: Pick<Session, 'clock'>,
): Promise<{ trigger: TriggerBody; preview: Preview | undefined }[]> {
  if (gates.every(({ preview }) => preview === undefined))
    return gates.map(({ trigger }) => ({ trigger, preview: undefined }));
  const { env = {}, idempotencyKey: given, idempotencySalt: salt = null, insecureHttp, deployed } = options;
  const deployedMs = deployed === undefined ? 0 : (deployed.timeoutMs ?? usualDeployedMs);
  const builds = [deployed?.is ?? [], options.subjects ?? []].flat();
  const asked = gates.map(({ trigger, preview, timeoutMs, name, needs, advisory }) => ({
    name,
    needs,
    advisory,
    waitMs: timeoutMs + deployedMs,
    body: completeBody(trigger, options.env),
    settings: preview && {
      ...preview,
      baseUrl: String(preview.baseUrl),
      readyUrl: preview.readyUrl === undefined ? undefined : String(preview.readyUrl),
    },
  }));
  checkToken(options.token, clock.now(), asked);
  const place = placeOf({ given, salt, builds, ci: detectCi(env) });
  const planned = planPreviews(asked, { placeOf: place, insecureHttp });
  return planned.map(({ body, preview }) => ({ trigger: body, preview }));
}
