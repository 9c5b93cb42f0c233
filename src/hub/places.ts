import { type Place, windowMs } from '../gate/fleet/protocol.ts';
import type { BudgetView } from './budget.ts';

/** How many requests a stream may send without the hub: reads of its runs, and creates. */
export interface Demand {
  reads: number;
  creates: number;
}

export type StreamPlaces = Readonly<Record<keyof Demand, Place>>;

/**
 * Returns when the `index`-th request may be sent if no hub grants any, in milliseconds from now: evenly spaced, and not before
 * the minute has room for it after what was granted.
 */
function slotIn(index: number, limit: number, granted: readonly number[], now: number): number {
  const within = index % limit;
  const before = granted[granted.length - limit + within];
  const free = before === undefined ? 0 : before + windowMs - now;
  return Math.floor(index / limit) * windowMs + Math.max((within * windowMs) / limit, free);
}

export function sumOf(demands: Iterable<Demand>): Demand {
  const sum = { reads: 0, creates: 0 };
  for (const { reads, creates } of demands) {
    sum.reads += reads;
    sum.creates += creates;
  }
  return sum;
}

/** Returns the limits of reads and creates, which together stay within that of all requests. */
function limitsOf({ reads, creates, requests }: BudgetView['configured']): Demand {
  const share = Math.min(1, requests / (reads + creates));
  return { reads: Math.max(1, Math.floor(reads * share)), creates: Math.max(1, Math.floor(creates * share)) };
}

/**
 * Returns the places of the streams of one hub, in their order: when each may send its requests if the hub goes. The hubs
 * take turns, since all of them may go at once.
 * @param now on the clock of the view
 */
export function placesOf(streams: readonly Demand[], view: BudgetView, now: number): StreamPlaces[] {
  const { configured, hubs, place, granted } = view;
  const limits = limitsOf(configured);
  const times = {
    reads: [...granted.read, ...granted.safety].sort((a, b) => a - b),
    creates: granted.create,
  };
  // A gate that still has to create its run will read it.
  const demands = streams.map(({ reads, creates }) => ({ reads: reads + creates, creates }));
  const totals = sumOf(demands);
  const taken = { reads: 0, creates: 0 };
  const next = (kind: keyof Demand, count: number): Place => {
    const index = taken[kind] * hubs + place;
    taken[kind] += count;
    const periodMs = (Math.max(1, totals[kind]) * hubs * windowMs) / limits[kind];
    return {
      afterMs: Math.round(slotIn(index, limits[kind], times[kind], now)),
      everyMs: Math.round(periodMs / Math.max(1, count)),
    };
  };
  return demands.map(({ reads, creates }) => ({
    reads: next('reads', reads),
    creates: next('creates', creates),
  }));
}
