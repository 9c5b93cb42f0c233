import type { ClientOptions } from '../client/options.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';
import type { Fleet } from '../gate/fleet/slots.ts';
import { type Limits, mostRetries, resolveLimits } from '../gate/limits.ts';
import { type Action, checkOverride, type Overrides, type Policy, resolvePolicy } from '../gate/policy.ts';
import { ownCopy } from '../own-options.ts';

/**
 * Overrides of the gate's action for a verdict: `pass`, `warn` or `fail`. An unknown result never passes the gate: `timeout`,
 * `unobserved` and `mismatch` may be a warning, but not a pass.
 */
export interface GateOverrides {
  flaky?: Action | undefined;
  failed?: Action | undefined;
  blocked?: Action | undefined;
  cancelled?: Action | undefined;
  timeout?: 'warn' | 'fail' | undefined;
  unobserved?: 'warn' | 'fail' | undefined;
  mismatch?: 'warn' | 'fail' | undefined;
}

/** The hub of a gate (`rungate hub`). Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate. */
export interface GateHub {
  /** The hub's base URL; may have a path prefix. */
  url: string;
  /** One of the hub's tokens. */
  token: string;
}

/** The page that shows which build is deployed. Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate. */
export interface GateDeployed {
  /** The URL of the page. */
  url: string;
  /** A JSON pointer to the version; default: the whole body, trimmed. */
  pointer?: string | undefined;
  /** The expected version. Default: `trigger.commitSha`, and with `env` the commit of the job. */
  is?: string | undefined;
  /** How long to wait for the expected version before the run is created; default 5 minutes. */
  timeoutMs?: number | undefined;
  /** Headers of the requests. The credentials of the service are never sent to the page. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The options of a gate; all times in milliseconds. The client options say how to reach the service. */
export interface GateOptions extends ClientOptions {
  /** A run to start and wait for (interface, section 2.5). Give either this or `runIds`. */
  trigger?: TriggerBody | undefined;
  /** The ids of existing runs to wait for. Give either this or `trigger`. */
  runIds?: readonly string[] | undefined;
  /**
   * The idempotency key of the start (interface, section 4.3): the same key never starts a second run. Default: with `env`, a
   * key that all attempts of the CI job share; otherwise a random one that only the retries of this call share.
   */
  idempotencyKey?: string | undefined;
  /** With `env`: distinguishes jobs that the CI does not, such as matrix jobs. */
  idempotencySalt?: string | undefined;
  /**
   * The environment of a CI job, for example `process.env`. It gives the fields that `trigger` leaves out (repository, ref,
   * commit, event, URL of the build), the idempotency key, the temporary folder for the job's journal, and the job in the
   * reason of a cancellation. Default: none. Settings such as the address, a credential or a proxy are never read from it.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a cancelled run fails the gate; default false, which makes it a warning. */
  strict?: boolean | undefined;
  /** Actions for single verdicts; they override `strict`. */
  on?: GateOverrides | undefined;
  /** The time between two reads of a run, unless the service requests another; default 10,000. */
  intervalMs?: number | undefined;
  /** The timeout of the whole wait; default an hour. */
  timeoutMs?: number | undefined;
  /** The maximum number of status reads of a run; default 60, or unlimited if `timeoutMs` is given. */
  maxAttempts?: number | undefined;
  /**
   * How many new runs to start, each only if the last one failed; default 0. Only with `trigger`. If a later run passes, the
   * verdict is `flaky`. All runs together stay within `timeoutMs`.
   */
  retries?: number | undefined;
  /** The gate's place in a fleet of gates, which share the service's limits and take turns. Ignored with a hub. */
  fleet?: Fleet | undefined;
  /** The hub that schedules the gate's requests and wakes it when a webhook names its run. Without it, the gate polls. */
  hub?: GateHub | undefined;
  /**
   * Checks which build is deployed: before the create, with each status read and after the verdicts. If it is not the expected
   * one, the verdict is `mismatch`. Default: no check.
   */
  deployed?: GateDeployed | undefined;
  /** Ends the wait. A reason of SIGHUP, SIGINT or SIGTERM appears in the report; any other reason is reported as `abort`. */
  signal?: AbortSignal | undefined;
  /** Whether an abort cancels the runs that have not ended; default true with `trigger`, false with `runIds`. */
  cancelOnAbort?: boolean | undefined;
  /** Whether to cancel a run that does not end in time; default false. */
  cancelOnTimeout?: boolean | undefined;
  /** The reason sent to the service when a run is cancelled; default: the cause, and with `env` the job. */
  cancelReason?: string | undefined;
  /** A JSON pointer to the run's id in the create response; default: the usual places. */
  idPointer?: string | undefined;
  /** Receives each event as it happens. If it throws, the gate stops as after an abort, and `gate` throws the error. */
  onProgress?: ((event: GateEvent) => void) | undefined;
}

/** @throws UsageError unless the value is undefined or a time */
export function checkMs(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return;
  throw new UsageError(`${name} must be a number of milliseconds above 0`);
}

/** @throws UsageError unless the value is undefined or a JSON pointer */
export function checkPointer(name: string, value: string | undefined, example: string): void {
  if (value === undefined || String(value).startsWith('/')) return;
  throw new UsageError(`${name} must be a JSON pointer, such as ${example}`);
}

/** Returns the caller's own options, without properties that other code has added to every object. */
export function ownGateOptions<T extends object>(given: T): T {
  const options = ownCopy(given);
  for (const name of ['trigger', 'env', 'on', 'fleet', 'hub', 'deployed'] as const) {
    const value: unknown = Reflect.get(options, name);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      Object.assign(options, { [name]: ownCopy(value) });
  }
  return options;
}

/** @throws UsageError unless it is an object; the client checks its fields */
export function checkTrigger(trigger: unknown): void {
  if (typeof trigger === 'object' && trigger !== null) return;
  throw new UsageError(
    'trigger must be the run to start: an object with projectSlug, and processSlug or tags',
  );
}

/** @throws UsageError unless it is undefined or has an address and a token */
export function checkHub(hub: unknown): void {
  if (hub === undefined) return;
  const { url, token } = (hub ?? {}) as Partial<GateHub>;
  if (typeof url === 'string' && typeof token === 'string') return;
  throw new UsageError('hub must be { url, token }: two strings');
}

function policyOf({ strict = false, on = {} }: GateOptions): Policy {
  const given = Object.entries(on).filter(([, action]) => action !== undefined);
  try {
    const overrides = given.map(([verdict, action]) => checkOverride(verdict, String(action)));
    return resolvePolicy({ strict, on: Object.fromEntries(overrides) as Overrides });
  } catch (error) {
    // The hints name options of the command line.
    if (error instanceof UsageError)
      error.hint = "pass an object such as { cancelled: 'fail', timeout: 'warn' }";
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
 * Returns the rules of the wait from the options.
 * @throws UsageError if the options are invalid, before anything is sent
 */
export function gateRules(
  options: GateOptions,
): Limits & { policy: Policy; fleet: Fleet | undefined; retries: number } {
  const { trigger, runIds, retries = 0, intervalMs, timeoutMs, maxAttempts } = options;
  if ((trigger === undefined) === (runIds === undefined)) {
    throw new UsageError('gate takes either trigger, a run to start, or runIds, existing runs');
  }
  if (trigger !== undefined) checkTrigger(trigger);
  checkHub(options.hub);
  if (runIds !== undefined && !Array.isArray(runIds))
    throw new UsageError('runIds must be a list of run ids');
  // A gate without runs could never fail.
  if (runIds?.length === 0) throw new UsageError('runIds is empty: give at least one run id');
  checkMs('intervalMs', intervalMs);
  checkMs('timeoutMs', timeoutMs);
  const reads = maxAttempts ?? 1;
  if (reads !== Number.POSITIVE_INFINITY && (!Number.isInteger(reads) || reads < 1))
    throw new UsageError('maxAttempts must be a whole number, 1 or more, or Infinity');
  if (!Number.isInteger(retries) || retries < 0 || retries > mostRetries)
    throw new UsageError(`retries must be a whole number from 0 to ${mostRetries}`);
  if (retries > 0 && trigger === undefined)
    throw new UsageError('retries only work with trigger: gate cannot start the runs of runIds again');
  const limits = resolveLimits({ intervalMs, timeoutMs, maxAttempts });
  return { ...limits, retries, policy: policyOf(options), fleet: fleetOf(options) };
}
