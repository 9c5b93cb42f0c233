import type { EventType } from '../data/webhooks.ts';

/** The kinds of faults that affect webhook deliveries, with their parameters. */
export interface DeliveryFaultKinds {
  drop: Record<never, never>;
  duplicate: Record<never, never>;
  /** How much later the delivery arrives, on the mock's clock; default 5000. */
  delay: { byMs?: number };
  /** How long the delivery waits for the next one, on the mock's clock; default 5000. */
  reorder: { byMs?: number };
  forge: Record<never, never>;
  /** How long the status of the run still says `in_progress`, on the mock's clock; default 5000. */
  early: { byMs?: number };
}

export type DeliveryFaultKind = keyof DeliveryFaultKinds;

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

const defaultMs = 5000;

export const deliveryKinds: {
  readonly [K in DeliveryFaultKind]: (wire: DeliveryWire, fault: DeliveryFaultKinds[K]) => unknown;
} = {
  drop: (wire) => wire.lose(),
  duplicate: async (wire) => {
    await wire.send();
    await wire.send();
  },
  delay: async (wire, { byMs = defaultMs }) => {
    await wire.sleep(byMs);
    await wire.send();
  },
  reorder: async (wire, { byMs = defaultMs }) => {
    await wire.overtaken(byMs);
    await wire.send();
  },
  forge: (wire) => wire.sendForged(),
  early: (wire, { byMs = defaultMs }) => {
    wire.holdStatus(byMs);
    return wire.send();
  },
};

/** The events that a kind affects, for kinds that do not affect all. */
export const affectedEvents: Readonly<Partial<Record<string, readonly EventType[]>>> = {
  early: ['run.completed', 'run.cancelled'],
};

export function isDeliveryKind(kind: string): kind is DeliveryFaultKind {
  return Object.hasOwn(deliveryKinds, kind);
}
