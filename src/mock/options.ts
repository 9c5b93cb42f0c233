import type { Clock } from '../clock.ts';
import type { DataSizes } from './data/account.ts';
import type { Fault } from './faults/faults.ts';
import type { Counts, Outcome } from './runs.ts';

export const rateLimits = ['documented', 'off'] as const;
/** `documented`: the rate limits are enforced. */
export type RateLimit = (typeof rateLimits)[number];

export const deliveryScopes = ['off', 'loopback', 'any'] as const;
/** The addresses that webhook deliveries are sent to: none (they are only recorded), this machine's, or any. */
export type DeliveryScope = (typeof deliveryScopes)[number];

/** The options of a mock. */
export interface MockOptions {
  /** 0, the default, picks any free port. */
  port?: number | undefined;
  /** Default 127.0.0.1. */
  host?: string | undefined;
  /** Host names that the Host header may have besides those of this machine. */
  allowHosts?: readonly string[] | undefined;
  /** Origins of web pages that may use the API, such as `http://localhost:5173`; by default none. */
  cors?: readonly string[] | undefined;
  /** Determines ids, API key, bearer token and data set; default 1. */
  seed?: number | undefined;
  /** The clock for durations and dates; by default the system's. */
  clock?: Clock | undefined;
  /** The outcome of every run, or a list: the n-th run gets the n-th outcome, and the last one repeats. */
  outcome?: Outcome | readonly Outcome[] | undefined;
  /** Milliseconds until a run ends; default 2000. */
  duration?: number | undefined;
  /** The polling interval that a status in progress suggests; by default the field is omitted. */
  retryAfterSeconds?: number | undefined;
  /** By default derived from the seed, like the token. */
  apiKey?: string | undefined;
  /** A bearer token. */
  token?: string | undefined;
  /** The final counts of runs; ignored for the outcomes `passed` and `stuck`. */
  counts?: Partial<Counts> | undefined;
  /** The start of each run's `appUrl`. */
  appUrlBase?: string | undefined;
  /** Sizes of the data set; the defaults apply to those that are omitted. */
  data?: Partial<DataSizes> | undefined;
  /** Default `off`. */
  rateLimit?: RateLimit | undefined;
  /** The addresses that webhook deliveries are sent to; by default `off`: they are only recorded. */
  deliveries?: DeliveryScope | undefined;
  /** Signs deliveries instead of the webhook's own secret. */
  tenantSecret?: string | undefined;
  /** Faults to start with; `mock.faults.add` adds more. */
  faults?: readonly Fault[] | undefined;
  /**
   * The versions that the version page at `/_mock/version` shows: `old,new@30s` changes 30 s after the start, `old/new`
   * alternates from request to request. By default there is no such page.
   */
  deployed?: string | undefined;
  /** Serves the mock's page at `/` and at the `appUrl` of its runs; default false. */
  page?: boolean | undefined;
}
