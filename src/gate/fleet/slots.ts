import { ceilings } from '../../client/rate-limit.ts';
import type { Clock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type { Emit } from '../events.ts';

/** The place of a gate among those that share the service's limits. */
export interface Fleet {
  size: number;
  /** From 0. */
  index: number;
}

/** The times `atMs + n · everyMs`. */
export interface Slots {
  everyMs: number;
  atMs: number;
}

/** A fleet uses four fifths of a limit. The rest is for clock differences and for other clients. */
const slack = 1.25;

/**
 * Returns the slots of a gate, evenly spread over a limit with those of its fleet: period `1.25 · N`, phase `i / N`. They go
 * by the wall clock, so gates keep apart whenever they start.
 * @param offset the wall clock minus the clock of the result, in milliseconds
 */
export function fleetSlots({ size, index }: Fleet, perMinute: number, offset: number): Slots {
  const apart = (slack * 60_000) / perMinute;
  const everyMs = apart * size;
  return { everyMs, atMs: (apart * index - offset) % everyMs };
}

/** Returns the slots of a gate's creates, or undefined if the fleet is small enough to create all its runs at once. */
export function fleetCreates(fleet: Fleet, offset: number): Slots | undefined {
  return fleet.size * slack <= ceilings.creates ? undefined : fleetSlots(fleet, ceilings.creates, offset);
}

/** Returns the first slot that is not before `earliest`. */
export function slotFrom(earliest: number, { everyMs, atMs }: Slots): number {
  // Rounding may put a slot at `earliest` slightly before it.
  return atMs + Math.ceil((earliest - atMs) / everyMs - 1e-9) * everyMs;
}

interface SlotTools {
  clock: Clock;
  budget?: { slotAt?: number } | undefined;
  signal: AbortSignal;
  emit?: Emit | undefined;
}

/**
 * Waits for the gate's slot to create its run, or until the signal is aborted. Returns false at once if the slot comes after
 * the deadline.
 * @throws UsageError if that could take longer than `timeoutMs`, since the user's timeout limits every wait
 */
export async function waitForCreateSlot(
  fleet: Fleet,
  timeoutMs: number,
  deadline: number,
  tools: SlotTools,
): Promise<boolean> {
  const { clock, budget = {}, signal, emit } = tools;
  const slots = fleetCreates(fleet, clock.now() - clock.monotonic());
  if (slots === undefined) return true;
  if (slots.everyMs > timeoutMs) {
    const [slotText, timeoutText] = [formatDuration(slots.everyMs), formatDuration(timeoutMs)];
    throw new UsageError(
      `a fleet of ${fleet.size} is too large for the timeout of ${timeoutText}: a gate may wait ${slotText} for its turn`,
      { hint: 'set a longer timeout, or a smaller fleet size if fewer gates share the service' },
    );
  }
  const now = clock.monotonic();
  // Each slot is for one create, also if this process has several gates.
  const at = slotFrom(Math.max(now, (budget.slotAt ?? -slots.everyMs) + slots.everyMs / 2), slots);
  if (at > deadline) return false;
  const waitMs = at - now;
  budget.slotAt = at;
  emit?.({ type: 'turn', waitMs });
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return true;
}
