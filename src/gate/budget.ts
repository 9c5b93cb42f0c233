import { ceilings, nextReadAt } from '../client/rate-limit.ts';

/** The times of the requests that the gates of one process have sent, in order, on the monotonic clock. They share the limits. */
export interface Budget {
  readonly reads: number[];
  readonly creates: number[];
}

export const newBudget = (): Budget => ({ reads: [], creates: [] });

export interface ReadLimits {
  /** The times of earlier reads, in order. */
  past: readonly number[];
  /** Whether the reads share the limit of a minute. A single run is read at the intervals of the service. */
  limited: boolean;
}

export const readAt = (due: number, { past, limited }: ReadLimits) => (limited ? nextReadAt(past, due) : due);

export const createAt = (now: number, { creates }: Budget) => nextReadAt(creates, now, ceilings.creates);
