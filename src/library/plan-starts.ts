import { jobHashOf, type KeyRequest, planKeys } from '../ci/idempotency.ts';
import type { NameOf } from '../errors.ts';
import { type StartingGate, unnamed } from '../gate/plan/plan.ts';
import { type AskedGate, planPreviews } from '../preview/plan.ts';
import type { Redact } from '../redact.ts';

/** How a command, or a call, starts the runs of all its gates. */
interface StartRequest extends Omit<KeyRequest, 'bodyBytes' | 'retries'> {
  idPointer: string | undefined;
  insecureHttp: boolean | undefined;
  nameOf: NameOf;
}

/**
 * Returns the gates with the runs that they start. Gates with the same body have different keys.
 * @param warn receives the reason why the journal of a gate cannot be used
 * @throws UsageError or ConfigError
 */
export function planStarts<Settings>(
  asked: readonly AskedGate<Settings>[],
  request: StartRequest,
  redact: Redact,
  warn: (problem: string, gate: string) => void,
): StartingGate<Settings>[] {
  const { idPointer, salt } = request;
  return planPreviews(asked, jobHashOf(request), request).map(({ body, preview, ...gate }) => {
    const own = gate.name === unnamed ? salt : [salt, `gate ${gate.name}`].filter(Boolean).join(', ');
    const keys = { ...request, salt: own, retries: gate.rules.retries, bodyBytes: JSON.stringify(body) };
    const planned = planKeys(keys, { redact, warn: (problem) => warn(problem, gate.name) });
    return { ...gate, start: { body, preview, idPointer, ...planned } };
  });
}
