import type { TriggerBody } from '../../contract/run.ts';
import type { StopCause } from '../../errors.ts';
import type { StartedRun } from '../result-types.ts';
import { subjectOf } from '../watched-run.ts';
import { oneGate, type PlanResult } from './plan.ts';

export interface StartedGate {
  kind: 'started';
  run: StartedRun;
  /** The response as JSON text, with all its digits; empty without a body. */
  responseText: string;
}

/** The end of a gate that does not wait for its run. `none`: no run was created. `unknown`: one may have been. */
export type Started = { stoppedBy: StopCause | null } & (
  | StartedGate
  | { kind: 'none' }
  | { kind: 'unknown'; idempotencyKey: string }
);

/** @throws RungateError if there is no run, or it may be that of another job */
export function startedOf(body: TriggerBody, result: PlanResult): Started {
  const { runs, discarded, interruptedBy: stoppedBy = null } = oneGate(result);
  const response = result.outcomes[0]?.response;
  const [run] = runs;
  if (run === undefined) return { kind: 'none', stoppedBy };
  const { runId, appUrl, reattached } = run;
  const idempotencyKey = run.idempotencyKey ?? '';
  if (runId === null) return { kind: 'unknown', idempotencyKey, stoppedBy };
  const started = {
    schemaVersion: 1,
    runId,
    ...subjectOf(body),
    appUrl,
    idempotencyKey,
    reattached,
    response: response?.value ?? null,
    ...(discarded !== undefined && { discarded }),
  } as const;
  return { kind: 'started', run: started, responseText: response?.text ?? '', stoppedBy };
}
