import { ceilings } from '../client/rate-limit.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import { TimeoutError } from '../errors.ts';
import type { KeyChain } from './events.ts';
import type { DiscardedRun } from './result-types.ts';

/** The request that creates a run of a gate, and everything that comes before it. */
export interface Start {
  body: TriggerBody;
  /** The next key is used only if the run of the last one had ended before its first status read, or for a retry. */
  chain: KeyChain;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  /** Waits until a run can be created, with its own limit. After the first time it returns at once. */
  ready?(signal: AbortSignal): Promise<void>;
  /**
   * Creates what a run needs, within the gate's timeout. After the first time it returns at once.
   * @param turn waits for the turn of a request that creates something; false: it comes too late
   */
  prepare?(turn: () => Promise<boolean>, signal: AbortSignal): Promise<void>;
}

/** Returns the error of a start whose create would have come too late, perhaps since it discarded runs first. */
export function lateError(timeoutMs: number, hub: boolean, discarded: readonly DiscardedRun[]): TimeoutError {
  const timeout = `the timeout of ${formatDuration(timeoutMs)}`;
  if (discarded.length > 0)
    return new TimeoutError(
      `no new run was created after the discarded one: too little is left of ${timeout}`,
      {
        hint: 'set a longer timeout',
      },
    );
  return new TimeoutError(
    hub
      ? `no run was created: the hub did not grant it within ${timeout}`
      : `no run was created: its turn in the limit of ${ceilings.creates} a minute comes too late for ${timeout}`,
    { hint: 'set a longer timeout, or start fewer gates at the same time' },
  );
}

/** Returns the error of a gate that has no time left to look for the run that an earlier slice may have created. */
export const lostError = (timeoutMs: number, key: string) =>
  new TimeoutError(
    `the timeout of ${formatDuration(timeoutMs)} was reached before the run was found: one may exist with the idempotency key ${key}`,
    { hint: 'look for it on the page of the project' },
  );
