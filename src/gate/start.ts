import { ceilings } from '../client/rate-limit.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import { type RungateError, TimeoutError } from '../errors.ts';
import type { KeyChain, RunJournal } from './events.ts';
import type { DiscardedRun } from './result-types.ts';

/** The request that creates a run of a gate, and everything that comes before it. */
export interface Start {
  body: TriggerBody;
  /** The next key is used only if the run of the last one had ended before its first status read, or for a retry. */
  chain: KeyChain;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  journal?: RunJournal | undefined;
  preview?: Preview | undefined;
  /** A text for people about the origin of its first key. */
  how?: string | undefined;
  /** The facts that its keys are made from, and the path of the journal; only for keys made from a CI system's facts. */
  made?: { ingredients: object; path: string } | undefined;
  /** Waits until a run can be created, with its own limit. After the first time it returns at once. */
  ready?(signal: AbortSignal): Promise<void>;
  environment?: StartEnvironment | undefined;
}

/** A deployment that gates test, in an environment that rungate creates for them. The environment has the key of their runs. */
export interface Preview {
  baseUrl: URL;
  /** The URL that has to respond first. */
  readyUrl: URL;
  readyTimeoutMs: number;
  /** The key of the environment that is copied; null for none. */
  model: string | null;
  copyVariables: boolean;
  /** The commit. */
  version: string | null;
}

export interface EnvironmentTools {
  /** Waits for the turn of a request that creates something; false: it comes too late. */
  turn(): Promise<boolean>;
  /** The request that creates it is sent next. */
  creating(): Promise<void>;
}

/** `kept`: a run may go on in it, or `error` says why it could not be deleted. `none`: there was none. */
export interface Removal {
  step: 'deleted' | 'kept' | 'none';
  error: RungateError | null;
}

/** The environment of a preview deployment, which several gates may share. */
export interface StartEnvironment {
  baseUrl: string;
  /** Creates it, or finds the one that the job created before, within the gate's timeout. */
  prepare(tools: EnvironmentTools, signal: AbortSignal): Promise<void>;
  /** Deletes it when no run goes on in it. `hadRun`: whether one has. */
  remove(hadRun: boolean): Promise<Removal>;
}

/** Returns the error of a start whose create would have come too late, perhaps since it discarded runs first. */
export function lateError(timeoutMs: number, hub: boolean, discarded: readonly DiscardedRun[]): TimeoutError {
  const timeout = `the timeout of ${formatDuration(timeoutMs)}`;
  if (discarded.length > 0)
    return new TimeoutError(
      `no new run was created after the discarded one: too little of ${timeout} is left`,
      {
        hint: 'set a longer timeout',
      },
    );
  return new TimeoutError(
    hub
      ? `no run was created: the hub did not grant it within ${timeout}`
      : `no run was created: the limit of ${ceilings.creates} a minute would delay it beyond ${timeout}`,
    { hint: 'set a longer timeout, or start fewer gates at the same time' },
  );
}

/** Returns the error of a gate that has no time left to look for the run that an earlier slice may have created. */
export const lostError = (timeoutMs: number, key: string) =>
  new TimeoutError(
    `the timeout of ${formatDuration(timeoutMs)} was reached before the run was found: one may exist with the idempotency key ${key}`,
    { hint: 'look for it on the project page' },
  );
