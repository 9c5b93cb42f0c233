import { ceilings, nextReadAt } from '../client/rate-limit.ts';
import { type Slots, slotFrom } from './fleet/slots.ts';

/** The requests that the gates of one process have sent, which share the limits of the service. Times on the monotonic clock. */
export interface Budget {
  /** The times of the reads, in order. */
  readonly reads: number[];
  /** The times of the creates, in order. */
  readonly creates: number[];
  /** The last slot of the fleet that a create has taken. */
  slotAt?: number;
}

export const newBudget = (): Budget => ({ reads: [], creates: [] });

/** The limits on the reads of a wait. */
export interface ReadLimits {
  /** The times of earlier reads, in order. */
  past: readonly number[];
  /** The slots in a fleet. */
  slots: Slots | undefined;
  /** Whether the reads share the limit of a minute. A single run is read at the intervals of the service. */
  limited: boolean;
}

/** Returns the time at which a read may be sent that is needed at a certain time. */
export function readAt(due: number, { past, slots, limited }: ReadLimits): number {
  if (slots === undefined) return limited ? nextReadAt(past, due) : due;
  // Each slot of a fleet is for one read.
  const last = past.at(-1);
  return slotFrom(last === undefined ? due : Math.max(due, last + slots.everyMs / 2), slots);
}

/** Returns the time at which a read whose time has come may be sent: now, unless another one has taken its place. */
export function readNowAt(now: number, limits: ReadLimits): number {
  const { past, slots, limited } = limits;
  if (slots === undefined) return limited ? nextReadAt(past, now) : now;
  const last = past.at(-1);
  // A timer is late, never early, so the slot may have begun a moment ago.
  return last === undefined || last + slots.everyMs / 2 <= now ? now : readAt(now, limits);
}

/** Returns the time at which a create may be sent. */
export const createAt = (now: number, { creates }: Budget) => nextReadAt(creates, now, ceilings.creates);
