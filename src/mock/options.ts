import type { Clock } from '../clock.ts';
import type { DataSizes } from './data/account.ts';
import type { DeliveryScope } from './deliveries.ts';
import type { Fault } from './faults/faults.ts';
import type { Counts, Outcome } from './outcomes.ts';
import type { Deliver } from './state.ts';

/** Whether the limits of the interface, section 8, are enforced. */
export const rateLimits = ['documented', 'off'] as const;
/** `documented`: the limits of the interface, section 8, are enforced. */
export type RateLimit = (typeof rateLimits)[number];

/** What a mock is like. */
export interface MockOptions {
  /** 0, the default, for any that is free. */
  port?: number | undefined;
  /** 127.0.0.1 where it is left out. */
  host?: string | undefined;
  /** Names besides those of this machine that the Host header may have. */
  allowHosts?: readonly string[] | undefined;
  /** Ids, key, token and the data set follow from it; 1 where it is left out. */
  seed?: number | undefined;
  /** What durations and dates are measured by; the system's where it is left out. */
  clock?: Clock | undefined;
  /** One for all runs, or a list: the n-th run created gets the n-th, and the last one repeats. */
  outcome?: Outcome | readonly Outcome[] | undefined;
  /** Milliseconds until a run ends; 2000 where it is left out. */
  duration?: number | undefined;
  /** Suggested with the status of a run in progress; no such field where it is left out. */
  retryAfterSeconds?: number | undefined;
  /** Made from the seed where it is left out; so is the token. */
  apiKey?: string | undefined;
  /** A user session's bearer token. */
  token?: string | undefined;
  /** What runs end with, where the outcome allows it: not for `passed` and `stuck`. */
  counts?: Partial<Counts> | undefined;
  /** What `appUrl` begins with. */
  appUrlBase?: string | undefined;
  /** How much there is of everything; what is left out is as usual. */
  data?: Partial<DataSizes> | undefined;
  /** `off` where it is left out. */
  rateLimit?: RateLimit | undefined;
  /** Where webhook deliveries are sent; `off` where it is left out: they are recorded only. */
  deliveries?: DeliveryScope | undefined;
  /** Signs deliveries in place of the webhook's own secret. */
  tenantSecret?: string | undefined;
  /** Faults from the start; more with `mock.faults.add`. */
  faults?: readonly Fault[] | undefined;
  /** Serves a page to look at and to drive the mock by, at `/` and where the `appUrl` of its runs leads; not unless asked for. */
  page?: boolean | undefined;
}

export interface ServerOptions extends MockOptions {
  /** Takes the place of the mock's own sender. */
  deliver?: Deliver | undefined;
}
