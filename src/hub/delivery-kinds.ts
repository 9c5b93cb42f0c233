import type { ObservedRead } from '../gate/fleet/protocol.ts';

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
/** Runs after which a kind is known. */
const enoughRuns = 20;
/** Older runs are forgotten: the service may change the meaning of an event. */
const mostRuns = 100;
/** The share of deliveries of an idle kind that wake gates anyway, so that the hub notices when that changes. */
const sample = 1 / 10;

/** Learns which kinds of deliveries come with the end of a run. */
export interface DeliveryKinds {
  /** Counts a read after a delivery. */
  observe(read: ObservedRead): void;
  /** Returns whether a delivery of the kind should wake a gate. */
  wakes(kind: string | null): boolean;
}

/** @param random returns a number from 0 up to 1 */
export function createDeliveryKinds(random: () => number): DeliveryKinds {
  /** The runs of each kind, and whether a read after such a delivery has shown their end. */
  const kinds = new Map<string, Map<string, boolean>>();
  return {
    observe({ kind, runId, ended }) {
      if (!kinds.has(kind) && kinds.size >= mostKinds) return;
      const runs = kinds.get(kind) ?? new Map<string, boolean>();
      kinds.set(kind, runs);
      runs.set(runId, ended || runs.get(runId) === true);
      const [oldest] = runs.keys();
      if (runs.size > mostRuns && oldest !== undefined) runs.delete(oldest);
    },
    wakes(kind) {
      const runs = kind === null ? undefined : kinds.get(kind);
      if (runs === undefined || runs.size < enoughRuns || [...runs.values()].includes(true)) return true;
      return random() < sample;
    },
  };
}
