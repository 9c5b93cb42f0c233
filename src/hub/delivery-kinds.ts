/** The members of a payload that may have the name of the event, in this order. */
const nameMembers = ['event', 'eventType', 'event_type', 'type', 'topic'];
const plausibleName = /^[\w.:/-]{1,64}$/;

/** Returns the name of a delivery's event, or null if it has none in a usual place. @param json the body, JSON */
export function kindOf(json: string): string | null {
  const body = JSON.parse(json) as Record<string, unknown> | null;
  const names = nameMembers.map((member) => body?.[member]);
  return names.find((name): name is string => typeof name === 'string' && plausibleName.test(name)) ?? null;
}

/** Kinds that are remembered at most. */
const mostKinds = 100;
/** Reads after which a kind is known. */
const enoughReads = 5;
/** Older reads count less: the service may change the meaning of an event. */
const mostReads = 100;
/** A kind that ends fewer runs than this share is idle. */
const leastEnds = 1 / 10;
/** One of so many deliveries of an idle kind wakes gates anyway, so that the hub notices when that changes. */
const sampleOf = 10;

/** Learns which kinds of deliveries come with the end of a run. */
export interface DeliveryKinds {
  /** Counts a read after a delivery of the kind. */
  observe(kind: string, ended: boolean): void;
  /** Returns whether a delivery of the kind should wake a gate. */
  wakes(kind: string | null): boolean;
}

export function createDeliveryKinds(): DeliveryKinds {
  const kinds = new Map<string, { reads: number; ends: number; passed: number }>();
  return {
    observe(kind, ended) {
      const known = kinds.get(kind) ?? { reads: 0, ends: 0, passed: 0 };
      if (!kinds.has(kind) && kinds.size >= mostKinds) return;
      kinds.set(kind, known);
      known.reads += 1;
      if (ended) known.ends += 1;
      if (known.reads <= mostReads) return;
      known.reads /= 2;
      known.ends /= 2;
    },
    wakes(kind) {
      const known = kind === null ? undefined : kinds.get(kind);
      if (known === undefined || known.reads < enoughReads || known.ends >= leastEnds * known.reads)
        return true;
      known.passed += 1;
      return known.passed % sampleOf === 0;
    },
  };
}
