import { ceilings } from '../../client/rate-limit.ts';

/** A gate among others that share the service's limits. */
export interface Fleet {
  size: number;
  /** From 0. */
  index: number;
}

/** The moments `atMs + n · everyMs`. */
export interface Slots {
  everyMs: number;
  atMs: number;
}

/** The room that a fleet leaves free: four fifths of a limit are used, the rest is for clocks that differ, and others. */
const slack = 1.25;

/**
 * The moments of a gate among those of its fleet, evenly spread over a limit: `period 1.25 · N`, phase `i / N`. They
 * are counted by the wall clock, so that gates which start at any time keep apart.
 * @param offset what the wall clock is ahead of the clock that the moments are wanted on, in milliseconds
 */
export function fleetSlots({ size, index }: Fleet, perMinute: number, offset: number): Slots {
  const apart = (slack * 60_000) / perMinute;
  const everyMs = apart * size;
  return { everyMs, atMs: (apart * index - offset) % everyMs };
}

/** The moments of a gate's creates; undefined for a fleet so small that its creates may come all at once. */
export function fleetCreates(fleet: Fleet, offset: number): Slots | undefined {
  return fleet.size * slack <= ceilings.creates ? undefined : fleetSlots(fleet, ceilings.creates, offset);
}

/** The first of the moments that is not before `earliest`. */
export function slotFrom(earliest: number, { everyMs, atMs }: Slots): number {
  // Rounding may put the moment that we stand on a hair before us.
  return atMs + Math.ceil((earliest - atMs) / everyMs - 1e-9) * everyMs;
}
