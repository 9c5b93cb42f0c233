// Generated from the rows by `npm run generate`; do not edit. A test fails while it is stale.
import type { GateOverrides } from '../gate/policy.ts';

/** The options of the library that the command line has, too. Each function takes some of them. */
export interface LibraryOptions {
  /** The service's base URL; may have a path prefix. */
  apiUrl: string | URL;
  /** The credential for endpoints that accept either. Default: the token, if it is set. */
  auth?: 'bearer' | 'key' | undefined;
  /** Allow http: to hosts other than this machine. */
  insecureHttp?: boolean | undefined;
  /** The timeout of one request; default 30 s. */
  requestTimeoutMs?: number | undefined;
  /** The gates that must pass, or pass with a warning, before this one starts. */
  needs?: readonly string[] | undefined;
  /** Whether the gate can only warn; default false. No other gate may need it. */
  advisory?: boolean | undefined;
  /** Cancel the other gates when one fails. */
  failFast?: boolean | undefined;
  /**
   * The idempotency key of the start: the same key never starts a second run. Default: with `env`, a key that the CI job and its
   * re-runs share; otherwise a random one that only the retries of this call share.
   */
  idempotencyKey?: string | undefined;
  /** With `env`: distinguishes jobs that CI does not, such as matrix jobs. */
  idempotencySalt?: string | undefined;
  /** The time between two reads of a run, unless the service requests another; default 10,000. */
  intervalMs?: number | undefined;
  /** The maximum number of status reads of a run; default: no limit. */
  maxAttempts?: number | undefined;
  /** The timeout of the whole wait; default an hour. */
  timeoutMs?: number | undefined;
  /**
   * How many new runs to start, each only if the previous one failed; default 0. Only with `trigger`. If a later run passes, the
   * verdict is `flaky`. All runs together stay within `timeoutMs`.
   */
  retries?: number | undefined;
  /** Whether a cancelled run fails the gate; default true. Otherwise it is a warning. */
  strict?: boolean | undefined;
  /** Actions for single verdicts; they override `strict`. */
  on?: GateOverrides | undefined;
  /** Cancel a run that does not end in time. */
  cancelOnTimeout?: boolean | undefined;
  /** Whether an abort cancels the runs that have not ended; default true with `trigger`, false with `runIds`. */
  cancelOnAbort?: boolean | undefined;
  /**
   * The images and files that are tested, as `name@sha256:hex`: subjects of the receipt, beside the commit. Without
   * `deployed.is`, the version page may show one of their digests.
   */
  subjects?: readonly string[] | undefined;
  /** JSON pointer to a new run's id in the response; default: the usual places. */
  idPointer?: string | undefined;
  /** The service's name for the field `providerModel` of an environment; the real name contains a vendor name. */
  providerModelField?: string | undefined;
  /** API key. */
  apiKey?: string | undefined;
  /** Bearer token of a user session. */
  token?: string | undefined;
}

/** The hub of a gate (`rungate hub`). Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate. */
export interface GateHub {
  /** The hub's base URL; may have a path prefix. */
  url: string | URL;
  /** One of the hub's tokens. */
  token: string;
}

/**
 * A deployment to test: the gate creates an environment for it and deletes it. Requests to it use the `caPem`, `proxyEnv` and
 * `insecureHttp` of the gate.
 */
export interface GatePreview {
  /** Deployment to test: an environment is created for it and deleted afterwards. Needs a bearer token. */
  baseUrl: string | URL;
  /** When an environment is copied, copy its variables as well. */
  copyVariables?: boolean | undefined;
  /** The page that has to respond with 2xx or 3xx before the environment is created; default: the deployment. */
  readyUrl?: string | URL | undefined;
  /** How long to wait until the deployment responds; default 5 minutes. */
  readyTimeoutMs?: number | undefined;
}

/** The page that shows which build is deployed, and the build that is expected. */
export interface DeployedPage {
  /** Page that shows the version of the deployed build; the gate fails unless it is the expected version. */
  url: string | URL;
  /** JSON pointer to the version. Default: the whole body. */
  pointer?: string | undefined;
  /** The expected version. Default: `trigger.commitSha`, and with `env` the commit of the job. */
  is?: string | undefined;
  /** How long to wait for the version before the run is created; default 5 minutes. */
  timeoutMs?: number | undefined;
}
