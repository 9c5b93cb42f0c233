import type { EventType } from '../data/webhooks.ts';
import type { FaultRow } from './play.ts';

/** The operations of a fault on one delivery, which is already signed. */
export interface DeliveryWire {
  /** Sends the delivery and records the response. */
  send(): Promise<void>;
  /** Sends the delivery with a signature that no secret of the receiver matches, and records the response. */
  sendForged(): Promise<void>;
  /** Records that no response was received, without sending the delivery. */
  lose(): void;
  sleep(ms: number): Promise<void>;
  /**
   * Resolves when the next delivery to the same webhook has been sent, or after this many milliseconds.
   * Returns at once if another delivery to the webhook is already waiting, because this one is its next.
   */
  overtaken(ms: number): Promise<void>;
  /** Keeps the status of the run that the delivery is about at `in_progress` for this many milliseconds. */
  holdStatus(ms: number): void;
}

interface DeliveryRow<P = unknown> extends FaultRow<DeliveryWire, P> {
  /** The only events that it affects. */
  readonly events?: readonly EventType[] | undefined;
}

const row = (gets: string, play: DeliveryRow['play']): DeliveryRow => ({ gets, play });

/** Prepares a delivery for a time on the mock's clock, by default 5 s, then sends it. */
function sent(
  gets: string,
  prepare: (wire: DeliveryWire, ms: number) => unknown,
  events?: readonly EventType[],
): DeliveryRow<{ byMs?: number }> {
  return {
    gets,
    duration: 'byMs',
    events,
    play: async (wire, { byMs = 5000 }) => {
      await prepare(wire, byMs);
      await wire.send();
    },
  };
}

/** The name of a kind of fault of webhook deliveries. */
export type DeliveryFaultKind = 'drop' | 'duplicate' | 'delay' | 'reorder' | 'forge' | 'early';

/** The kinds of faults of webhook deliveries. */
export const deliveryKinds = {
  drop: row('nothing, and the mock records a failure', (wire) => wire.lose()),
  duplicate: row('the same request twice', async (wire) => {
    await wire.send();
    await wire.send();
  }),
  delay: sent('the delivery 5 s late, signed before the delay', (wire, ms) => wire.sleep(ms)),
  reorder: sent('the delivery after the next one, or after 5 s', (wire, ms) => wire.overtaken(ms)),
  forge: row('the delivery with a wrong signature', (wire) => wire.sendForged()),
  early: sent('the end of a run 5 s before its status shows it', (wire, ms) => wire.holdStatus(ms), [
    'run.completed',
    'run.cancelled',
  ]),
} satisfies Record<DeliveryFaultKind, unknown>;

export function isDeliveryKind(kind: string): kind is DeliveryFaultKind {
  return Object.hasOwn(deliveryKinds, kind);
}
