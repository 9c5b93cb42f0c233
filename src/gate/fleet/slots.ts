import { ceilings } from '../../client/rate-limit.ts';
import type { Clock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type { Emit } from '../events.ts';

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

interface SlotTools {
  clock: Clock;
  signal: AbortSignal;
  emit?: Emit | undefined;
}

/**
 * Waits for the gate's slot to create its run, or until the signal is aborted.
 * @throws UsageError if that could take longer than `timeoutMs`: every wait ends at a limit that the user sets
 */
export async function waitForCreateSlot(fleet: Fleet, timeoutMs: number, tools: SlotTools): Promise<void> {
  const { clock, signal, emit } = tools;
  const slots = fleetCreates(fleet, clock.now() - clock.monotonic());
  if (slots === undefined) return;
  if (slots.everyMs > timeoutMs) {
    const [slotText, timeoutText] = [formatDuration(slots.everyMs), formatDuration(timeoutMs)];
    throw new UsageError(
      `a fleet of ${fleet.size} is too large for the timeout of ${timeoutText}: a gate may wait ${slotText} for its turn`,
      { hint: 'set a longer timeout, or a smaller fleet size if fewer gates share the service' },
    );
  }
  const waitMs = slotFrom(clock.monotonic(), slots) - clock.monotonic();
  emit?.({ type: 'turn', waitMs });
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
