import { placeOf } from '../ci/idempotency.ts';
import { detectCi } from '../ci/provider.ts';
import type { TriggerBody } from '../contract/run.ts';
import { usualDeployedMs } from '../gate/limits.ts';
import type { GatePreview } from '../options/library-options.ts';
import { checkToken, planPreviews, usualReadyMs } from '../preview/plan.ts';
import type { Preview } from '../preview/prepare.ts';
import type { GateOptions } from './gate-options.ts';
import type { Session } from './session.ts';
import { completeBody } from './start-run.ts';

interface Given {
  trigger: TriggerBody;
  preview: GatePreview | undefined;
  timeoutMs: number;
}

/**
 * Returns the bodies of runs with the environments of their previews.
 * @throws UsageError or ConfigError before anything is sent
 */
export async function withPreviews(
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
  const needs = gates.map(
    ({ preview, timeoutMs }) => timeoutMs + deployedMs + (preview?.readyTimeoutMs ?? usualReadyMs),
  );
  checkToken(options.token, clock.now(), Math.max(...needs));
  const builds = [deployed?.is ?? [], options.subjects ?? []].flat();
  const asked = gates.map(({ trigger, preview }) => ({
    body: completeBody(trigger, options.env),
    settings: preview && {
      ...preview,
      baseUrl: String(preview.baseUrl),
      readyUrl: preview.readyUrl === undefined ? undefined : String(preview.readyUrl),
    },
  }));
  const place = placeOf({ given, salt, builds, ci: detectCi(env) });
  return planPreviews(asked, place, insecureHttp).map(({ body, preview }) => ({ trigger: body, preview }));
}
