import * as z from 'zod/mini';
import * as option from '../client/check-options.ts';
import { type ClientOptions, clientShape } from '../client/options.ts';
import { run, type TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';
import { type Rules, resolveLimits } from '../gate/limits.ts';
import { checkOverride, type Overrides, type Policy, resolvePolicy } from '../gate/policy.ts';
import type { DeployedPage, GateHub, GatePreview, LibraryOptions } from '../options/library-options.ts';

/** The page that shows which build is deployed. Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate. */
export interface GateDeployed extends DeployedPage {
  /** Headers of the requests. The credentials of the service are never sent to the page. */
  headers?: Readonly<Record<string, string>> | undefined;
}

const ruleRows = ['strict', 'on', 'intervalMs', 'timeoutMs', 'maxAttempts', 'retries'] as const;
const cancelRows = ['cancelOnAbort', 'cancelOnTimeout'] as const;
const startRows = ['idempotencySalt', 'idPointer'] as const;
/** The options of a run, its wait and its verdict, which may differ between several gates. */
export interface RuleOptions extends Pick<LibraryOptions, (typeof ruleRows)[number]> {
  /**
   * A deployment to test. The gate creates an environment with its URL, gives the run its key, and deletes it at the end. It needs
   * `token`. `trigger.environmentKey` is then the environment that is copied. Default: none.
   */
  preview?: GatePreview | undefined;
}

/** The options that `gate` and `gates` share; all times in milliseconds. The client options say how to reach the service. */
export interface SharedGateOptions
  extends ClientOptions,
    RuleOptions,
    Pick<LibraryOptions, (typeof cancelRows)[number] | (typeof startRows)[number] | 'subjects'> {
  /**
   * The environment of a CI job, for example `process.env`. It gives the fields that `trigger` leaves out (repository, ref,
   * commit, event, URL of the build), the idempotency key, the temporary folder for the job's journal, and the job in the
   * reason of a cancellation. Default: none. Settings such as the address, a credential or a proxy are never read from it.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The hub that schedules the gate's requests and wakes it when a webhook names its run. Without it, the gate polls. */
  hub?: GateHub | undefined;
  /**
   * Checks which build is deployed: before the run is created, with each status read and after the verdicts. If it is not the expected
   * one, the verdict is `mismatch`. Default: no check.
   */
  deployed?: GateDeployed | undefined;
  /** Ends the wait. A reason of SIGHUP, SIGINT or SIGTERM appears in the report; any other reason is reported as `abort`. */
  signal?: AbortSignal | undefined;
  /** The reason sent to the service when a run is cancelled; default: the cause, and with `env` the job. */
  cancelReason?: string | undefined;
}

/** The options of `gate`, besides the runs. */
export interface OneGateOptions extends SharedGateOptions, Pick<LibraryOptions, 'idempotencyKey'> {
  /** Receives each event as it happens. If it throws or rejects, the gate stops as after an abort, and `gate` throws the error. */
  onProgress?: ((event: GateEvent) => void) | undefined;
}

/** The options of a gate that starts a run. */
export interface NewRunOptions extends OneGateOptions {
  /** A run to start and wait for. Give either this or `runIds`. */
  trigger: TriggerBody;
  /** Only without `trigger`. */
  runIds?: undefined;
}

/** The options of a gate that waits for existing runs. */
export interface ExistingRunsOptions extends OneGateOptions {
  /** The ids of existing runs to wait for. Give either this or `trigger`. */
  runIds: readonly string[];
  /** Only without `runIds`. */
  trigger?: undefined;
  /** Only with `trigger`. */
  retries?: 0 | undefined;
  /** Only with `trigger`. */
  preview?: undefined;
}

/** The options of a gate, with either a run to start or the ids of existing runs. */
export type GateOptions = NewRunOptions | ExistingRunsOptions;

/** The options of which each is valid alone; `gateRules` checks them together. */
type GivenOptions = SharedGateOptions & {
  [K in 'trigger' | 'runIds' | 'idempotencyKey' | 'onProgress']?: GateOptions[K];
};

export const triggerOption = option.plain(run['run.trigger'].body);

export const ruleShape: option.Shape<RuleOptions> = {
  ...option.rowShape('', ruleRows),
  preview: z.optional(
    option.optionsOf<GatePreview>(
      option.rowShape('preview.', ['baseUrl', 'copyVariables', 'readyUrl', 'readyTimeoutMs']),
    ),
  ),
};

export const startShape: option.Shape<
  ClientOptions & Pick<SharedGateOptions, 'env' | 'idempotencySalt' | 'idPointer' | 'hub' | 'signal'>
> = {
  ...clientShape,
  env: z.optional(option.record),
  ...option.rowShape('', startRows),
  hub: z.optional(option.optionsOf<GateHub>(option.rowShape('hub.', ['url', 'token']))),
  signal: z.optional(option.signal),
};

export const sharedShape: option.Shape<SharedGateOptions> = {
  ...startShape,
  ...ruleShape,
  deployed: z.optional(
    option.optionsOf<GateDeployed>({
      ...option.rowShape('deployed.', ['url', 'pointer', 'is', 'timeoutMs']),
      headers: z.optional(option.headers),
    }),
  ),
  ...option.rowShape('', [...cancelRows, 'subjects']),
  cancelReason: z.optional(option.text),
};

export const gateOptions = option.optionsOf<GivenOptions>({
  ...sharedShape,
  trigger: z.optional(triggerOption),
  runIds: z.optional(option.texts),
  ...option.rowShape('', ['idempotencyKey']),
  onProgress: z.optional(option.func<NonNullable<GateOptions['onProgress']>>()),
});

function policyOf({ strict = true, on = {} }: Pick<RuleOptions, 'strict' | 'on'>): Policy {
  const overrides = Object.entries(on).flatMap(([verdict, action]) => {
    if (action === undefined) return [];
    try {
      return [checkOverride(verdict, action)];
    } catch (error) {
      if (error instanceof UsageError) error.message = `on.${verdict}: ${error.message}`;
      throw error;
    }
  });
  return resolvePolicy({ strict, on: Object.fromEntries(overrides) as Overrides });
}

/** @throws UsageError if two options contradict each other, before anything is sent */
export function gateRules(options: option.Checked<GivenOptions>): Rules {
  const { trigger, runIds, retries = 0, intervalMs, timeoutMs, maxAttempts } = options;
  if ((trigger === undefined) === (runIds === undefined)) {
    throw new UsageError('gate takes either trigger, a run to start, or runIds, existing runs');
  }
  // A gate without runs could never fail.
  if (runIds?.length === 0) throw new UsageError('runIds is empty: give at least one run id');
  if (retries > 0 && trigger === undefined)
    throw new UsageError('retries only work with trigger: gate cannot start the runs of runIds again');
  const limits = resolveLimits({ intervalMs, timeoutMs, maxAttempts });
  return { ...limits, retries, policy: policyOf(options) };
}
