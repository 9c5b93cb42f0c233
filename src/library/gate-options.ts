import type { ClientOptions } from '../client/options.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';
import type { Fleet } from '../gate/fleet/slots.ts';
import { type Limits, resolveLimits } from '../gate/limits.ts';
import { type Action, checkOverride, type Overrides, type Policy, resolvePolicy } from '../gate/policy.ts';
import { ownCopy } from '../own-options.ts';

/**
 * What the gate does about a verdict, where it is not the usual: `pass`, `warn` or `fail`. What is not known is never
 * green: a run that timed out, or whose state could not be learned, may be a warning and never a pass.
 */
export interface GateOverrides {
  failed?: Action | undefined;
  blocked?: Action | undefined;
  cancelled?: Action | undefined;
  timeout?: 'warn' | 'fail' | undefined;
  unobserved?: 'warn' | 'fail' | undefined;
}

/** What a gate waits for, and how; all times in milliseconds. The rest of it is how to reach the service. */
export interface GateOptions extends ClientOptions {
  /** A run to start and wait for (interface, section 2.5); or else `runIds`. */
  trigger?: TriggerBody | undefined;
  /** Runs to wait for that are there already; or else `trigger`. */
  runIds?: readonly string[] | undefined;
  /**
   * The key of the start (interface, section 4.3): the same key never starts a second run. Default: with `env`, one that
   * all attempts of the CI job share; else a random one for this call, shared by its own tries.
   */
  idempotencyKey?: string | undefined;
  /** With `env`: tells apart what the CI does not, such as the cells of a matrix. */
  idempotencySalt?: string | undefined;
  /**
   * The environment of a CI job, for example `process.env`: fills in what `trigger` leaves out (repository, ref, commit,
   * event, URL of the build), makes the idempotency key, keeps the job's journal in its temporary folder, and is named
   * when a run is cancelled. Default: none is read. It holds no settings: no address, credential or proxy is taken from it.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Fail on a cancelled run, too; default false: a warning. */
  strict?: boolean | undefined;
  /** Verdict by verdict; beats `strict`. */
  on?: GateOverrides | undefined;
  /** Between two reads of a run, unless the service says otherwise; default 10,000. */
  intervalMs?: number | undefined;
  /** How long to wait in all; default an hour. */
  timeoutMs?: number | undefined;
  /** Status reads of a run at most; default 60, or no limit where `timeoutMs` is given. */
  maxAttempts?: number | undefined;
  /** The gate's place among others that share the service's limits: they take turns. */
  fleet?: Fleet | undefined;
  /** Ends the wait; a reason of SIGHUP, SIGINT or SIGTERM is told in the report, any other is an `abort`. */
  signal?: AbortSignal | undefined;
  /** Whether an abort cancels what is still going; default true for a run of our own, false for `runIds`. */
  cancelOnAbort?: boolean | undefined;
  /** Whether a run that was not over in time is cancelled; default false. */
  cancelOnTimeout?: boolean | undefined;
  /** What the service is told when a run is cancelled; default: why, and with `env` in which job. */
  cancelReason?: string | undefined;
  /** Where the create reply has the run's id, as a JSON pointer; default the usual places. */
  idPointer?: string | undefined;
  /** Told what happens, as it happens. What it throws stops the gate as an abort does, and is then thrown by `gate`. */
  onProgress?: ((event: GateEvent) => void) | undefined;
}

/** @throws UsageError unless it is left out, or a time */
export function checkMs(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return;
  throw new UsageError(`${name} must be a number of milliseconds above 0`);
}

/** The options that the caller has set, and nothing that other code has put into every object. */
export function ownGateOptions<T extends Partial<GateOptions>>(given: T): T {
  const options = ownCopy(given);
  for (const name of ['trigger', 'env', 'on', 'fleet'] as const) {
    const value: unknown = options[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      Object.assign(options, { [name]: ownCopy(value) });
  }
  return options;
}

/** @throws UsageError unless it is a run to start: its fields are checked where the request is made */
export function checkTrigger(trigger: unknown): void {
  if (typeof trigger === 'object' && trigger !== null) return;
  throw new UsageError(
    'trigger must be the run to start: an object with projectSlug, and processSlug or tags',
  );
}

function policyOf({ strict = false, on = {} }: GateOptions): Policy {
  const given = Object.entries(on).filter(([, action]) => action !== undefined);
  try {
    const overrides = given.map(([verdict, action]) => checkOverride(verdict, String(action)));
    return resolvePolicy({ strict, on: Object.fromEntries(overrides) as Overrides });
  } catch (error) {
    // The hints speak of the command line's options.
    if (error instanceof UsageError)
      error.hint = "write for example on: { cancelled: 'fail', timeout: 'warn' }";
    throw error;
  }
}

function fleetOf({ fleet }: GateOptions): Fleet | undefined {
  if (fleet === undefined) return undefined;
  const { size, index } = fleet;
  const counts = Number.isInteger(size) && Number.isInteger(index);
  if (counts && size >= 1 && index >= 0 && index < size) return fleet;
  throw new UsageError('fleet must be { size, index }: two whole numbers, the index from 0 to size - 1');
}

/**
 * What the options make of the wait.
 * @throws UsageError where they make none: before anything is sent
 */
export function gateRules(options: GateOptions): Limits & { policy: Policy; fleet: Fleet | undefined } {
  const { trigger, runIds, intervalMs, timeoutMs, maxAttempts } = options;
  if ((trigger === undefined) === (runIds === undefined)) {
    throw new UsageError('gate takes either trigger, a run to start, or runIds, runs that are there');
  }
  if (trigger !== undefined) checkTrigger(trigger);
  if (runIds !== undefined && !Array.isArray(runIds))
    throw new UsageError('runIds must be a list of run ids');
  // No run at all would be a gate that nothing can fail.
  if (runIds?.length === 0) throw new UsageError('runIds is empty: there is nothing to gate on');
  checkMs('intervalMs', intervalMs);
  checkMs('timeoutMs', timeoutMs);
  const reads = maxAttempts ?? 1;
  if (reads !== Number.POSITIVE_INFINITY && (!Number.isInteger(reads) || reads < 1))
    throw new UsageError('maxAttempts must be a whole number from 1 up, or Infinity');
  const limits = resolveLimits({ intervalMs, timeoutMs, maxAttempts });
  return { ...limits, policy: policyOf(options), fleet: fleetOf(options) };
}
